/* filter.c - FILTER of the SPARQL subset: = and !=, EXISTS and NOT EXISTS on patterns, and
 * !, &&, || over those. Every variable in it must be bound by the group the filter stands in. */
#include "query/sparql/parser.h"

static acq_status parse_or(acq_sparql *p, acq_run *run);

/* side = variable | iri | prefixed */
static acq_status parse_side(acq_sparql *p, acq_term *out)
{
    acq_input_place place = p->lexer.token.place;
    uint32_t symbol;
    acq_status status;
    if (p->lexer.token.kind == ACQ_SPARQL_VARIABLE) {
        status = acq_sparql_read_variable(p, &symbol);
        if (status == ACQ_OK)
            status = acq_sparql_use_variable(p, symbol, place);
    } else if (acq_sparql_is_name(p)) {
        status = acq_sparql_read_name(p, ACQ_SYMBOL_CONSTANT, &symbol);
    } else if (p->lexer.token.kind == ACQ_SPARQL_NUMBER) {
        return ACQ_SPARQL_FAIL(p, place,
                               "literals are not supported: facts link entities; write a name as "
                               "<...>");
    } else if (p->lexer.token.kind == ACQ_SPARQL_WORD) {
        return ACQ_SPARQL_FAIL(p, place,
                               "%s is not supported in FILTER, which knows =, !=, !, &&, ||, "
                               "EXISTS and NOT EXISTS",
                               acq_sparql_lexer_show(&p->lexer).text);
    } else {
        return acq_sparql_fail_expected(p, "?x, <...>, prefix:name, EXISTS, NOT EXISTS or '('");
    }
    if (status == ACQ_OK)
        *out = acq_sparql_get_term(p, symbol);
    return status;
}

/* comparison = side ("=" | "!=") side */
static acq_status parse_comparison(acq_sparql *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    acq_term left = {0}, right = {0};
    acq_status status = parse_side(p, &left);
    if (status != ACQ_OK)
        return status;
    bool differs = acq_sparql_is_mark(p, "!=");
    if (acq_sparql_is_word(p, "IN") || acq_sparql_is_word(p, "NOT"))
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "IN is not supported; use VALUES ?x { ... } or = and ||");
    if (!differs && !acq_sparql_is_mark(p, "="))
        return acq_sparql_fail_expected(p, "'=' or '!='");
    acq_sparql_next(p);
    status = parse_side(p, &right);
    if (status == ACQ_OK)
        status = acq_builder_push_atom(&p->builder, ACQ_NODE_EQUAL, 0, left, right, place);
    return status == ACQ_OK && differs ? acq_builder_negate(&p->builder, *run, place) : status;
}

/* exists = "EXISTS" group */
static acq_status parse_exists(acq_sparql *p, acq_run *run)
{
    size_t from = p->n_bindings;
    bool outer = p->in_exists;
    if (!acq_sparql_is_word(p, "EXISTS"))
        return acq_sparql_fail_expected(p, "EXISTS after NOT");
    acq_sparql_next(p);
    p->in_exists = true;
    acq_status status = acq_sparql_parse_group(p, run);
    p->in_exists = outer;
    p->n_bindings = from;
    return status;
}

static acq_status parse_operand(acq_sparql *p, bool is_negated, acq_run *run);

/* negated = "NOT" exists | "!" operand */
static acq_status parse_negated(acq_sparql *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    bool is_word = acq_sparql_is_word(p, "NOT");
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    acq_sparql_next(p);
    status = is_word ? parse_exists(p, run) : parse_operand(p, true, run);
    acq_builder_leave(&p->builder, 1);
    if (status == ACQ_OK)
        status = acq_builder_negate(&p->builder, *run, place);
    *run = acq_run_single(run->mark);
    return status;
}

/* bracketed = "(" or ")" */
static acq_status parse_bracketed(acq_sparql *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    acq_sparql_next(p);
    status = parse_or(p, run);
    acq_builder_leave(&p->builder, 1);
    return status == ACQ_OK ? acq_sparql_expect_mark(p, ")", "'&&', '||' or ')'") : status;
}

/* operand = negated | bracketed | exists | comparison */
static acq_status parse_operand(acq_sparql *p, bool is_negated, acq_run *run)
{
    *run = acq_run_single(p->builder.n_stack);
    if (acq_sparql_is_word(p, "NOT") || acq_sparql_is_mark(p, "!"))
        return parse_negated(p, run);
    if (acq_sparql_is_mark(p, "("))
        return parse_bracketed(p, run);
    if (acq_sparql_is_word(p, "EXISTS"))
        return parse_exists(p, run);
    if (is_negated)
        return acq_sparql_fail_expected(p, "'(', EXISTS or '!' after '!', as in !(?x = ?y)");
    return parse_comparison(p, run);
}

static acq_status take_operand(void *p, acq_run *run)
{
    return parse_operand(p, false, run);
}

static bool take_separator(void *parser, acq_node_kind node)
{
    acq_sparql *p = parser;
    if (!acq_sparql_is_mark(p, node == ACQ_NODE_AND ? "&&" : "||"))
        return false;
    acq_sparql_next(p);
    return true;
}

/* and = operand {"&&" operand} */
static acq_status parse_and(void *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_AND, take_operand, take_separator};
    return acq_builder_chain(&((acq_sparql *)p)->builder, &chain, run);
}

/* or = and {"||" and} */
static acq_status parse_or(acq_sparql *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_OR, parse_and, take_separator};
    return acq_builder_chain(&p->builder, &chain, run);
}

/* filter = bracketed | ["NOT"] exists */
acq_status acq_sparql_parse_filter(acq_sparql *p, acq_run *run)
{
    *run = acq_run_single(p->builder.n_stack);
    if (acq_sparql_is_mark(p, "("))
        return parse_bracketed(p, run);
    if (acq_sparql_is_word(p, "NOT"))
        return parse_negated(p, run);
    if (acq_sparql_is_word(p, "EXISTS"))
        return parse_exists(p, run);
    if (p->lexer.token.kind == ACQ_SPARQL_WORD)
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "%s is not supported in FILTER, which knows =, !=, !, &&, ||, "
                               "EXISTS and NOT EXISTS",
                               acq_sparql_lexer_show(&p->lexer).text);
    return acq_sparql_fail_expected(p, "'(', EXISTS or NOT EXISTS after FILTER");
}
