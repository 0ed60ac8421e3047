/* values.c - VALUES as a disjunction of equalities:
 *
 *   VALUES (?x ?y) { (<a> <b>) (<c> <d>) }      (x = a & y = b) | (x = c & y = d) */
#include "base/memory.h"
#include "query/sparql/parser.h"

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
