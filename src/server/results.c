/* results.c - see parts.h. SPARQL 1.1 Query Results JSON Format, XML Format, CSV and TSV. A name
 * of a plain graph is the IRI <urn:anycq:NAME>, percent-encoded, which queries take back. */

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "server/parts.h"

static const struct {
    acq_result_format format;
    bool is_graph;
    const char *type;
} TYPES[] = {
    {ACQ_FORMAT_SPARQL_JSON, false, "application/sparql-results+json"},
    {ACQ_FORMAT_SPARQL_JSON, false, "application/json"},
    {ACQ_FORMAT_SPARQL_XML, false, "application/sparql-results+xml"},
    {ACQ_FORMAT_SPARQL_XML, false, "application/xml"},
    {ACQ_FORMAT_SPARQL_XML, false, "text/xml"},
    {ACQ_FORMAT_SPARQL_CSV, false, "text/csv"},
    {ACQ_FORMAT_SPARQL_TSV, false, "text/tab-separated-values"},
    {ACQ_FORMAT_SPARQL_NT, true, "application/n-triples"},
    {ACQ_FORMAT_SPARQL_TURTLE, true, "text/turtle"},
    {ACQ_FORMAT_SPARQL_NT, true, "text/plain"},
};

const char *acq_results_get_type(acq_result_format format)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (TYPES[i].format == format)
            return TYPES[i].type;
    }
    return "text/plain";
}

/* "type/sub" against "type/sub", "type/ *" or "* / *". */
static bool is_accepted(const char *range, size_t n, const char *type)
{
    const char *slash = strchr(type, '/');
    size_t major = (size_t)(slash - type) + 1;
    if ((n == 3 && memcmp(range, "*/*", 3) == 0) || (n == 1 && range[0] == '*'))
        return true;
    if (n == major + 1 && range[n - 1] == '*')
        return acq_is_same_word(range, type, major);
    return n == strlen(type) && acq_is_same_word(range, type, n);
}

/* The quality of a type in an Accept header; 0: not accepted. */
static double quality_of(const char *accept, const char *type)
{
    double best = 0;
    while (*accept != '\0') {
        accept += strspn(accept, " \t,");
        size_t whole = strcspn(accept, ","), n = strcspn(accept, ",; \t");
        double q = 1;
        for (const char *at = accept + n; at < accept + whole; at++) {
            if (*at == ';' && strncmp(at + 1 + strspn(at + 1, " "), "q=", 2) == 0)
                q = acq_read_double(at + 3 + strspn(at + 1, " "), NULL);
        }
        if (n > 0 && is_accepted(accept, n, type) && q > best)
            best = q;
        accept += whole;
    }
    return best;
}

acq_result_format acq_results_choose(const char *accept, acq_solutions_form form)
{
    acq_result_format best = ACQ_FORMAT_SPARQL_NO;
    double most = 0;
    bool is_graph = form == ACQ_SOLUTIONS_STATEMENTS;
    if (accept == NULL || accept[0] == '\0')
        accept = "*/*";
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        bool is_table_only =
            TYPES[i].format == ACQ_FORMAT_SPARQL_CSV || TYPES[i].format == ACQ_FORMAT_SPARQL_TSV;
        if (TYPES[i].is_graph != is_graph || (form == ACQ_SOLUTIONS_BOOLEAN && is_table_only))
            continue;
        double q = quality_of(accept, TYPES[i].type);
        if (q > most) {
            most = q;
            best = TYPES[i].format;
        }
    }
    return best;
}

/* ---- terms ---- */

static void add_iri(const acq_rdf_value *value, acq_text *out)
{
    if (value->kind != ACQ_RDF_NAME) {
        acq_text_add_bytes(out, value->text, value->length);
        return;
    }
    acq_text_add(out, "urn:anycq:");
    for (size_t i = 0; i < value->length; i++) {
        char c = value->text[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~", c) != NULL);
        if (is_plain)
            acq_text_add_char(out, c);
        else
            acq_text_format(out, "%%%02X", (unsigned char)c);
    }
}

/* A reader of XML would take a bare carriage return for a line feed. U+FFFD stands for what XML
 * cannot hold: control characters, U+FFFE and U+FFFF. */
static void add_xml_text(acq_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_none = length - i >= 3 && (memcmp(text + i, "\xEF\xBF\xBE", 3) == 0 ||
                                           memcmp(text + i, "\xEF\xBF\xBF", 3) == 0);
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\r')
            acq_text_format(out, "&#%d;", c);
        else if (is_none || (c < 0x20 && c != '\t' && c != '\n'))
            acq_text_add(out, "\xEF\xBF\xBD");
        else
            acq_text_add_char(out, (char)c);
        i += is_none ? 2 : 0;
    }
}

/* ---- JSON ---- */

static void add_json_term(const acq_rdf_value *value, acq_text *out)
{
    static const char *const KINDS[] = {[ACQ_RDF_IRI] = "uri",
                                        [ACQ_RDF_NAME] = "uri",
                                        [ACQ_RDF_BLANK] = "bnode",
                                        [ACQ_RDF_LITERAL] = "literal"};
    acq_text iri = {0};
    acq_text_format(out, "{\"type\":\"%s\",\"value\":", KINDS[value->kind]);
    if (value->kind == ACQ_RDF_NAME) {
        add_iri(value, &iri);
        acq_text_add_json(out, iri.bytes, iri.length);
        acq_text_deinit(&iri);
    } else {
        acq_text_add_json(out, value->text, value->length);
    }
    bool is_typed = value->datatype[0] != '\0' &&
                    strcmp(value->datatype, "http://www.w3.org/2001/XMLSchema#string") != 0;
    if (value->language[0] != '\0' || is_typed) {
        acq_text_add(out, is_typed ? ",\"datatype\":" : ",\"xml:lang\":");
        const char *tag = is_typed ? value->datatype : value->language;
        acq_text_add_json(out, tag, strlen(tag));
    }
    acq_text_add_char(out, '}');
}

/* The predicted links that a row rests on, each with its reasons. */
static void add_reasons(const acq_served_graph *g, const acq_solutions *s, size_t row,
                        acq_text *out)
{
    acq_evidence_list *list = NULL;
    json_t *links = json_array();
    if (acq_solutions_explain(s, row, &list, NULL) != ACQ_OK) {
        json_decref(links);
        return;
    }
    for (size_t i = 0; i < acq_evidence_list_get_n(list); i++) {
        const acq_fact *fact = acq_evidence_list_get(list, i);
        if (fact->kind == ACQ_FACT_PREDICTED && fact->is_used)
            json_array_append_new(
                links, json_pack("{s:o,s:b,s:f,s:o}", "text", acq_service_text(fact->text),
                                 "negated", fact->is_negated, "link", fact->link, "reasons",
                                 acq_answer_make_reasons(g, fact->head_id, fact->relation_id,
                                                         fact->tail_id)));
    }
    acq_evidence_list_free(list);
    char *dumped = json_dumps(links, ACQ_SERVICE_STYLE);
    acq_text_format(out, ",\"links\":%s", dumped == NULL ? "[]" : dumped);
    free(dumped);
    json_decref(links);
}

static void add_extension(const acq_served_graph *g, const acq_solutions *s, double seconds,
                          acq_text *out)
{
    const char *spent = acq_solutions_get_spent(s);
    const char *sentences[] = {acq_solutions_get_note(s), acq_solutions_get_warning(s)};
    static const char *const NAMES[] = {"note", "warning"};
    int64_t deadline = acq_clock_get_deadline(seconds);
    acq_text_format(out, ",\"anycq\":{\"complete\":%s", spent[0] == '\0' ? "true" : "false");
    for (size_t i = 0; i < 2; i++) {
        if (sentences[i][0] == '\0')
            continue;
        acq_text_format(out, ",\"%s\":", NAMES[i]);
        acq_text_add_json(out, sentences[i], strlen(sentences[i]));
    }
    acq_text_add(out, ",\"rows\":[");
    for (size_t i = 0; i < acq_solutions_get_n(s); i++) {
        double p = acq_solutions_get_probability(s, i);
        bool is_predicted = acq_solutions_is_predicted(s, i);
        acq_text_format(out, "%s{\"kind\":\"%s\"", i == 0 ? "" : ",",
                        is_predicted ? "predicted" : "observed");
        if (!isnan(p))
            acq_text_format(out, ",\"p\":%.6g", p);
        if (is_predicted && acq_clock_ns() < deadline)
            add_reasons(g, s, i, out);
        acq_text_add_char(out, '}');
    }
    acq_text_add(out, "]}");
}

static void write_json(const acq_served_graph *g, const acq_solutions *s, double seconds,
                       acq_text *out)
{
    size_t n = acq_solutions_get_n_variables(s);
    if (acq_solutions_get_form(s) == ACQ_SOLUTIONS_BOOLEAN) {
        acq_text_format(out, "{\"head\":{},\"boolean\":%s",
                        acq_solutions_get_n(s) > 0 ? "true" : "false");
        add_extension(g, s, seconds, out);
        acq_text_add(out, "}\n");
        return;
    }
    acq_text_add(out, "{\"head\":{\"vars\":[");
    for (size_t i = 0; i < n; i++) {
        acq_text_add(out, i == 0 ? "" : ",");
        acq_text_add_json(out, acq_solutions_get_variable(s, i),
                          strlen(acq_solutions_get_variable(s, i)));
    }
    acq_text_add(out, "]},\"results\":{\"bindings\":[");
    for (size_t row = 0; row < acq_solutions_get_n(s); row++) {
        bool is_first = true;
        acq_text_add(out, row == 0 ? "{" : ",\n{");
        for (size_t i = 0; i < n; i++) {
            acq_rdf_value value = acq_solutions_get_term(s, row, i);
            if (value.kind == ACQ_RDF_UNBOUND)
                continue;
            acq_text_add(out, is_first ? "" : ",");
            acq_text_add_json(out, acq_solutions_get_variable(s, i),
                              strlen(acq_solutions_get_variable(s, i)));
            acq_text_add_char(out, ':');
            add_json_term(&value, out);
            is_first = false;
        }
        acq_text_add_char(out, '}');
    }
    acq_text_add(out, "]}");
    add_extension(g, s, seconds, out);
    acq_text_add(out, "}\n");
}

/* ---- XML ---- */

static void add_xml_term(const acq_rdf_value *value, acq_text *out)
{
    bool is_literal = value->kind == ACQ_RDF_LITERAL;
    const char *name = is_literal ? "literal" : value->kind == ACQ_RDF_BLANK ? "bnode" : "uri";
    acq_text_format(out, "<%s", name);
    if (is_literal && value->language[0] != '\0')
        acq_text_format(out, " xml:lang=\"%s\"", value->language);
    else if (is_literal &&
             strcmp(value->datatype, "http://www.w3.org/2001/XMLSchema#string") != 0) {
        acq_text_add(out, " datatype=\"");
        add_xml_text(out, value->datatype, strlen(value->datatype));
        acq_text_add(out, "\"");
    }
    acq_text_add_char(out, '>');
    acq_text text = {0};
    if (is_literal || value->kind == ACQ_RDF_BLANK)
        acq_text_add_bytes(&text, value->text, value->length);
    else
        add_iri(value, &text);
    add_xml_text(out, text.bytes == NULL ? "" : text.bytes, text.length);
    out->failed |= text.failed;
    acq_text_deinit(&text);
    acq_text_format(out, "</%s>", name);
}

static void write_xml(const acq_solutions *s, acq_text *out)
{
    size_t n = acq_solutions_get_n_variables(s);
    acq_text_add(out, "<?xml version=\"1.0\"?>\n"
                      "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head>");
    for (size_t i = 0; i < n; i++)
        acq_text_format(out, "<variable name=\"%s\"/>", acq_solutions_get_variable(s, i));
    acq_text_add(out, "</head>\n");
    if (acq_solutions_get_form(s) == ACQ_SOLUTIONS_BOOLEAN) {
        acq_text_format(out, "<boolean>%s</boolean>\n</sparql>\n",
                        acq_solutions_get_n(s) > 0 ? "true" : "false");
        return;
    }
    acq_text_add(out, "<results>\n");
    for (size_t row = 0; row < acq_solutions_get_n(s); row++) {
        acq_text_add(out, "<result>");
        for (size_t i = 0; i < n; i++) {
            acq_rdf_value value = acq_solutions_get_term(s, row, i);
            if (value.kind == ACQ_RDF_UNBOUND)
                continue;
            acq_text_format(out, "<binding name=\"%s\">", acq_solutions_get_variable(s, i));
            add_xml_term(&value, out);
            acq_text_add(out, "</binding>");
        }
        acq_text_add(out, "</result>\n");
    }
    acq_text_add(out, "</results>\n</sparql>\n");
}

/* ---- CSV, TSV, N-Triples ---- */

static void add_nt_term(const acq_rdf_value *value, acq_text *out)
{
    if (value->kind == ACQ_RDF_IRI || value->kind == ACQ_RDF_NAME) {
        acq_text_add_char(out, '<');
        add_iri(value, out);
        acq_text_add_char(out, '>');
        return;
    }
    for (const char *at = value->key; *at != '\0'; at++) {
        if (*at == '\t')
            acq_text_add(out, "\\t");
        else
            acq_text_add_char(out, *at);
    }
}

/* RFC 4180: quotes where they are needed. */
static void add_csv_term(const acq_rdf_value *value, acq_text *out)
{
    acq_text text = {0};
    if (value->kind == ACQ_RDF_BLANK)
        acq_text_add(&text, "_:");
    if (value->kind == ACQ_RDF_NAME)
        add_iri(value, &text);
    else
        acq_text_add_bytes(&text, value->text, value->length);
    bool needs = text.length > 0 && strpbrk(text.bytes, "\",\r\n") != NULL;
    acq_text_add(out, needs ? "\"" : "");
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '"')
            acq_text_add_char(out, '"');
        acq_text_add_char(out, text.bytes[i]);
    }
    acq_text_add(out, needs ? "\"" : "");
    out->failed |= text.failed;
    acq_text_deinit(&text);
}

static void write_table(const acq_solutions *s, bool is_csv, acq_text *out)
{
    size_t n = acq_solutions_get_n_variables(s);
    const char *end = is_csv ? "\r\n" : "\n";
    for (size_t i = 0; i < n; i++)
        acq_text_format(out, "%s%s%s",
                        i == 0   ? ""
                        : is_csv ? ","
                                 : "\t",
                        is_csv ? "" : "?", acq_solutions_get_variable(s, i));
    acq_text_add(out, end);
    for (size_t row = 0; row < acq_solutions_get_n(s); row++) {
        for (size_t i = 0; i < n; i++) {
            acq_rdf_value value = acq_solutions_get_term(s, row, i);
            acq_text_add(out, i == 0 ? "" : is_csv ? "," : "\t");
            if (value.kind == ACQ_RDF_UNBOUND)
                continue;
            if (is_csv)
                add_csv_term(&value, out);
            else
                add_nt_term(&value, out);
        }
        acq_text_add(out, end);
    }
}

static void write_statements(const acq_solutions *s, acq_text *out)
{
    for (size_t row = 0; row < acq_solutions_get_n(s); row++) {
        for (size_t i = 0; i < 3; i++) {
            acq_rdf_value value = acq_solutions_get_term(s, row, i);
            add_nt_term(&value, out);
            acq_text_add_char(out, ' ');
        }
        acq_text_add(out, ".\n");
    }
}

void acq_results_write(const acq_served_graph *g, const acq_solutions *solutions,
                       acq_result_format format, double reason_seconds, acq_text *out)
{
    switch (format) {
    case ACQ_FORMAT_SPARQL_JSON:
        write_json(g, solutions, reason_seconds, out);
        break;
    case ACQ_FORMAT_SPARQL_XML:
        write_xml(solutions, out);
        break;
    case ACQ_FORMAT_SPARQL_CSV:
    case ACQ_FORMAT_SPARQL_TSV:
        write_table(solutions, format == ACQ_FORMAT_SPARQL_CSV, out);
        break;
    case ACQ_FORMAT_SPARQL_NT:
    case ACQ_FORMAT_SPARQL_TURTLE:
    case ACQ_FORMAT_SPARQL_NO:
        write_statements(solutions, out);
        break;
    }
}
