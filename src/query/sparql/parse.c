/* parse.c - prologue, query forms and solution modifiers of SPARQL. */
#include <string.h>

#include "base/memory.h"
#include "query/sparql/parser.h"

/* declaration = "PREFIX" prefix ":" iri | "BASE" iri */
static acq_status parse_declaration(acq_sparql_parser *p)
{
    bool is_base = acq_sparql_is_word(p, "BASE");
    acq_sparql_next(p);
    acq_sparql_token prefix = p->lexer.token;
    acq_sparql_term iri;
    if (!is_base) {
        if (prefix.kind != ACQ_SPARQL_PREFIXED || prefix.local_length > 0)
            return acq_sparql_fail_expected(p, "a prefix with its colon, as in PREFIX ex: <...>");
        acq_sparql_next(p);
    }
    if (p->lexer.token.kind != ACQ_SPARQL_IRI)
        return acq_sparql_fail_expected(p, "an IRI: <...>");
    if (!is_base)
        return acq_sparql_define_prefix(p, prefix.text, prefix.length);
    acq_input_place place = p->lexer.token.place;
    acq_status status = acq_sparql_read_iri(p, &iri);
    if (status == ACQ_OK && !acq_iri_is_absolute(iri.key, iri.length))
        return ACQ_SPARQL_FAIL(p, place, "the BASE must be absolute, such as <http://e.org/>");
    if (status != ACQ_OK)
        return status;
    acq_text_clear(&p->base);
    acq_text_add_bytes(&p->base, iri.key, iri.length);
    return acq_text_finish(&p->base, p->error);
}

/* ---- SELECT ---- */

static acq_status fail_expression(acq_sparql_parser *p)
{
    return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                           "expressions and aggregates are not supported in SELECT; select "
                           "variables");
}

static acq_status select_variable(acq_sparql_parser *p, acq_sparql_term **out)
{
    acq_sparql_term *term = ACQ_SPARQL_NEW(p, acq_sparql_term);
    if (term == NULL)
        return acq_fail_memory(p->error);
    *out = term;
    return acq_sparql_read_variable(p, term);
}

/* selection = ["DISTINCT" | "REDUCED"] ("*" | variable {variable}); one that is named twice is
 * selected once. */
static acq_status parse_selection(acq_sparql_parser *p)
{
    acq_sparql_query *query = p->query;
    query->is_distinct = acq_sparql_is_word(p, "DISTINCT");
    if (query->is_distinct || acq_sparql_is_word(p, "REDUCED"))
        acq_sparql_next(p);
    query->is_star = acq_sparql_is_mark(p, "*");
    if (query->is_star) {
        acq_sparql_next(p);
        return ACQ_OK;
    }
    if (acq_sparql_is_mark(p, "("))
        return fail_expression(p);
    if (p->lexer.token.kind != ACQ_SPARQL_VARIABLE)
        return acq_sparql_fail_expected(p, "variables to select, or '*'");
    acq_sparql_term **end = &query->selected;
    while (p->lexer.token.kind == ACQ_SPARQL_VARIABLE) {
        uint32_t known = query->n_variables;
        acq_status status = select_variable(p, end);
        if (status != ACQ_OK)
            return status;
        if ((*end)->variable == known)
            end = &(*end)->next;
        else
            *end = NULL; /* all variables so far are selected ones */
    }
    return acq_sparql_is_mark(p, "(") ? fail_expression(p) : ACQ_OK;
}

/* SELECT *: the variables of patterns, as they occur; those of FILTER and MINUS do not count. */
typedef struct star {
    acq_sparql_parser *parser;
    acq_sparql_term **end;
    bool *is_selected;
} star;

static acq_status take_star(star *s, const acq_sparql_term *term)
{
    acq_sparql_parser *p = s->parser;
    if (!term->is_variable || s->is_selected[term->variable] ||
        p->query->names[term->variable].is_blank)
        return ACQ_OK;
    s->is_selected[term->variable] = true;
    acq_sparql_term *copy = ACQ_SPARQL_NEW(p, acq_sparql_term);
    if (copy == NULL)
        return acq_fail_memory(p->error);
    *copy = *term;
    copy->next = NULL;
    *s->end = copy;
    s->end = &copy->next;
    return ACQ_OK;
}

static acq_status collect_star(star *s, const acq_sparql_group *group)
{
    acq_status status = ACQ_OK;
    const acq_sparql_element *e = group->elements;
    for (; status == ACQ_OK && e != NULL; e = e->next) {
        if (e->kind == ACQ_ELEMENT_TRIPLE) {
            status = take_star(s, &e->subject);
            if (status == ACQ_OK && e->path->kind == ACQ_PATH_VARIABLE)
                status = take_star(s, &e->path->term);
            if (status == ACQ_OK)
                status = take_star(s, &e->object);
        }
        if (e->kind == ACQ_ELEMENT_GRAPH)
            status = take_star(s, &e->subject);
        for (const acq_sparql_term *v = e->variables; status == ACQ_OK && v != NULL; v = v->next)
            status = take_star(s, v);
        const acq_sparql_group *inner = e->kind == ACQ_ELEMENT_MINUS ? NULL : e->groups;
        for (; status == ACQ_OK && inner != NULL; inner = inner->next)
            status = collect_star(s, inner);
    }
    return status;
}

static acq_status select_all(acq_sparql_parser *p)
{
    star s = {.parser = p,
              .end = &p->query->selected,
              .is_selected = acq_zalloc((size_t)p->query->n_variables + 1, sizeof(bool))};
    acq_status status = s.is_selected == NULL ? acq_fail_memory(p->error)
                                              : collect_star(&s, p->query->where);
    acq_free(s.is_selected);
    return status;
}

/* ---- modifiers ---- */

static acq_status read_count(acq_sparql_parser *p, uint64_t *out)
{
    uint64_t count = 0;
    const acq_sparql_token *token = &p->lexer.token;
    if (token->kind != ACQ_SPARQL_NUMBER)
        return acq_sparql_fail_expected(p, "a whole number");
    for (size_t i = 0; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return acq_sparql_fail_expected(p, "a whole number");
        if (__builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, (uint64_t)(token->text[i] - '0'), &count))
            return ACQ_SPARQL_FAIL(p, token->place, "this number is too large; leave it out");
    }
    *out = count;
    acq_sparql_next(p);
    return ACQ_OK;
}

/* "ORDER" "BY" (["ASC" | "DESC"] constraint | variable)+ */
static acq_status parse_order(acq_sparql_parser *p)
{
    acq_sparql_order **end = &p->query->order;
    acq_sparql_next(p);
    if (!acq_sparql_is_word(p, "BY"))
        return acq_sparql_fail_expected(p, "BY after ORDER");
    acq_sparql_next(p);
    for (;;) {
        bool descends = acq_sparql_is_word(p, "DESC"), is_marked;
        is_marked = descends || acq_sparql_is_word(p, "ASC");
        bool is_variable = p->lexer.token.kind == ACQ_SPARQL_VARIABLE;
        if (!is_marked && !is_variable && !acq_sparql_begins_constraint(p))
            break;
        acq_sparql_order *order = ACQ_SPARQL_NEW(p, acq_sparql_order);
        acq_status status = order == NULL ? acq_fail_memory(p->error) : ACQ_OK;
        if (status == ACQ_OK && is_marked)
            acq_sparql_next(p);
        if (status == ACQ_OK && is_marked && !acq_sparql_is_mark(p, "("))
            status = acq_sparql_fail_expected(p, "'(' behind ASC or DESC");
        if (status == ACQ_OK)
            status = is_variable ? acq_sparql_parse_expression(p, &order->expression)
                                 : acq_sparql_parse_constraint(p, &order->expression);
        if (status != ACQ_OK)
            return status;
        order->is_descending = descends;
        *end = order;
        end = &order->next;
    }
    return p->query->order == NULL ? acq_sparql_fail_expected(p, "what to order by") : ACQ_OK;
}

/* limits = {"LIMIT" number | "OFFSET" number}, each once */
static acq_status parse_limits(acq_sparql_parser *p)
{
    acq_sparql_query *query = p->query;
    bool has_offset = false;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK) {
        bool is_limit = acq_sparql_is_word(p, "LIMIT");
        if (!is_limit && !acq_sparql_is_word(p, "OFFSET"))
            break;
        if (is_limit ? query->has_limit : has_offset)
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place, "%s may stand once",
                                   is_limit ? "LIMIT" : "OFFSET");
        acq_sparql_next(p);
        status = read_count(p, is_limit ? &query->limit : &query->offset);
        query->has_limit |= is_limit;
        has_offset |= !is_limit;
    }
    return status;
}

/* VALUES behind a query joins with its whole pattern: { { pattern } VALUES ... } */
static acq_status parse_last_values(acq_sparql_parser *p)
{
    acq_sparql_group *outer = ACQ_SPARQL_NEW(p, acq_sparql_group);
    acq_sparql_element *inner = ACQ_SPARQL_NEW(p, acq_sparql_element);
    if (outer == NULL || inner == NULL)
        return acq_fail_memory(p->error);
    acq_sparql_next(p);
    *inner = (acq_sparql_element){
        .kind = ACQ_ELEMENT_GROUP, .place = p->query->where->place, .groups = p->query->where};
    *outer = (acq_sparql_group){.place = inner->place, .elements = inner,
                                .depth = p->query->where->depth + 1};
    p->query->where = outer;
    return acq_sparql_parse_values(p, &inner->next);
}

/* modifiers = ["ORDER" ...] limits ["VALUES" ...] */
static acq_status parse_modifiers(acq_sparql_parser *p)
{
    static const char *const OTHERS[][2] = {
        {"GROUP", "GROUP BY and aggregates are not supported; group the answers outside"},
        {"HAVING", "HAVING is not supported; use FILTER on variables"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (acq_sparql_is_word(p, OTHERS[i][0]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place, "%s", OTHERS[i][1]);
    }
    acq_status status = acq_sparql_is_word(p, "ORDER") ? parse_order(p) : ACQ_OK;
    if (status == ACQ_OK)
        status = parse_limits(p);
    if (status == ACQ_OK && acq_sparql_is_word(p, "VALUES"))
        status = parse_last_values(p);
    if (status == ACQ_OK && p->lexer.token.kind != ACQ_SPARQL_END)
        return acq_sparql_fail_expected(p, "ORDER BY, LIMIT, OFFSET, VALUES or the end");
    return status;
}

/* ---- forms ---- */

/* template = "{" [triples {"." triples}] "}", without paths */
static acq_status parse_template(acq_sparql_parser *p)
{
    acq_sparql_element **end = &p->query->construct;
    acq_status status = acq_sparql_expect_mark(p, "{", "'{'");
    p->block = ++p->n_blocks;
    while (status == ACQ_OK && !acq_sparql_is_mark(p, "}")) {
        status = acq_sparql_parse_triples(p, &end);
        if (status == ACQ_OK && !acq_sparql_is_mark(p, "}"))
            status = acq_sparql_expect_mark(p, ".", "'.' or '}'");
    }
    for (acq_sparql_element *e = p->query->construct; status == ACQ_OK && e != NULL; e = e->next) {
        if (e->path->kind != ACQ_PATH_LINK && e->path->kind != ACQ_PATH_VARIABLE)
            return ACQ_SPARQL_FAIL(p, e->path->place, "a template cannot hold property paths");
    }
    p->block = ++p->n_blocks;
    if (status == ACQ_OK)
        acq_sparql_next(p);
    return status;
}

/* CONSTRUCT WHERE { triples } is short for both. */
static acq_status use_pattern_as_template(acq_sparql_parser *p)
{
    for (const acq_sparql_element *e = p->query->where->elements; e != NULL; e = e->next) {
        bool is_plain = e->kind == ACQ_ELEMENT_TRIPLE &&
                        (e->path->kind == ACQ_PATH_LINK || e->path->kind == ACQ_PATH_VARIABLE);
        if (!is_plain)
            return ACQ_SPARQL_FAIL(p, e->place,
                                   "CONSTRUCT WHERE takes triples only; write the template apart");
    }
    p->query->construct = p->query->where->elements;
    return ACQ_OK;
}

static acq_status fail_form(acq_sparql_parser *p)
{
    static const char *const UPDATES[] = {"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP",
                                          "COPY",   "MOVE",   "ADD",  "WITH"};
    if (acq_sparql_is_word(p, "DESCRIBE"))
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "DESCRIBE is not supported; use CONSTRUCT, SELECT or ASK");
    for (size_t i = 0; i < sizeof UPDATES / sizeof *UPDATES; i++) {
        if (acq_sparql_is_word(p, UPDATES[i]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                                   "the update %s is not supported; use anycq add and remove",
                                   UPDATES[i]);
    }
    return acq_sparql_fail_expected(p, "SELECT, ASK or CONSTRUCT");
}

/* source = "FROM" ["NAMED"] iri */
static acq_status parse_source(acq_sparql_parser *p, acq_sparql_source **out)
{
    acq_status status = acq_sparql_count_element(p, p->lexer.token.place);
    acq_sparql_source *source = ACQ_SPARQL_NEW(p, acq_sparql_source);
    if (status == ACQ_OK && source == NULL)
        return acq_fail_memory(p->error);
    if (status != ACQ_OK)
        return status;
    if (!p->query->has_graphs)
        p->query->graphs_place = p->lexer.token.place;
    p->query->has_graphs = true;
    acq_sparql_next(p);
    source->is_named = acq_sparql_is_word(p, "NAMED");
    if (source->is_named)
        acq_sparql_next(p);
    *out = source;
    return acq_sparql_is_name(p) ? acq_sparql_read_iri(p, &source->graph)
                                 : acq_sparql_fail_expected(p, "a graph: <...> or prefix:name");
}

/* pattern = {source} ["WHERE"] group */
static acq_status parse_pattern(acq_sparql_parser *p)
{
    acq_sparql_source **end = &p->query->sources;
    while (acq_sparql_is_word(p, "FROM")) {
        acq_status status = parse_source(p, end);
        if (status != ACQ_OK)
            return status;
        end = &(*end)->next;
    }
    if (acq_sparql_is_word(p, "WHERE"))
        acq_sparql_next(p);
    return acq_sparql_parse_group(p, &p->query->where);
}

/* form = "SELECT" selection pattern | "ASK" pattern | "CONSTRUCT" [template] pattern */
static acq_status parse_form(acq_sparql_parser *p)
{
    acq_sparql_query *query = p->query;
    acq_status status = ACQ_OK;
    bool is_short = false;
    query->place = p->lexer.token.place;
    query->form = acq_sparql_is_word(p, "ASK")         ? ACQ_FORM_ASK
                  : acq_sparql_is_word(p, "CONSTRUCT") ? ACQ_FORM_CONSTRUCT
                                                       : ACQ_FORM_SELECT;
    if (query->form == ACQ_FORM_SELECT && !acq_sparql_is_word(p, "SELECT"))
        return fail_form(p);
    acq_sparql_next(p);
    if (query->form == ACQ_FORM_SELECT) {
        status = parse_selection(p);
    } else if (query->form == ACQ_FORM_CONSTRUCT) {
        is_short = !acq_sparql_is_mark(p, "{");
        status = is_short ? ACQ_OK : parse_template(p);
    }
    if (status == ACQ_OK)
        status = parse_pattern(p);
    if (status == ACQ_OK && is_short)
        status = use_pattern_as_template(p);
    if (status == ACQ_OK)
        status = parse_modifiers(p);
    return status == ACQ_OK && query->is_star ? select_all(p) : status;
}

/* query = {declaration} form END */
static acq_status parse_query(acq_sparql_parser *p)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && (acq_sparql_is_word(p, "PREFIX") || acq_sparql_is_word(p, "BASE")))
        status = parse_declaration(p);
    return status == ACQ_OK ? parse_form(p) : status;
}

acq_status acq_sparql_parse(const char *text, size_t length, acq_sparql_query **out,
                            acq_error *error)
{
    acq_sparql_parser p = {.error = error, .query = acq_zalloc(1, sizeof *p.query)};
    if (p.query == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&p.query->arena);
    acq_names_init(&p.variables);
    acq_names_init(&p.prefixes);
    acq_names_init(&p.keys);
    acq_sparql_lexer_init(&p.lexer, text, length);
    acq_status status = parse_query(&p);
    if (status == ACQ_OK)
        *out = p.query;
    else
        acq_sparql_query_free(p.query);
    acq_sparql_lexer_deinit(&p.lexer);
    acq_names_deinit(&p.variables);
    acq_names_deinit(&p.prefixes);
    acq_names_deinit(&p.keys);
    acq_text_deinit(&p.base);
    acq_text_deinit(&p.full);
    acq_free(p.iris);
    acq_free(p.texts);
    acq_free(p.label_blocks);
    return status;
}

void acq_sparql_query_free(acq_sparql_query *query)
{
    if (query == NULL)
        return;
    acq_arena_deinit(&query->arena);
    acq_free(query->names);
    acq_free(query);
}
