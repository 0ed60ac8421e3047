/* ultra_set.c - one pass for a fuzzy set of heads, against the network in double; and whole queries
 * as UltraQuery answers them, against products of such passes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "search/fuzzy/fuzzy.h"
#include "support/scale.h"
#include "support/ultra_case.h"

enum { MOST = 120, CASES = SCALE(24, 6) };

static void start(ultra_case *c, uint64_t seed, acq_row_model **model)
{
    static const uint32_t sizes[][3] = {{5, 2, 6}, {25, 3, 40}, {60, 4, 90}, {30, 2, 200}};
    const uint32_t *s = sizes[seed % 4];
    acq_error error = {0};
    if (seed % 3 == 0)
        ultra_case_init_hubs(c, seed, s[0], 3, s[1], s[2]);
    else
        ultra_case_init(c, seed, s[0], s[1], s[2]);
    c->model->queries_pair = seed % 2 == 0;
    assert_int_equal(acq_ultra_new_row_model(c->model, c->graph, model, &error), ACQ_OK);
}

static void assert_near(const float *values, const double *expected, size_t n)
{
    double largest = 1e-3;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i] - expected[i]) <= 1e-4 * largest))
            fail_msg("%zu: %g, expected %g", i, values[i], expected[i]);
}

static void test_a_pass_with_degrees_is_that_of_the_equations(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ultra_case c;
        acq_row_model *model;
        void *scratch;
        float degrees[MOST], scores[MOST];
        double exact[MOST], expected[MOST];
        acq_random random = acq_random_start(seed, 5);
        start(&c, seed, &model);
        uint32_t n = c.oracle.n_entities;
        acq_rel relation = (acq_rel)acq_random_below(&random, c.oracle.n_relations);
        for (uint32_t i = 0; i < n; i++) {
            degrees[i] = acq_random_below(&random, 2) == 0 ? 0 : (float)acq_random_unit(&random);
            exact[i] = (double)degrees[i];
        }
        assert_int_equal(model->ops->open_scratch(model, &scratch, NULL), ACQ_OK);
        assert_int_equal(model->ops->score_set(model, scratch, relation, degrees, scores, NULL),
                         ACQ_OK);
        oracle_score_set(c.model, &c.oracle, exact, relation, ORACLE_TAIL_TO_HEAD, expected);
        assert_near(scores, expected, n);
        model->ops->free_scratch(model, scratch);
        acq_row_model_free(model);
        ultra_case_deinit(&c);
    }
}

/* A set of one head is that head's row. */
static void test_one_head_gives_its_row(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ultra_case c;
        acq_row_model *model;
        void *scratch;
        float degrees[MOST] = {0}, scores[MOST], row[MOST];
        double expected[MOST];
        start(&c, seed, &model);
        acq_ent head = (acq_ent)(seed % c.oracle.n_entities);
        acq_row_request request = {.relation = 1,
                                   .heads = &head,
                                   .n_heads = 1,
                                   .n_tails = c.oracle.n_entities,
                                   .out = row};
        degrees[head] = 1;
        assert_int_equal(model->ops->open_scratch(model, &scratch, NULL), ACQ_OK);
        assert_int_equal(model->ops->score_set(model, scratch, 1, degrees, scores, NULL), ACQ_OK);
        assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
        for (uint32_t i = 0; i < c.oracle.n_entities; i++)
            expected[i] = (double)row[i];
        assert_near(scores, expected, c.oracle.n_entities);
        model->ops->free_scratch(model, scratch);
        acq_row_model_free(model);
        ultra_case_deinit(&c);
    }
}

static void project(const ultra_case *c, const double *from, acq_rel relation, double *out)
{
    oracle_score_set(c->model, &c->oracle, from, relation, ORACLE_TAIL_TO_HEAD, out);
    for (uint32_t i = 0; i < c->oracle.n_entities; i++)
        out[i] = 1 / (1 + exp(-out[i]));
}

/* inp: r2 of ((s0 r0) and not (s1 r1)) */
static acq_set_tree *make_inp(void)
{
    acq_set_tree *tree;
    assert_int_equal(acq_set_tree_new_empty(&tree, NULL), ACQ_OK);
    acq_set_node *paths[2], *negation = acq_set_tree_add(tree, ACQ_SET_NOT, 0, 1);
    acq_set_node *both = acq_set_tree_add(tree, ACQ_SET_AND, 0, 2);
    acq_set_node *root = acq_set_tree_add(tree, ACQ_SET_PROJECT, 2, 1);
    for (uint32_t i = 0; i < 2; i++) {
        paths[i] = acq_set_tree_add(tree, ACQ_SET_PROJECT, i, 1);
        paths[i]->children[0] = acq_set_tree_add(tree, ACQ_SET_ENTITY, i, 0);
    }
    negation->children[0] = paths[1];
    both->children[0] = paths[0];
    both->children[1] = negation;
    root->children[0] = both;
    acq_set_tree_finish(tree, root);
    return tree;
}

static void test_a_query_is_a_program_of_passes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ultra_case c;
        acq_row_model *model;
        acq_predictor *facts;
        acq_fuzzy_network *network;
        acq_fuzzy_run run;
        double one[MOST] = {0}, two[MOST] = {0}, first[MOST], second[MOST], expected[MOST];
        bool is_done;
        start(&c, seed, &model);
        acq_set_tree *tree = make_inp();
        assert_int_equal(acq_predictor_new_observed(c.graph, &facts, NULL), ACQ_OK);
        assert_int_equal(acq_fuzzy_network_new(model, 0, &network, NULL), ACQ_OK);
        acq_fuzzy_params params = ACQ_FUZZY_DEFAULT;
        params.project = acq_fuzzy_network_project;
        params.context = network;
        assert_int_equal(acq_fuzzy_run_tree(&run, tree, facts, &params, &is_done, NULL), ACQ_OK);
        one[0] = two[1] = 1;
        project(&c, one, 0, first);
        project(&c, two, 1, second);
        for (uint32_t i = 0; i < c.oracle.n_entities; i++)
            first[i] *= 1 - second[i];
        project(&c, first, 2, expected);
        for (uint32_t i = 0; i < c.oracle.n_entities; i++)
            assert_true(fabs(acq_fuzzy_set_get(acq_fuzzy_run_get_root(&run), i) - expected[i]) <
                        2e-4);
        acq_fuzzy_run_deinit(&run);
        acq_fuzzy_network_free(network);
        acq_predictor_free(facts);
        acq_set_tree_free(tree);
        acq_row_model_free(model);
        ultra_case_deinit(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pass_with_degrees_is_that_of_the_equations),
        cmocka_unit_test(test_one_head_gives_its_row),
        cmocka_unit_test(test_a_query_is_a_program_of_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
