/* conditions.c - FILTER and VALUES of the SPARQL subset.
 *
 * FILTER: = and !=, EXISTS and NOT EXISTS on patterns, and !, &&, || over those. Every variable in
 * it must be bound by the group the filter stands in. VALUES is a disjunction of equalities:
 *
 *   VALUES (?x ?y) { (<a> <b>) (<c> <d>) }      (x = a & y = b) | (x = c & y = d) */
#include "query/sparql/parser.h"

#include "base/memory.h"

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

/* ---- VALUES ---- */

typedef struct columns {
    uint32_t *words;
    size_t n, capacity;
} columns;

static acq_status read_column(acq_sparql *p, columns *all)
{
    acq_input_place place = p->lexer.token.place;
    uint32_t word;
    if (p->lexer.token.kind != ACQ_SPARQL_VARIABLE)
        return acq_sparql_fail_expected(p, "a variable of VALUES");
    acq_status status = acq_sparql_read_variable(p, &word);
    if (status != ACQ_OK)
        return status;
    for (size_t i = 0; i < all->n; i++) {
        if (all->words[i] == word)
            return ACQ_SPARQL_FAIL(p, place, "VALUES lists this variable twice; remove one");
    }
    if (ACQ_RESERVE(all->words, all->capacity, all->n + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    all->words[all->n++] = word;
    return acq_sparql_bind(p, word, place);
}

/* columns = variable | "(" variable {variable} ")" */
static acq_status read_columns(acq_sparql *p, columns *all, bool *is_tuple)
{
    enum { MOST_COLUMNS = 1000 };
    *is_tuple = acq_sparql_is_mark(p, "(");
    if (!*is_tuple)
        return read_column(p, all);
    acq_sparql_next(p);
    do {
        acq_input_place place = p->lexer.token.place;
        if (all->n == MOST_COLUMNS)
            return acq_fail_at(p->builder.error, ACQ_ERR_LIMIT, place.line, place.column,
                               "VALUES takes at most %d variables", (int)MOST_COLUMNS);
        acq_status status = read_column(p, all);
        if (status != ACQ_OK)
            return status;
    } while (!acq_sparql_is_mark(p, ")"));
    acq_sparql_next(p);
    return ACQ_OK;
}

/* One value: pushes variable = name. */
static acq_status read_value(acq_sparql *p, uint32_t word)
{
    acq_input_place place = p->lexer.token.place;
    uint32_t name;
    if (acq_sparql_is_word(p, "UNDEF"))
        return ACQ_SPARQL_FAIL(p, place, "UNDEF is not supported; use UNION");
    if (!acq_sparql_is_name(p))
        return acq_sparql_fail_expected(p, "a value: <...> or prefix:name");
    acq_status status = acq_sparql_read_name(p, ACQ_SYMBOL_CONSTANT, &name);
    if (status != ACQ_OK)
        return status;
    return acq_builder_push_atom(&p->builder, ACQ_NODE_EQUAL, 0, acq_sparql_get_term(p, word),
                                 acq_sparql_get_term(p, name), place);
}

/* row = value | "(" {value} ")", one value per column */
static acq_status read_row(acq_sparql *p, const columns *all, bool is_tuple, acq_run *run)
{
    *run = (acq_run){.kind = ACQ_NODE_AND, .mark = p->builder.n_stack};
    acq_status status = ACQ_OK;
    if (is_tuple)
        status = acq_sparql_expect_mark(p, "(", "'(' and a value for each variable");
    for (size_t i = 0; status == ACQ_OK && i < all->n; i++)
        status = read_value(p, all->words[i]);
    if (status == ACQ_OK && is_tuple)
        status = acq_sparql_expect_mark(p, ")", "')' after one value for each variable");
    return status;
}

static acq_status read_rows(acq_sparql *p, const columns *all, bool is_tuple, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    size_t mark = p->builder.n_stack, rows = 0;
    acq_status status = acq_sparql_expect_mark(p, "{", "'{' and the values");
    for (; status == ACQ_OK && !acq_sparql_is_mark(p, "}"); rows++) {
        if (rows == 1) /* a single row stays a conjunction */
            status = acq_builder_absorb(&p->builder, *run, ACQ_NODE_OR);
        if (status == ACQ_OK)
            status = read_row(p, all, is_tuple, run);
        if (status == ACQ_OK && rows > 0)
            status = acq_builder_absorb(&p->builder, *run, ACQ_NODE_OR);
    }
    if (status != ACQ_OK)
        return status;
    if (rows == 0)
        return ACQ_SPARQL_FAIL(p, place, "VALUES without a value has no solution; add one");
    acq_sparql_next(p);
    if (rows > 1)
        *run = (acq_run){.kind = ACQ_NODE_OR, .mark = mark};
    return ACQ_OK;
}

/* values = columns "{" {row} "}" */
acq_status acq_sparql_parse_values(acq_sparql *p, acq_run *run)
{
    columns all = {0};
    bool is_tuple;
    acq_status status = read_columns(p, &all, &is_tuple);
    if (status == ACQ_OK)
        status = read_rows(p, &all, is_tuple, run);
    acq_free(all.words);
    return status;
}
