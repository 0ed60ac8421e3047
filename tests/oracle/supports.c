/* supports.c - other values that speak for an answer, against a plain recount: every entity is put
 * in the place of every existential variable, and the used literals are read off the dense table.
 * Random cases; the values found must also never score less than those given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/answer.h"
#include "support/case.h"

enum { N_CASES = 4000, MOST_ENTITIES = 20 }; /* few enough for the bounds on look-ups */

static test_case c;

static acq_ent value_of(acq_term term, const acq_ent *values)
{
    return term.is_variable ? values[term.id] : c.query->constants[term.id].id;
}

static double link_of(const acq_node *node, const acq_ent *values)
{
    acq_ent left = value_of(node->left, values), right = value_of(node->right, values);
    if (node->kind == ACQ_NODE_EQUAL)
        return left == right;
    return (double)c.table[c.query->relations[node->relation].id][left][right];
}

static double score_of(const acq_evidence *e, const acq_ent *values)
{
    double link = link_of(e->node, values);
    if (c.scoring.binarize > 0)
        link = link >= c.scoring.binarize;
    if (!e->is_negated)
        return link;
    return c.scoring.negation_threshold >= 0 ? link < c.scoring.negation_threshold
                                             : (double)(float)(1 - link);
}

static bool touches(const acq_evidence *e, uint32_t variable)
{
    const acq_node *node = e->node;
    return e->used && ((node->left.is_variable && node->left.id == variable) ||
                       (node->right.is_variable && node->right.id == variable));
}

/* Only variables with a positive atom to something else are exchanged. */
static bool has_row(const acq_evidence *e, uint32_t variable)
{
    const acq_node *node = e->node;
    bool is_loop =
        node->left.is_variable && node->right.is_variable && node->left.id == node->right.id;
    return touches(e, variable) && !e->is_negated && node->kind == ACQ_NODE_ATOM && !is_loop;
}

typedef struct worth {
    double least, chance;
} worth;

static worth weigh(const acq_evidence *evidence, size_t n, uint32_t variable, const acq_ent *values)
{
    worth sum = {1, 1};
    for (size_t i = 0; i < n; i++) {
        if (!touches(&evidence[i], variable))
            continue;
        double link = link_of(evidence[i].node, values);
        sum.least = fmin(sum.least, score_of(&evidence[i], values));
        sum.chance *= fmax(evidence[i].is_negated ? 1 - link : link, 1e-6);
    }
    return sum;
}

static void recount(const acq_evidence *evidence, size_t n, uint32_t variable, double least,
                    acq_ent *values, acq_supports *out)
{
    bool is_exchanged = false;
    for (size_t i = 0; i < n; i++)
        is_exchanged = is_exchanged || has_row(&evidence[i], variable);
    if (!is_exchanged)
        return;
    acq_ent old = values[variable];
    worth now = weigh(evidence, n, variable, values);
    double missed = 1 - now.chance;
    for (acq_ent v = 0; v < c.n_entities; v++) {
        values[variable] = v;
        worth one = weigh(evidence, n, variable, values);
        if (v == old || one.least < least / 2)
            continue;
        assert_false(one.least >= least && one.chance > now.chance * 1.00001);
        out->n++;
        out->least_sum += one.least;
        missed *= 1 - one.chance;
    }
    values[variable] = old;
    out->gain += log((1 - missed) / now.chance);
}

static void compare(acq_ent *values)
{
    acq_arena arena;
    acq_evidence *evidence;
    size_t n;
    bool changed = true;
    acq_supports found, expected = {0};
    acq_arena_init(&arena);
    for (int i = 0; i < 10 && changed; i++) {
        double before = case_score(&c, values);
        assert_int_equal(
            acq_explain(c.query, &c.predictor, &c.scoring, values, &arena, &evidence, &n, NULL),
            ACQ_OK);
        assert_int_equal(acq_supports_find(c.query, &c.predictor, &c.scoring, evidence, n, values,
                                           &arena, &found, &changed, NULL),
                         ACQ_OK);
        assert_true(case_score(&c, values) >= before);
    }
    assert_false(changed);
    double least = 1;
    for (size_t i = 0; i < n; i++)
        least = evidence[i].used ? fmin(least, evidence[i].score) : least;
    for (uint32_t v = c.query->n_free; v < c.query->n_variables; v++)
        recount(evidence, n, v, least, values, &expected);
    assert_int_equal(found.n, expected.n);
    assert_true(fabs(found.least_sum - expected.least_sum) < 1e-9);
    assert_true(fabs(found.gain - expected.gain) < 1e-5 + 1e-6 * fabs(expected.gain));
    acq_arena_deinit(&arena);
}

/* A random assignment that the query holds under, if a few tries find one. */
static bool draw_values(acq_random *random, acq_ent *values)
{
    for (int i = 0; i < 200; i++) {
        for (uint32_t v = 0; v < c.query->n_variables; v++)
            values[v] = acq_random_below(random, c.n_entities);
        if (case_score(&c, values) > 0)
            return true;
    }
    return false;
}

static void test_random_cases(void **state)
{
    (void)state;
    size_t n_compared = 0;
    for (uint64_t seed = 1; seed <= N_CASES; seed++) {
        acq_random random = acq_random_start(seed, 77);
        acq_ent values[CASE_MOST_VARIABLES];
        case_init(&c, seed);
        bool fits = c.n_entities <= MOST_ENTITIES && c.query->n_variables > c.query->n_free;
        if (fits && draw_values(&random, values)) {
            acq_graph *graph = case_build_graph(&c);
            c.predictor.graph = graph;
            compare(values);
            acq_graph_free(graph);
            n_compared++;
        }
        case_deinit(&c);
    }
    assert_true(n_compared > N_CASES / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
