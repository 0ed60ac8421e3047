/* query_random.c - see query_random.h. Queries are made through the builder, like the parsers'. */
#include "unit/query_random.h"

#include <stdio.h>
#include <string.h>

#include "query/builder.h"

static const char *const NAMES[] = {
    "Christopher Nolan",
    "a\"quote",
    "back\\slash",
    "line\nbreak",
    "tab\there",
    "<in brackets>",
    "?question",
    "=equal",
    " blank",
    "exists",
    "Zürich",
    "+/film/film/genre",
    "http://x.org/a#b",
    "it's",
    "naïve—dash",
    "0",
    "not",
    "日本",
    "a,b(c)",
    "{x} | y & z",
    "\x01\x7F",
    "$dollar",
    "%41",
    "r1",
};

enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

typedef struct maker {
    acq_builder builder;
    acq_random *random;
    const query_random_params *params;
} maker;

static unsigned below(maker *m, unsigned n)
{
    return (unsigned)acq_random_below(m->random, n);
}

static acq_status random_name(maker *m, acq_symbol_kind kind, unsigned n, char letter,
                              uint32_t *out)
{
    char name[64];
    unsigned i = below(m, n);
    if (m->params->plain_names)
        snprintf(name, sizeof name, "%c%u", letter, i);
    else if (i < N_NAMES)
        snprintf(name, sizeof name, "%s", NAMES[i]);
    else
        snprintf(name, sizeof name, "%s%u", NAMES[i % N_NAMES], i);
    return acq_builder_intern(&m->builder, kind, name, strlen(name), (acq_input_place){0}, out);
}

/* Free variables are v0.., existential ones w0..; each is declared when it first occurs. */
static acq_status random_variable(maker *m, uint32_t *out)
{
    char name[32];
    uint32_t word;
    unsigned i = below(m, m->params->n_free + m->params->n_exists);
    bool is_free = i < m->params->n_free;
    int n = snprintf(name, sizeof name, "%c%u", is_free ? 'v' : 'w', i);
    acq_input_place place = {0};
    acq_status status =
        acq_builder_intern(&m->builder, ACQ_SYMBOL_WORD, name, (size_t)n, place, &word);
    if (status != ACQ_OK)
        return status;
    *out = m->builder.symbols[word].binding;
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    status = acq_builder_add_variable(&m->builder, is_free ? ACQ_SYMBOL_FREE : ACQ_SYMBOL_EXISTS,
                                      name, (size_t)n, place, out);
    if (status == ACQ_OK) {
        m->builder.symbols[word].binding = *out;
        m->builder.symbols[*out].rank = below(m, 3);
    }
    return status;
}

static acq_status random_term(maker *m, acq_term *out)
{
    unsigned n_variables = m->params->n_free + m->params->n_exists;
    *out = (acq_term){0};
    if (n_variables == 0 || (m->params->n_constants > 0 && below(m, 4) == 0))
        return random_name(m, ACQ_SYMBOL_CONSTANT, m->params->n_constants, 'c', &out->id);
    return random_variable(m, &out->id);
}

static acq_status random_atom(maker *m, acq_run *run)
{
    acq_term left, right;
    uint32_t relation = 0;
    bool is_equality = m->params->equalities && below(m, 5) == 0;
    bool is_inverse = m->params->inverses && below(m, 4) == 0;
    *run = acq_run_single(m->builder.n_stack);
    acq_status status = random_term(m, &left);
    if (status == ACQ_OK)
        status = random_term(m, &right);
    if (status == ACQ_OK && !is_equality)
        status = random_name(m, is_inverse ? ACQ_SYMBOL_INVERSE : ACQ_SYMBOL_RELATION,
                             m->params->n_relations, 'r', &relation);
    if (status != ACQ_OK)
        return status;
    return acq_builder_push_atom(&m->builder, is_equality ? ACQ_NODE_EQUAL : ACQ_NODE_ATOM,
                                 relation, left, right, (acq_input_place){0});
}

static acq_status random_literal(maker *m, acq_run *run)
{
    acq_status status = random_atom(m, run);
    if (status == ACQ_OK && below(m, 3) == 0)
        status = acq_builder_negate(&m->builder, *run, (acq_input_place){0});
    return status;
}

static acq_status random_node(maker *m, unsigned depth, acq_run *run);

static acq_status random_list(maker *m, unsigned depth, acq_node_kind kind, acq_run *run)
{
    size_t mark = m->builder.n_stack;
    unsigned n = 2 + below(m, 3);
    acq_status status = ACQ_OK;
    for (unsigned i = 0; status == ACQ_OK && i < n; i++) {
        acq_run one;
        status = m->params->conjunctive ? random_literal(m, &one) : random_node(m, depth, &one);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, one, kind);
    }
    *run = (acq_run){.kind = kind, .mark = mark};
    return status;
}

static acq_status random_node(maker *m, unsigned depth, acq_run *run)
{
    unsigned choice = depth == 0 ? 0 : below(m, 8);
    if (choice < 3)
        return random_atom(m, run);
    if (choice < 5)
        return random_list(m, depth - 1, ACQ_NODE_AND, run);
    if (choice < 7)
        return random_list(m, depth - 1, ACQ_NODE_OR, run);
    acq_status status = random_node(m, depth - 1, run);
    if (status == ACQ_OK)
        status = acq_builder_negate(&m->builder, *run, (acq_input_place){0});
    *run = acq_run_single(run->mark);
    return status;
}

acq_query *query_random_new(acq_random *random, const query_random_params *params)
{
    maker m = {.random = random, .params = params};
    acq_query *query = NULL;
    acq_run run;
    acq_status status = acq_builder_init(&m.builder, NULL);
    if (status == ACQ_OK)
        status = params->conjunctive || below(&m, 2) == 0
                     ? random_list(&m, params->most_depth, ACQ_NODE_AND, &run)
                     : random_node(&m, params->most_depth, &run);
    if (status == ACQ_OK && params->limits && below(&m, 3) == 0)
        m.builder.query->limit = 1 + below(&m, 100);
    if (status == ACQ_OK)
        status = acq_builder_finish(&m.builder, run, ACQ_SYMBOL_CONSTANT, &query);
    acq_builder_deinit(&m.builder);
    return status == ACQ_OK ? query : NULL;
}

static bool same_names(const acq_query_name *a, const acq_query_name *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].length != b[i].length || memcmp(a[i].text, b[i].text, a[i].length) != 0 ||
            a[i].is_inverse != b[i].is_inverse || a[i].is_id != b[i].is_id || a[i].id != b[i].id)
            return false;
    }
    return true;
}

static bool same_term(acq_term a, acq_term b)
{
    return a.is_variable == b.is_variable && a.id == b.id;
}

static bool same_node(const acq_node *a, const acq_node *b)
{
    if (a->kind != b->kind || a->n_children != b->n_children)
        return false;
    for (uint32_t i = 0; i < a->n_children; i++) {
        if (!same_node(a->children[i], b->children[i]))
            return false;
    }
    if (a->kind == ACQ_NODE_ATOM && a->relation != b->relation)
        return false;
    return a->n_children > 0 || (same_term(a->left, b->left) && same_term(a->right, b->right));
}

bool query_same(const acq_query *a, const acq_query *b, bool names)
{
    if (a->n_variables != b->n_variables || a->n_free != b->n_free ||
        a->n_constants != b->n_constants || a->n_relations != b->n_relations ||
        a->limit != b->limit || a->n_atoms != b->n_atoms)
        return false;
    if (names && !(same_names(a->variables, b->variables, a->n_variables) &&
                   same_names(a->constants, b->constants, a->n_constants) &&
                   same_names(a->relations, b->relations, a->n_relations)))
        return false;
    return same_node(a->root, b->root);
}
