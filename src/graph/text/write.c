/* write.c - see read.h. The name of a relation is spelled once, that of a head once a row. */
#include "graph/text/read.h"

#include <string.h>

#include "graph/text/rdf.h"

enum {
    PIECE = 1 << 18,         /* bytes that are gathered before the sink gets them */
    NAMES_AT_ONCE = 1 << 14, /* between two calls of progress */
};

/* Where in a statement a name stands: literals are objects, and predicates are IRIs. */
typedef enum name_place { PLACE_HEAD, PLACE_RELATION, PLACE_TAIL } name_place;

/* False: the name cannot stand in a line of tab-separated fields. */
static bool write_name_tsv(acq_text *out, const char *name)
{
    if (name[strcspn(name, "\t\n\r")] != '\0')
        return false;
    acq_text_add(out, name);
    return true;
}

static void write_name_csv(acq_text *out, const char *name)
{
    if (name[strcspn(name, ",\"\n\r")] == '\0') {
        acq_text_add(out, name);
        return;
    }
    acq_text_add_char(out, '"');
    for (size_t n; name[n = strcspn(name, "\"")] != '\0'; name += n + 1) {
        acq_text_add_bytes(out, name, n);
        acq_text_add(out, "\"\"");
    }
    acq_text_add(out, name);
    acq_text_add_char(out, '"');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* IRIREF of N-Triples, absolute. */
static bool is_iri(const char *name, size_t length)
{
    if (!acq_iri_is_absolute(name, length))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!acq_iri_allows((unsigned char)name[i]))
            return false;
    }
    return true;
}

/* _:label, of which ours is the part that no reader disputes. */
static bool is_blank(const char *name)
{
    if (strncmp(name, "_:", 2) != 0)
        return false;
    const char *label = name + 2;
    size_t n = 0;
    while (is_letter(label[n]) || is_digit(label[n]) || label[n] == '_' ||
           (n > 0 && (label[n] == '-' || label[n] == '.')) || (unsigned char)label[n] >= 0x80)
        n++;
    return n > 0 && label[n] == '\0' && label[n - 1] != '.';
}

/* What may follow the closing quote: nothing, @language or ^^<datatype>. */
static bool is_literal_end(const char *end)
{
    if (end[0] == '@') {
        size_t n = 1;
        while (is_letter(end[n]) || (n > 1 && (is_digit(end[n]) || end[n] == '-')))
            n++;
        return n > 1 && end[n] == '\0';
    }
    if (strncmp(end, "^^<", 3) == 0) {
        size_t n = strlen(end);
        return end[n - 1] == '>' && is_iri(end + 3, n - 4);
    }
    return end[0] == '\0';
}

/* "..." in the escapes of N-Triples. */
static bool is_literal(const char *name)
{
    if (name[0] != '"')
        return false;
    size_t i = 1;
    while (name[i] != '\0' && name[i] != '"' && name[i] != '\n' && name[i] != '\r')
        i += name[i] == '\\' && name[i + 1] != '\0' ? 2 : 1;
    return name[i] == '"' && is_literal_end(name + i + 1);
}

static void add_encoded(acq_text *out, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    acq_text_add(out, "<urn:anycq:");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (is_letter(*name) || is_digit(*name) || strchr("-._~", *name) != NULL) {
            acq_text_add_char(out, *name);
        } else {
            char code[3] = {'%', hex[c >> 4], hex[c & 15]};
            acq_text_add_bytes(out, code, sizeof code);
        }
    }
    acq_text_add_char(out, '>');
}

/* is_rdf: names that look like blank nodes and literals are such. A name in our own scheme is
 * encoded once more, so that reading it back gives the same. */
static void write_name_nt(acq_text *out, const char *name, name_place place, bool is_rdf)
{
    size_t length = strlen(name);
    if ((is_rdf && place != PLACE_RELATION && is_blank(name)) ||
        (is_rdf && place == PLACE_TAIL && is_literal(name))) {
        acq_text_add_bytes(out, name, length);
    } else if (!acq_iri_is_plain_name(name, length) && is_iri(name, length)) {
        acq_text_add_char(out, '<');
        acq_text_add_bytes(out, name, length);
        acq_text_add_char(out, '>');
    } else {
        add_encoded(out, name);
    }
}

typedef struct writer {
    const acq_graph *graph;
    const acq_write_params *params;
    const acq_text_sink *sink;
    acq_write_report report;
    acq_error *error;
    acq_text out;
    acq_text relation; /* with what separates it from its neighbours */
    acq_text head;
} writer;

static acq_status tell(const writer *w, const char *phase, uint64_t done, uint64_t total)
{
    acq_progress now = {.phase = phase, .done = done, .total = total, .facts = w->report.facts};
    if (w->params->progress == NULL || w->params->progress(w->params->context, &now))
        return ACQ_OK;
    return acq_fail(w->error, ACQ_ERR_INTERRUPTED, "interrupted");
}

/* Hands over what has gathered, unless some of it could not be read. */
static acq_status flush(writer *w)
{
    acq_status status = acq_text_finish(&w->out, w->error);
    if (status == ACQ_OK)
        status = acq_text_finish(&w->relation, w->error);
    if (status == ACQ_OK)
        status = acq_text_finish(&w->head, w->error);
    if (status == ACQ_OK)
        status = acq_graph_get_failure(w->graph, w->error);
    if (status == ACQ_OK && w->out.length > 0)
        status = w->sink->put(w->sink->self, w->out.bytes, w->out.length, w->error);
    acq_text_clear(&w->out);
    if (status == ACQ_OK)
        status = tell(w, "writing", w->report.facts, acq_graph_get_n_facts(w->graph));
    return status;
}

static acq_status relieve(writer *w)
{
    return w->out.length < PIECE && !w->out.failed ? ACQ_OK : flush(w);
}

static acq_status fail_name(writer *w, const char *name)
{
    acq_status failed = acq_graph_get_failure(w->graph, w->error);
    if (failed != ACQ_OK)
        return failed;
    return acq_fail(w->error, ACQ_ERR_INPUT,
                    "the name \"%.100s\" holds a tab or a line end, which a tab-separated file "
                    "cannot; write nt or csv instead",
                    name);
}

static acq_status add_name(writer *w, acq_text *out, const char *name, name_place place)
{
    switch (w->params->format) {
    case ACQ_FORMAT_TSV:
        return write_name_tsv(out, name) ? ACQ_OK : fail_name(w, name);
    case ACQ_FORMAT_CSV:
        write_name_csv(out, name);
        return ACQ_OK;
    case ACQ_FORMAT_NT:
        break;
    }
    write_name_nt(out, name, place, acq_graph_is_rdf(w->graph));
    return ACQ_OK;
}

static const char *separator(const writer *w)
{
    static const char *const separators[] = {
        [ACQ_FORMAT_TSV] = "\t", [ACQ_FORMAT_CSV] = ",", [ACQ_FORMAT_NT] = " "};
    return separators[w->params->format];
}

/* The facts of one head: its name and the relation's are ready. */
static acq_status write_row(writer *w, acq_row row)
{
    acq_status status = ACQ_OK;
    const char *end = w->params->format == ACQ_FORMAT_NT ? " .\n" : "\n";
    for (size_t i = 0; status == ACQ_OK && i < row.n; i++) {
        acq_text_add_bytes(&w->out, w->head.bytes, w->head.length);
        acq_text_add_bytes(&w->out, w->relation.bytes, w->relation.length);
        const char *tail = acq_graph_get_entity_key(w->graph, row.tails[i]);
        status = add_name(w, &w->out, tail, PLACE_TAIL);
        acq_text_add(&w->out, end);
        w->report.facts++;
        if (status == ACQ_OK)
            status = relieve(w);
    }
    return status;
}

static acq_status write_links(writer *w, const acq_links *links)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
        acq_text_clear(&w->head);
        const char *head = acq_graph_get_entity_key(w->graph, links->heads[i]);
        status = add_name(w, &w->head, head, PLACE_HEAD);
        if (status == ACQ_OK && w->head.failed)
            status = acq_fail_memory(w->error);
        if (status == ACQ_OK)
            status = write_row(w, acq_links_get_row_at(links, i));
    }
    return status;
}

static acq_status write_relation(writer *w, acq_rel relation)
{
    const acq_links *links = NULL;
    acq_text_clear(&w->relation);
    acq_text_add(&w->relation, separator(w));
    const char *key = acq_graph_get_relation_key(w->graph, relation);
    acq_status status = add_name(w, &w->relation, key, PLACE_RELATION);
    acq_text_add(&w->relation, separator(w));
    if (status == ACQ_OK && w->relation.failed)
        status = acq_fail_memory(w->error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(w->graph, relation, &links, w->error);
    return status == ACQ_OK ? write_links(w, links) : status;
}

/* A label that several keys share is shown as `label <key>`; the key is taken off again. */
static size_t bare_length(const char *label, const char *key)
{
    size_t n = strlen(label), k = strlen(key);
    bool is_told_apart = n > k + 3 && label[n - 1] == '>' && label[n - k - 2] == '<' &&
                         label[n - k - 3] == ' ' && memcmp(label + n - k - 1, key, k) == 0;
    return is_told_apart ? n - k - 3 : n;
}

static acq_status write_label(writer *w, const char *key, const char *label, name_place place)
{
    if (strcmp(key, label) == 0)
        return ACQ_OK;
    write_name_nt(&w->out, key, place, true);
    acq_text_add(&w->out, " <" ACQ_RDFS_LABEL "> ");
    acq_rdf_write_literal(&w->out, label, bare_length(label, key));
    acq_text_add(&w->out, " .\n");
    w->report.labels++;
    return relieve(w);
}

/* Labels that are facts as well (literals were kept) have been written already. */
static acq_status open_label_facts(writer *w, const acq_links **out)
{
    *out = NULL;
    acq_rel relation = acq_graph_find_relation(w->graph, ACQ_RDFS_LABEL, strlen(ACQ_RDFS_LABEL));
    if (relation == ACQ_NO_ID)
        return ACQ_OK;
    return acq_graph_open_links(w->graph, relation, out, w->error);
}

static bool has_label_fact(const acq_links *facts, acq_ent entity)
{
    return facts != NULL && entity != ACQ_NO_ID && acq_links_get_row(facts, entity).n > 0;
}

static acq_status write_relation_labels(writer *w, const acq_links *facts)
{
    const acq_graph *graph = w->graph;
    acq_status status = ACQ_OK;
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(graph); r += 2) {
        const char *key = acq_graph_get_relation_key(graph, r);
        if (!has_label_fact(facts, acq_graph_find_entity(graph, key, strlen(key))))
            status = write_label(w, key, acq_graph_get_relation_name(graph, r), PLACE_RELATION);
    }
    return status;
}

static acq_status write_labels(writer *w)
{
    const acq_graph *graph = w->graph;
    const acq_links *facts;
    acq_status status = open_label_facts(w, &facts);
    if (status == ACQ_OK)
        status = write_relation_labels(w, facts);
    for (acq_ent e = 0; status == ACQ_OK && e < acq_graph_get_n_entities(graph); e++) {
        if (!has_label_fact(facts, e))
            status = write_label(w, acq_graph_get_entity_key(graph, e),
                                 acq_graph_get_entity_name(graph, e), PLACE_HEAD);
    }
    return status;
}

/* A store reads names by the order of their ids faster than by that of the facts, and keeps them.
 */
static acq_status read_names(writer *w)
{
    uint32_t n = acq_graph_get_n_entities(w->graph);
    acq_status status = ACQ_OK;
    for (acq_ent e = 0; status == ACQ_OK && e < n; e++) {
        (void)acq_graph_get_entity_key(w->graph, e);
        if (e % NAMES_AT_ONCE != NAMES_AT_ONCE - 1)
            continue;
        status = acq_graph_get_failure(w->graph, w->error);
        if (status == ACQ_OK)
            status = tell(w, "names", e, n);
    }
    return status;
}

static acq_status write_all(writer *w)
{
    acq_status status = read_names(w);
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(w->graph); r += 2)
        status = write_relation(w, r);
    bool has_labels = w->params->format == ACQ_FORMAT_NT && acq_graph_is_rdf(w->graph);
    if (status == ACQ_OK && has_labels)
        status = write_labels(w);
    return status == ACQ_OK ? flush(w) : status;
}

acq_status acq_text_write(const acq_graph *graph, const acq_write_params *params,
                           const acq_text_sink *sink, acq_write_report *report, acq_error *error)
{
    writer w = {.graph = graph, .params = params, .sink = sink, .error = error};
    acq_text_init(&w.out);
    acq_text_init(&w.relation);
    acq_text_init(&w.head);
    acq_status status = write_all(&w);
    acq_text_deinit(&w.out);
    acq_text_deinit(&w.relation);
    acq_text_deinit(&w.head);
    if (status == ACQ_OK && report != NULL)
        *report = w.report;
    return status;
}
