/* group.c - groups of SPARQL: triples, nested groups, UNION, MINUS, FILTER, VALUES. */
#include <string.h>

#include "query/sparql/parser.h"

static acq_status new_element(acq_sparql_parser *p, acq_element_kind kind, acq_sparql_element **out)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = acq_sparql_count_element(p, place);
    if (status != ACQ_OK)
        return status;
    *out = ACQ_SPARQL_NEW(p, acq_sparql_element);
    if (*out == NULL)
        return acq_fail_memory(p->error);
    **out = (acq_sparql_element){.kind = kind, .place = place};
    return ACQ_OK;
}

/* ---- VALUES ---- */

static acq_status read_column(acq_sparql_parser *p, acq_sparql_term *first, acq_sparql_term **out)
{
    acq_input_place place = p->lexer.token.place;
    if (p->lexer.token.kind != ACQ_SPARQL_VARIABLE)
        return acq_sparql_fail_expected(p, "a variable of VALUES");
    acq_sparql_term *column = ACQ_SPARQL_NEW(p, acq_sparql_term);
    if (column == NULL)
        return acq_fail_memory(p->error);
    acq_status status = acq_sparql_read_variable(p, column);
    for (; status == ACQ_OK && first != NULL; first = first->next) {
        if (first->variable == column->variable)
            return ACQ_SPARQL_FAIL(p, place, "VALUES lists this variable twice; remove one");
    }
    *out = column;
    return status;
}

/* columns = variable | "(" {variable} ")" */
static acq_status read_columns(acq_sparql_parser *p, acq_sparql_term **first, bool *is_tuple)
{
    enum { MOST_COLUMNS = 1000 };
    acq_sparql_term **end = first;
    *is_tuple = acq_sparql_is_mark(p, "(");
    if (!*is_tuple)
        return read_column(p, NULL, end);
    acq_sparql_next(p);
    for (size_t n = 0; !acq_sparql_is_mark(p, ")"); n++) {
        acq_input_place place = p->lexer.token.place;
        if (n == MOST_COLUMNS)
            return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                               "VALUES takes at most %d variables", (int)MOST_COLUMNS);
        acq_sparql_term *column = NULL;
        acq_status status = read_column(p, *first, &column);
        if (status != ACQ_OK || column == NULL)
            return status;
        *end = column;
        end = &column->next;
    }
    acq_sparql_next(p);
    return ACQ_OK;
}

/* value = iri | literal | "UNDEF", which its column remembers */
static acq_status read_value(acq_sparql_parser *p, acq_sparql_term *column, acq_sparql_term **out)
{
    acq_sparql_term *value = ACQ_SPARQL_NEW(p, acq_sparql_term);
    if (value == NULL)
        return acq_fail_memory(p->error);
    *out = value;
    if (acq_sparql_is_word(p, "UNDEF")) {
        *value = (acq_sparql_term){.is_undef = true, .place = p->lexer.token.place};
        column->is_undef = true;
        acq_sparql_next(p);
        return ACQ_OK;
    }
    if (acq_sparql_is_name(p))
        return acq_sparql_read_iri(p, value);
    if (acq_sparql_is_literal(p, true))
        return acq_sparql_read_literal(p, value);
    return acq_sparql_fail_expected(p, "a value: <...>, prefix:name, a literal or UNDEF");
}

/* row = value | "(" {value} ")", one value for each column */
static acq_status read_row(acq_sparql_parser *p, const acq_sparql_element *values, bool is_tuple,
                           acq_sparql_row **out)
{
    acq_status status = acq_sparql_count_element(p, p->lexer.token.place);
    acq_sparql_row *row = ACQ_SPARQL_NEW(p, acq_sparql_row);
    if (status == ACQ_OK && row == NULL)
        return acq_fail_memory(p->error);
    if (status == ACQ_OK && is_tuple)
        status = acq_sparql_expect_mark(p, "(", "'(' and a value for each variable");
    if (status != ACQ_OK)
        return status;
    acq_sparql_term **end = &row->values;
    for (acq_sparql_term *v = values->variables; status == ACQ_OK && v != NULL; v = v->next) {
        status = read_value(p, v, end);
        if (status == ACQ_OK)
            end = &(*end)->next;
    }
    if (status == ACQ_OK && is_tuple)
        status = acq_sparql_expect_mark(p, ")", "')' after one value for each variable");
    *out = row;
    return status;
}

/* values = columns "{" {row} "}" */
acq_status acq_sparql_parse_values(acq_sparql_parser *p, acq_sparql_element **out)
{
    bool is_tuple;
    acq_status status = new_element(p, ACQ_ELEMENT_VALUES, out);
    if (status == ACQ_OK)
        status = read_columns(p, &(*out)->variables, &is_tuple);
    if (status == ACQ_OK)
        status = acq_sparql_expect_mark(p, "{", "'{' and the values");
    if (status != ACQ_OK)
        return status;
    acq_sparql_row **end = &(*out)->rows;
    while (status == ACQ_OK && !acq_sparql_is_mark(p, "}")) {
        status = read_row(p, *out, is_tuple, end);
        if (status == ACQ_OK)
            end = &(*end)->next;
    }
    if (status == ACQ_OK)
        acq_sparql_next(p);
    return status;
}

/* ---- elements ---- */

/* union = group {"UNION" group} */
static acq_status parse_union(acq_sparql_parser *p, acq_sparql_element **out)
{
    acq_status status = new_element(p, ACQ_ELEMENT_GROUP, out);
    if (status != ACQ_OK)
        return status;
    acq_sparql_group **end = &(*out)->groups;
    status = acq_sparql_parse_group(p, end);
    while (status == ACQ_OK && acq_sparql_is_word(p, "UNION")) {
        (*out)->kind = ACQ_ELEMENT_UNION;
        end = &(*end)->next;
        acq_sparql_next(p);
        status = acq_sparql_count_element(p, p->lexer.token.place);
        if (status == ACQ_OK)
            status = acq_sparql_parse_group(p, end);
    }
    return status;
}

static acq_status fail_unsupported(acq_sparql_parser *p)
{
    static const char *const OTHERS[][2] = {
        {"OPTIONAL", "use UNION, or two queries"},
        {"BIND", "write the value where the variable stands, or use VALUES"},
        {"SERVICE", "import the other graph's facts"},
        {"SELECT", "write the subquery's pattern in the group"},
        {"LET", "use VALUES"},
        {"UNION", "UNION stands between two groups: { ... } UNION { ... }"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (acq_sparql_is_word(p, OTHERS[i][0]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place, "%s%s is not supported here; %s",
                                   strcmp(OTHERS[i][0], "SELECT") == 0 ? "a subquery with " : "",
                                   OTHERS[i][0], OTHERS[i][1]);
    }
    return acq_sparql_fail_expected(p, "a triple, FILTER, GRAPH, MINUS, VALUES, '{' or '}'");
}

/* graph = "GRAPH" (variable | iri) group */
static acq_status parse_graph(acq_sparql_parser *p, acq_sparql_element **out)
{
    acq_status status = new_element(p, ACQ_ELEMENT_GRAPH, out);
    if (status == ACQ_OK && !p->query->has_graphs) {
        p->query->has_graphs = true;
        p->query->graphs_place = p->lexer.token.place;
    }
    acq_sparql_next(p);
    if (status != ACQ_OK)
        return status;
    if (p->lexer.token.kind == ACQ_SPARQL_VARIABLE)
        status = acq_sparql_read_variable(p, &(*out)->subject);
    else if (acq_sparql_is_name(p))
        status = acq_sparql_read_iri(p, &(*out)->subject);
    else
        status = acq_sparql_fail_expected(p, "a graph: <...>, prefix:name or a variable");
    return status == ACQ_OK ? acq_sparql_parse_group(p, &(*out)->groups) : status;
}

/* element = union | "FILTER" constraint | "MINUS" group | "VALUES" values | graph */
static acq_status parse_element(acq_sparql_parser *p, acq_sparql_element **out)
{
    if (acq_sparql_is_mark(p, "{"))
        return parse_union(p, out);
    if (acq_sparql_is_word(p, "FILTER")) {
        acq_status status = new_element(p, ACQ_ELEMENT_FILTER, out);
        acq_sparql_next(p);
        return status == ACQ_OK ? acq_sparql_parse_constraint(p, &(*out)->expression) : status;
    }
    if (acq_sparql_is_word(p, "MINUS")) {
        acq_status status = new_element(p, ACQ_ELEMENT_MINUS, out);
        acq_sparql_next(p);
        return status == ACQ_OK ? acq_sparql_parse_group(p, &(*out)->groups) : status;
    }
    if (acq_sparql_is_word(p, "VALUES")) {
        acq_sparql_next(p);
        return acq_sparql_parse_values(p, out);
    }
    if (acq_sparql_is_word(p, "GRAPH"))
        return parse_graph(p, out);
    return fail_unsupported(p);
}

/* "." may follow anything but only once, and must stand between two blocks of triples. */
static acq_status end_element(acq_sparql_parser *p, bool is_triples)
{
    if (acq_sparql_is_mark(p, ".")) {
        acq_sparql_next(p);
        return ACQ_OK;
    }
    if (is_triples && acq_sparql_begins_triple(p))
        return acq_sparql_fail_expected(p, "'.', ';', ',' or '}' after the triple");
    return ACQ_OK;
}

static acq_status parse_elements(acq_sparql_parser *p, acq_sparql_group *group)
{
    acq_sparql_element **end = &group->elements;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && !acq_sparql_is_mark(p, "}")) {
        bool is_triples = acq_sparql_begins_triple(p);
        if (p->lexer.token.kind == ACQ_SPARQL_END)
            return ACQ_SPARQL_FAIL(p, group->place, "this '{' is never closed; add '}'");
        if (is_triples) {
            status = acq_sparql_parse_triples(p, &end);
        } else {
            bool is_filter = acq_sparql_is_word(p, "FILTER");
            uint32_t block = p->block;
            status = parse_element(p, end);
            if (status == ACQ_OK)
                end = &(*end)->next;
            p->block = is_filter ? block : ++p->n_blocks; /* a filter ends no block of triples */
        }
        if (status == ACQ_OK)
            status = end_element(p, is_triples);
    }
    return status;
}

/* group = "{" {(triples | element) ["."]} "}" */
acq_status acq_sparql_parse_group(acq_sparql_parser *p, acq_sparql_group **out)
{
    acq_input_place place = p->lexer.token.place;
    bool in_expression = p->lexer.in_expression;
    uint32_t block = p->block, deepest = p->deepest;
    p->lexer.in_expression = false;
    acq_status status = acq_sparql_is_mark(p, "{") ? acq_sparql_enter(p, place)
                                                   : acq_sparql_fail_expected(p, "'{'");
    if (status != ACQ_OK)
        return status;
    acq_sparql_group *group = ACQ_SPARQL_NEW(p, acq_sparql_group);
    if (group == NULL)
        return acq_fail_memory(p->error);
    group->place = place;
    p->block = ++p->n_blocks;
    p->deepest = 0;
    acq_sparql_next(p);
    status = parse_elements(p, group);
    group->depth = p->deepest + 1;
    p->deepest = deepest > group->depth ? deepest : group->depth;
    p->block = block;
    p->lexer.in_expression = in_expression;
    acq_sparql_leave(p);
    if (status == ACQ_OK)
        acq_sparql_next(p);
    *out = group;
    return status;
}
