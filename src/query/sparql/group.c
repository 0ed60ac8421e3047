/* group.c - groups of the SPARQL subset: triples, nested groups, UNION, MINUS. */
#include "base/memory.h"
#include "query/sparql/parser.h"

static const char RDF_TYPE[] = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/* term = variable | iri | prefixed */
static acq_status parse_term(acq_sparql *p, const char *expected, acq_term *out)
{
    acq_input_place place = p->lexer.token.place;
    uint32_t symbol;
    acq_status status;
    if (acq_sparql_is_mark(p, "["))
        return ACQ_SPARQL_FAIL(p, place, "blank nodes are not supported; use a variable");
    if (acq_sparql_is_mark(p, "("))
        return ACQ_SPARQL_FAIL(p, place, "collections are not supported; use triples");
    if (p->lexer.token.kind == ACQ_SPARQL_NUMBER || acq_sparql_is_word(p, "true") ||
        acq_sparql_is_word(p, "false"))
        return ACQ_SPARQL_FAIL(p, place,
                               "literals are not supported: facts link entities; write a name as "
                               "<...>");
    if (p->lexer.token.kind == ACQ_SPARQL_VARIABLE) {
        status = acq_sparql_read_variable(p, &symbol);
        if (status == ACQ_OK)
            status = acq_sparql_bind(p, symbol, place);
    } else if (acq_sparql_is_name(p)) {
        status = acq_sparql_read_name(p, ACQ_SYMBOL_CONSTANT, &symbol);
    } else {
        return acq_sparql_fail_expected(p, expected);
    }
    if (status == ACQ_OK)
        *out = acq_sparql_get_term(p, symbol);
    return status;
}

static acq_status check_no_path(acq_sparql *p)
{
    static const char *const PATHS[] = {"/", "|", "*", "+", "?", "^", "||"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        if (acq_sparql_is_mark(p, PATHS[i]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                                   "property paths are not supported, except ^relation for the "
                                   "inverse; write one triple per step");
    }
    return ACQ_OK;
}

/* verb = "a" | ["^"] (iri | prefixed) */
static acq_status parse_verb(acq_sparql *p, uint32_t *relation)
{
    acq_input_place place = p->lexer.token.place;
    acq_symbol_kind kind = ACQ_SYMBOL_RELATION;
    acq_status status;
    if (p->lexer.token.kind == ACQ_SPARQL_VARIABLE)
        return ACQ_SPARQL_FAIL(p, place,
                               "a variable cannot stand for a relation; name the relation as "
                               "<...>");
    if (acq_sparql_is_mark(p, "^")) {
        kind = ACQ_SYMBOL_INVERSE;
        acq_sparql_next(p);
    }
    if (acq_sparql_is_word(p, "a") && p->lexer.token.text[0] == 'a') {
        status =
            acq_builder_intern(&p->builder, kind, RDF_TYPE, sizeof RDF_TYPE - 1, place, relation);
        acq_sparql_next(p);
    } else if (acq_sparql_is_name(p)) {
        status = acq_sparql_read_name(p, kind, relation);
    } else if (acq_sparql_is_mark(p, "(") || acq_sparql_is_mark(p, "!")) {
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "property paths are not supported, except ^relation for the "
                               "inverse; write one triple per step");
    } else {
        return acq_sparql_fail_expected(p, "a relation: <...>, prefix:name or a");
    }
    return status == ACQ_OK ? check_no_path(p) : status;
}

/* objects = term {"," term} */
static acq_status parse_objects(acq_sparql *p, acq_term subject, uint32_t relation)
{
    for (;;) {
        acq_input_place place = p->lexer.token.place;
        acq_term object = {0};
        acq_status status = parse_term(p, "an object: ?x, <...> or prefix:name", &object);
        if (status == ACQ_OK)
            status =
                acq_builder_push_atom(&p->builder, ACQ_NODE_ATOM, relation, subject, object, place);
        if (status != ACQ_OK || !acq_sparql_is_mark(p, ","))
            return status;
        acq_sparql_next(p);
    }
}

/* triples = term verb objects {";" [verb objects]} */
static acq_status parse_triples(acq_sparql *p, acq_run *run)
{
    acq_term subject = {0};
    uint32_t relation = 0;
    *run = (acq_run){.kind = ACQ_NODE_AND, .mark = p->builder.n_stack};
    acq_status status = parse_term(p, "a subject: ?x, <...> or prefix:name", &subject);
    while (status == ACQ_OK) {
        status = parse_verb(p, &relation);
        if (status == ACQ_OK)
            status = parse_objects(p, subject, relation);
        if (status != ACQ_OK || !acq_sparql_is_mark(p, ";"))
            break;
        while (acq_sparql_is_mark(p, ";"))
            acq_sparql_next(p);
        if (acq_sparql_is_mark(p, ".") || acq_sparql_is_mark(p, "}"))
            break;
    }
    return status;
}

typedef struct starts {
    size_t *at, n, capacity;
} starts;

static acq_status add_start(acq_sparql *p, starts *all)
{
    if (ACQ_RESERVE(all->at, all->capacity, all->n + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    all->at[all->n++] = p->n_bindings;
    return ACQ_OK;
}

static acq_status parse_branches(acq_sparql *p, starts *all, acq_run *run)
{
    acq_status status = acq_builder_absorb(&p->builder, *run, ACQ_NODE_OR);
    while (status == ACQ_OK && acq_sparql_is_word(p, "UNION")) {
        acq_sparql_next(p);
        status = add_start(p, all);
        if (status == ACQ_OK)
            status = acq_sparql_parse_group(p, run);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&p->builder, *run, ACQ_NODE_OR);
    }
    if (status == ACQ_OK)
        status = add_start(p, all);
    return status == ACQ_OK ? acq_sparql_merge_branches(p, all->at, all->n - 1) : status;
}

/* union = group {"UNION" group} */
static acq_status parse_union(acq_sparql *p, acq_run *run)
{
    starts all = {0};
    size_t mark = p->builder.n_stack;
    acq_status status = add_start(p, &all);
    if (status == ACQ_OK)
        status = acq_sparql_parse_group(p, run);
    if (status == ACQ_OK && acq_sparql_is_word(p, "UNION")) {
        status = parse_branches(p, &all, run);
        *run = (acq_run){.kind = ACQ_NODE_OR, .mark = mark};
    }
    acq_free(all.at);
    return status;
}

/* What MINUS does to the solutions before it depends on the variables it shares with them. */
typedef enum minus_effect {
    MINUS_NOTHING,
    MINUS_NEGATES,
    MINUS_UNBOUND, /* shares some variables, and has others */
    MINUS_BRANCHES /* its UNION has no variable in common: each branch would need its own rule */
} minus_effect;

/* The marks are those of the patterns before MINUS; from.. are the bindings of its own pattern. */
static minus_effect judge_minus(const acq_sparql *p, size_t from)
{
    bool shares = false, all_bound = true, some_certain = false;
    for (size_t i = from; i < p->n_bindings; i++) {
        const acq_sparql_mark *mark = acq_sparql_get_mark(p, p->bindings[i].word);
        shares |= mark != NULL;
        all_bound &= mark != NULL && mark->is_certain;
        some_certain |= p->bindings[i].is_certain;
    }
    if (!shares)
        return MINUS_NOTHING;
    if (!all_bound)
        return MINUS_UNBOUND;
    return some_certain ? MINUS_NEGATES : MINUS_BRANCHES;
}

/* minus = "MINUS" group */
/* Behind the word MINUS. *run holds one node, or none when the pattern changes nothing. */
static acq_status parse_minus(acq_sparql *p, size_t group_from, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    size_t from = p->n_bindings;
    bool outer = p->in_exists;
    acq_sparql_next(p);
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    p->in_exists = false;
    status = acq_sparql_parse_group(p, run);
    p->in_exists = outer;
    acq_builder_leave(&p->builder, 1);
    if (status == ACQ_OK)
        status = acq_sparql_mark_bindings(p, group_from, from);
    if (status != ACQ_OK)
        return status;
    minus_effect effect = judge_minus(p, from);
    p->n_bindings = from;
    if (effect == MINUS_BRANCHES)
        return ACQ_SPARQL_FAIL(p, place,
                               "the branches of this MINUS have no variable in common; use FILTER "
                               "NOT EXISTS");
    if (effect == MINUS_UNBOUND)
        return ACQ_SPARQL_FAIL(p, place,
                               "MINUS with a variable that no pattern before it binds needs "
                               "\"for all\", which is not supported; bind it before");
    if (effect == MINUS_NEGATES)
        return acq_builder_negate(&p->builder, *run, place);
    p->builder.n_stack = run->mark;
    return ACQ_OK;
}

static acq_status check_supported(acq_sparql *p)
{
    static const char *const OTHERS[][2] = {
        {"OPTIONAL", "use UNION, or two queries"},
        {"BIND", "write the name where the variable stands, or use VALUES"},
        {"GRAPH", "named graphs are merged on import: leave GRAPH out"},
        {"SERVICE", "import the other graph's facts"},
        {"SELECT", "move the subquery's pattern into the group"},
        {"UNION", "UNION stands between two groups: { ... } UNION { ... }"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (acq_sparql_is_word(p, OTHERS[i][0]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place, "%s is not supported here; %s",
                                   OTHERS[i][0], OTHERS[i][1]);
    }
    return ACQ_OK;
}

/* element = union | "FILTER" filter | "VALUES" values | triples */
static acq_status parse_element(acq_sparql *p, acq_run *run, bool *is_triples)
{
    *is_triples = false;
    if (acq_sparql_is_mark(p, "{"))
        return parse_union(p, run);
    if (acq_sparql_is_word(p, "FILTER")) {
        acq_sparql_next(p);
        return acq_sparql_parse_filter(p, run);
    }
    if (acq_sparql_is_word(p, "VALUES")) {
        acq_sparql_next(p);
        return acq_sparql_parse_values(p, run);
    }
    acq_status status = check_supported(p);
    if (status != ACQ_OK)
        return status;
    *is_triples = true;
    return parse_triples(p, run);
}

/* The parts of a group so far. A single part stays as it is, so that a group around a UNION
 * melts into a UNION around it. */
typedef struct parts {
    size_t n, from; /* from: first binding of the group */
    acq_run first;
} parts;

/* What negates shares a variable with a part before it, so there is one. */
static acq_status add_minus(acq_sparql *p, parts *all)
{
    acq_run run;
    acq_status status = parse_minus(p, all->from, &run);
    if (status != ACQ_OK || p->builder.n_stack == run.mark)
        return status;
    acq_node *negation = p->builder.stack[--p->builder.n_stack];
    if (all->n == 1)
        status = acq_builder_absorb(&p->builder, all->first, ACQ_NODE_AND);
    if (status != ACQ_OK)
        return status;
    p->builder.stack[p->builder.n_stack++] = negation; /* there was room for it */
    all->n++;
    return ACQ_OK;
}

static acq_status add_element(acq_sparql *p, parts *all, bool *is_triples)
{
    acq_run run = {0};
    acq_status status = ACQ_OK;
    if (all->n == 1)
        status = acq_builder_absorb(&p->builder, all->first, ACQ_NODE_AND);
    if (status == ACQ_OK)
        status = parse_element(p, &run, is_triples);
    if (status != ACQ_OK)
        return status;
    if (all->n++ == 0) {
        all->first = run;
        return ACQ_OK;
    }
    return acq_builder_absorb(&p->builder, run, ACQ_NODE_AND);
}

/* "." may follow anything, and must stand between two blocks of triples. */
static acq_status end_element(acq_sparql *p, bool is_triples)
{
    if (acq_sparql_is_mark(p, ".")) {
        acq_sparql_next(p);
        return ACQ_OK;
    }
    if (is_triples && !acq_sparql_is_mark(p, "}") && !acq_sparql_is_mark(p, "{") &&
        p->lexer.token.kind != ACQ_SPARQL_WORD && p->lexer.token.kind != ACQ_SPARQL_END)
        return acq_sparql_fail_expected(p, "'.', ';', ',' or '}' after the triple");
    return ACQ_OK;
}

static acq_status parse_parts(acq_sparql *p, acq_input_place place, parts *all)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && !acq_sparql_is_mark(p, "}")) {
        bool is_triples = false;
        if (p->lexer.token.kind == ACQ_SPARQL_END)
            return ACQ_SPARQL_FAIL(p, place, "this '{' is never closed; add '}'");
        if (acq_sparql_is_word(p, "MINUS"))
            status = add_minus(p, all);
        else
            status = add_element(p, all, &is_triples);
        if (status == ACQ_OK)
            status = end_element(p, is_triples);
    }
    return status;
}

/* group = "{" {(element | minus) ["."]} "}" */
acq_status acq_sparql_parse_group(acq_sparql *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    size_t mark = p->builder.n_stack, uses_from = p->n_uses;
    parts all = {.from = p->n_bindings};
    acq_status status = acq_sparql_expect_mark(p, "{", "'{'");
    if (status == ACQ_OK)
        status = acq_builder_enter(&p->builder, place);
    if (status == ACQ_OK)
        status = parse_parts(p, place, &all);
    if (status != ACQ_OK)
        return status;
    acq_builder_leave(&p->builder, 1);
    if (all.n == 0)
        return ACQ_SPARQL_FAIL(p, place, "this group is empty; write a triple between { and }");
    acq_sparql_next(p);
    *run = all.n == 1 ? all.first : (acq_run){.kind = ACQ_NODE_AND, .mark = mark};
    return p->in_exists ? ACQ_OK : acq_sparql_check_uses(p, uses_from, all.from);
}
