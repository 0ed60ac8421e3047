/* query_properties.h - what must hold for any bytes given to a query parser.
 *
 * An error has a code, a message and a place inside the text. What is accepted obeys the limits,
 * and printing it in its own syntax gives a text that is read and printed the same again, unless
 * the text would pass a limit. The other printers may refuse; what they write is read as well. */
#ifndef ACQ_FUZZ_QUERY_PROPERTIES_H
#define ACQ_FUZZ_QUERY_PROPERTIES_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "query/print.h"
#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline acq_status parse_syntax(acq_syntax syntax, const char *text, size_t length,
                                      acq_query **out, acq_error *error)
{
    return syntax == ACQ_SYNTAX_BENCHMARK ? acq_query_parse_benchmark(text, length, out, error)
                                          : acq_query_parse(text, length, out, error);
}

static inline void check_error(acq_status status, const acq_error *error, const char *text,
                               size_t length)
{
    size_t line = 1, start = 0;
    assert(status == ACQ_ERR_PARSE || status == ACQ_ERR_LIMIT);
    assert(error->code == status && error->message[0] != '\0');
    assert(strlen(error->message) < sizeof error->message - 1);
    assert(error->line >= 1 && error->column >= 1);
    for (size_t i = 0; i < length && line < error->line; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    assert(line == error->line && start + error->column <= length + 1);
}

static inline void check_term(const acq_query *query, acq_term term, bool *used)
{
    assert(term.id < (term.is_variable ? query->n_variables : query->n_constants));
    if (term.is_variable)
        used[term.id] = true;
}

static inline uint32_t check_node(const acq_query *query, const acq_node *node, bool *used)
{
    uint32_t atoms = 0;
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL) {
        assert(node->n_children == 0);
        assert(node->kind == ACQ_NODE_EQUAL || node->relation < query->n_relations);
        check_term(query, node->left, used);
        check_term(query, node->right, used);
        return 1;
    }
    assert(node->kind == ACQ_NODE_NOT ? node->n_children == 1 : node->n_children >= 2);
    for (uint32_t i = 0; i < node->n_children; i++) {
        assert(node->kind == ACQ_NODE_NOT || node->children[i]->kind != node->kind);
        atoms += check_node(query, node->children[i], used);
    }
    return atoms;
}

static inline void check_query(const acq_query *query)
{
    bool *used = calloc(query->n_variables + 1, sizeof *used);
    assert(used != NULL && query->n_free <= query->n_variables);
    assert(check_node(query, query->root, used) == query->n_atoms);
    assert(query->n_atoms <= ACQ_MOST_ATOMS);
    for (uint32_t i = 0; i < query->n_variables; i++)
        assert(used[i]);
    free(used);
}

/* Own syntax: must be possible, and stable. Another one: what is written must be readable. */
static inline void check_print(const acq_query *query, acq_syntax syntax, bool is_own)
{
    acq_text first, second;
    acq_query *copy = NULL;
    acq_text_init(&first);
    acq_text_init(&second);
    acq_status status = acq_query_print(query, syntax, &first, NULL);
    assert(status == ACQ_OK || status == ACQ_ERR_LIMIT || (!is_own && status == ACQ_ERR_INPUT));
    if (status == ACQ_OK) {
        status = parse_syntax(syntax, first.bytes, first.length, &copy, NULL);
        assert(status == ACQ_OK);
        assert(copy->n_atoms == query->n_atoms && copy->n_variables == query->n_variables);
        status = acq_query_print(copy, syntax, &second, NULL);
        assert(status == ACQ_OK && strcmp(first.bytes, second.bytes) == 0);
        acq_query_free(copy);
    }
    acq_text_deinit(&first);
    acq_text_deinit(&second);
}

static inline void check_others(const acq_query *query)
{
    acq_text sql;
    acq_text_init(&sql);
    acq_status status = acq_query_print_sql(query, NULL, &sql, NULL);
    assert(status == ACQ_OK || status == ACQ_ERR_LIMIT);
    acq_text_deinit(&sql);
    for (int reading = 0; reading < ACQ_N_ATOMS_READINGS; reading++) {
        acq_query *reduced = NULL;
        status = acq_query_apply_reading(query, (acq_atoms_reading)reading, &reduced, NULL);
        assert(status == ACQ_OK || (reading != ACQ_ATOMS_WRITTEN && status == ACQ_ERR_INPUT));
        if (status == ACQ_OK)
            check_query(reduced);
        acq_query_free(reduced);
    }
}

static inline void check_text(acq_syntax syntax, const char *text, size_t length)
{
    acq_query *query = NULL;
    acq_error error = {0};
    acq_status status = parse_syntax(syntax, text, length, &query, &error);
    if (status != ACQ_OK) {
        assert(query == NULL);
        check_error(status, &error, text, length);
        return;
    }
    check_query(query);
    for (int other = 0; other < ACQ_N_SYNTAXES; other++)
        check_print(query, (acq_syntax)other, (acq_syntax)other == syntax);
    check_others(query);
    acq_query_free(query);
}

#endif
