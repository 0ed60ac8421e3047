/* train_sampler.c - queries drawn from graphs: true for the answer they were read off (by a table
 * of facts that the sampler does not see), of the stated form, repeatable, varied; and graphs that
 * hardly have a query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/build.h"
#include "query/sample/sampler.h"
#include "unit/train_case.h"

enum { GRAPHS = 60, DRAWS = 40 };

static acq_problem *draw_shape(const train_case *c, acq_shape_id shape, uint64_t seed,
                               acq_ent *answer)
{
    acq_random random = acq_random_start(seed, shape);
    acq_problem *problem = NULL;
    acq_error error = {0};
    if (acq_sampler_draw_shape(c->sampler, shape, &random, &problem, answer, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return problem;
}

static acq_problem *draw_hub(const train_case *c, const acq_hub_params *params, uint64_t seed,
                             acq_ent *answer)
{
    acq_random random = acq_random_start(seed, 1000);
    acq_problem *problem = NULL;
    acq_error error = {0};
    if (acq_sampler_draw_hub(c->sampler, params, &random, &problem, answer, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return problem;
}

static void test_the_answer_satisfies_every_small_query(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        train_case c;
        train_case_init_random(&c, seed);
        for (uint64_t i = 0; i < DRAWS * ACQ_N_SHAPES; i++) {
            acq_ent answer[4];
            acq_problem *problem = draw_shape(&c, (acq_shape_id)(i % ACQ_N_SHAPES), i, answer);
            train_case_check(&c, problem, answer);
            acq_problem_free(problem);
        }
        train_case_deinit(&c);
    }
}

static void test_the_answer_satisfies_every_hub_query(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        train_case c;
        train_case_init_random(&c, seed);
        for (uint64_t i = 0; i < DRAWS; i++) {
            acq_hub_params params = ACQ_HUB_DEFAULT;
            acq_ent answer[14];
            params.most_atoms = 2 + (uint32_t)i;
            params.leaves_out = (double)(i % 5) / 4;
            acq_problem *problem = draw_hub(&c, &params, i, answer);
            train_case_check(&c, problem, answer);
            assert_true(problem->n_literals <= params.most_atoms);
            acq_problem_free(problem);
        }
        train_case_deinit(&c);
    }
}

/* "0-1 1-c !0-c": variables by number, constants as c. */
static void print_form(const acq_problem *problem, char *out, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        char right[16] = "c";
        if (l->right.is_variable)
            snprintf(right, sizeof right, "%u", l->right.id);
        assert_true(l->left.is_variable);
        n += (size_t)snprintf(out + n, room - n, "%s%s%u-%s", i > 0 ? " " : "",
                              l->is_negated ? "!" : "", l->left.id, right);
    }
}

static void test_shapes_have_the_stated_form(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        uint32_t n_positive, n_negated;
    } want[ACQ_N_SHAPES] = {
        {"1p", "0-c", 1, 0},           {"2p", "0-1 1-c", 2, 0},       {"3p", "0-1 1-2 2-c", 3, 0},
        {"2i", "0-c 0-c", 2, 0},       {"3i", "0-c 0-c 0-c", 3, 0},   {"2in", "0-c !0-c", 1, 1},
        {"3in", "0-c 0-c !0-c", 2, 1}, {"inp", "0-1 1-c !1-c", 2, 1}, {"pin", "0-1 1-c !0-c", 2, 1},
        {"pi", "0-1 1-c 0-c", 3, 0},   {"ip", "0-1 1-c 1-c", 3, 0},
    };
    train_case c;
    train_case_init_dense(&c, 30, 4, 200);
    for (uint64_t i = 0; i < 50 * ACQ_N_SHAPES; i++) {
        acq_shape_id shape = (acq_shape_id)(i % ACQ_N_SHAPES);
        char form[64];
        acq_problem *problem = draw_shape(&c, shape, i, NULL);
        print_form(problem, form, sizeof form);
        assert_string_equal(acq_shape_get_name(shape), want[shape].name);
        assert_string_equal(form, want[shape].form);
        assert_int_equal(problem->n_literals, want[shape].n_positive + want[shape].n_negated);
        acq_problem_free(problem);
    }
    train_case_deinit(&c);
}

/* Does the value satisfy the positive literals of a query of one variable? */
static bool satisfies(const train_case *c, const acq_problem *problem, acq_ent value)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        if (!l->is_negated && !train_case_has(c, value, l->relation, l->right.id))
            return false;
    }
    return true;
}

/* How many values satisfy the positive literals, and how many of them the negated atom excludes. */
static uint32_t count_candidates(const train_case *c, const acq_problem *problem,
                                 uint32_t *n_excluded)
{
    const acq_literal *negated = &problem->literals[problem->n_literals - 1];
    uint32_t n = 0;
    *n_excluded = 0;
    for (acq_ent e = 0; e < c->n_entities; e++) {
        if (!satisfies(c, problem, e))
            continue;
        n++;
        *n_excluded += train_case_has(c, e, negated->relation, negated->right.id);
    }
    return n;
}

/* Where the answer is the only candidate, there is nobody else to exclude. */
static void test_negated_atoms_exclude_other_candidates(void **state)
{
    (void)state;
    train_case c;
    int n_excluding = 0, n_possible = 0;
    train_case_init_dense(&c, 40, 3, 300);
    for (int i = 0; i < 400; i++) {
        acq_shape_id shape = i % 4 == 0 ? ACQ_SHAPE_3in : ACQ_SHAPE_2in;
        acq_problem *problem = draw_shape(&c, shape, (uint64_t)i, NULL);
        uint32_t n_excluded, n = count_candidates(&c, problem, &n_excluded);
        assert_true(n_excluded < n);
        n_possible += n > 1;
        n_excluding += n_excluded > 0;
        acq_problem_free(problem);
    }
    print_message("%d of %d exclude a candidate\n", n_excluding, n_possible);
    assert_true(n_possible > 200);
    assert_true(n_excluding >= n_possible * 95 / 100);
    train_case_deinit(&c);
}

/* Both facts of a query of two atoms must not be one, read both ways. */
static void test_no_fact_is_used_twice(void **state)
{
    (void)state;
    train_case c;
    train_case_init_dense(&c, 12, 2, 20);
    for (uint64_t i = 0; i < 400; i++) {
        acq_ent answer[4];
        acq_problem *problem = draw_shape(&c, i % 2 ? ACQ_SHAPE_2p : ACQ_SHAPE_3i, i, answer);
        train_case_check_distinct(problem, answer);
        acq_problem_free(problem);
    }
    train_case_deinit(&c);
}

static bool are_equal(const acq_problem *a, const acq_problem *b)
{
    bool same = a->n_literals == b->n_literals && a->n_variables == b->n_variables;
    for (uint32_t i = 0; same && i < a->n_literals; i++) {
        const acq_literal *l = &a->literals[i], *m = &b->literals[i];
        same = l->relation == m->relation && l->is_negated == m->is_negated &&
               l->left.is_variable == m->left.is_variable && l->left.id == m->left.id &&
               l->right.is_variable == m->right.is_variable && l->right.id == m->right.id;
    }
    return same;
}

static void test_the_same_numbers_give_the_same_query(void **state)
{
    (void)state;
    train_case c;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    int n_same = 0;
    train_case_init_dense(&c, 40, 5, 300);
    for (uint64_t i = 0; i < 200; i++) {
        acq_shape_id shape = (acq_shape_id)(i % ACQ_N_SHAPES);
        bool is_hub = i % 2 == 0;
        acq_problem *problems[3];
        for (uint64_t k = 0; k < 3; k++) {
            uint64_t seed = k < 2 ? i : i + 1000;
            problems[k] =
                is_hub ? draw_hub(&c, &params, seed, NULL) : draw_shape(&c, shape, seed, NULL);
        }
        assert_true(are_equal(problems[0], problems[1]));
        n_same += are_equal(problems[0], problems[2]);
        for (int k = 0; k < 3; k++)
            acq_problem_free(problems[k]);
    }
    assert_in_range(n_same, 0, 10);
    train_case_deinit(&c);
}

static void test_hub_queries_hold_all_facts_among_their_terms(void **state)
{
    (void)state;
    train_case c;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    uint32_t n_constants = 0, n_largest = 0;
    train_case_init_dense(&c, 40, 3, 150);
    params.most_atoms = 1000;
    params.least_terms = 4;
    for (uint64_t i = 0; i < 300; i++) {
        acq_ent answer[14];
        acq_problem *problem = draw_hub(&c, &params, i, answer);
        train_terms terms;
        train_case_check(&c, problem, answer);
        train_case_check_distinct(problem, answer);
        train_terms_init(&terms, problem, answer);
        assert_in_range(terms.n, 4, 14);
        assert_true(terms.is_connected);
        assert_int_equal(problem->n_literals, train_terms_count_facts(&terms, &c));
        n_constants += terms.n_constants;
        n_largest += terms.n == 14;
        acq_problem_free(problem);
    }
    assert_true(n_constants > 50 && n_largest > 5);
    train_case_deinit(&c);
}

static void test_dropped_atoms_leave_the_query_connected(void **state)
{
    (void)state;
    train_case c;
    train_case_init_dense(&c, 20, 5, 900);
    for (uint64_t i = 0; i < 200; i++) {
        acq_hub_params params = {.least_terms = 2,
                                 .most_terms = 10,
                                 .most_hubs = 3,
                                 .leaves_out = .9,
                                 .most_atoms = 1 + (uint32_t)(i % 14)};
        acq_ent answer[10];
        acq_problem *problem = draw_hub(&c, &params, i, answer);
        train_terms terms;
        train_terms_init(&terms, problem, answer);
        assert_in_range(problem->n_literals, 1, params.most_atoms);
        assert_int_equal(terms.n, problem->n_variables);
        assert_true(terms.is_connected);
        acq_problem_free(problem);
    }
    train_case_deinit(&c);
}

static void test_constants_follow_their_share(void **state)
{
    (void)state;
    train_case c;
    train_case_init_dense(&c, 40, 3, 150);
    for (int certain = 0; certain < 2; certain++) {
        acq_hub_params params = ACQ_HUB_DEFAULT;
        params.constants = certain * 1e9;
        for (uint64_t i = 0; i < 100; i++) {
            acq_ent answer[14];
            acq_problem *problem = draw_hub(&c, &params, i, answer);
            train_terms terms;
            train_terms_init(&terms, problem, answer);
            if (certain) /* only v and the hubs are variables */
                assert_in_range(problem->n_variables, 1, 1 + params.most_hubs);
            else
                assert_int_equal(terms.n_constants, 0);
            acq_problem_free(problem);
        }
    }
    train_case_deinit(&c);
}

/* 160 facts of one relation and 4 of another: of the facts, 1 in 41 is of the second. */
static void test_rare_relations_are_drawn_too(void **state)
{
    (void)state;
    train_case c;
    int n_rare = 0, n = 2000;
    train_case_init(&c, 44, 2);
    for (acq_ent h = 0; h < 4; h++) {
        for (acq_ent t = 4; t < 44; t++)
            train_case_add(&c, h, 0, t);
        train_case_add(&c, h, 2, (h + 1) % 4);
    }
    train_case_finish(&c);
    for (int i = 0; i < n; i++) {
        acq_ent answer[4];
        acq_problem *problem = draw_shape(&c, ACQ_SHAPE_2p, (uint64_t)i, answer);
        n_rare += problem->literals[1].relation / 2 == 1;
        acq_problem_free(problem);
    }
    assert_in_range(n_rare, n / 2, n);
    train_case_deinit(&c);
}

static void check_every_draw(const train_case *c, uint32_t most_atoms)
{
    for (uint64_t i = 0; i < 30 * (ACQ_N_SHAPES + 1); i++) {
        acq_hub_params params = ACQ_HUB_DEFAULT;
        acq_ent answer[14];
        acq_shape_id shape = (acq_shape_id)(i % (ACQ_N_SHAPES + 1));
        acq_problem *problem = shape == ACQ_N_SHAPES ? draw_hub(c, &params, i, answer)
                                                     : draw_shape(c, shape, i, answer);
        train_case_check(c, problem, answer);
        assert_in_range(problem->n_literals, 1, most_atoms);
        acq_problem_free(problem);
    }
}

static void test_one_fact_gives_one_atom(void **state)
{
    (void)state;
    train_case c;
    train_case_init(&c, 2, 1);
    train_case_add(&c, 0, 0, 1);
    train_case_finish(&c);
    check_every_draw(&c, 1);
    train_case_deinit(&c);
}

static void test_one_fact_of_an_entity_to_itself_gives_one_atom(void **state)
{
    (void)state;
    train_case c;
    train_case_init(&c, 1, 1);
    train_case_add(&c, 0, 0, 0);
    train_case_finish(&c);
    check_every_draw(&c, 1);
    train_case_deinit(&c);
}

static void test_a_star_gives_queries(void **state)
{
    (void)state;
    for (int leaves_out = 0; leaves_out < 2; leaves_out++) {
        train_case c;
        acq_hub_params params = ACQ_HUB_DEFAULT;
        train_case_init(&c, 40, 1);
        for (acq_ent leaf = 1; leaf < 40; leaf++)
            train_case_add(&c, 0, 0, leaf);
        train_case_finish(&c);
        check_every_draw(&c, 13);
        params.leaves_out = leaves_out;
        for (uint64_t i = 0; i < 20; i++) {
            acq_problem *problem = draw_hub(&c, &params, i, NULL);
            assert_in_range(problem->n_literals, 1, 13);
            acq_problem_free(problem);
        }
        train_case_deinit(&c);
    }
}

/* More neighbours than are listed, and rows much longer than the pattern. */
static void test_large_hubs_are_sampled(void **state)
{
    (void)state;
    train_case c;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    params.leaves_out = 0;
    train_case_init(&c, TRAIN_CASE_MOST_ENTITIES, 2);
    for (acq_ent t = 2; t < TRAIN_CASE_MOST_ENTITIES; t++) {
        train_case_add(&c, 0, 0, t);
        train_case_add(&c, t, 2, 1);
    }
    train_case_finish(&c);
    for (uint64_t i = 0; i < 100; i++) {
        acq_ent answer[14];
        acq_problem *problem = draw_hub(&c, &params, i, answer);
        train_case_check(&c, problem, answer);
        acq_problem_free(problem);
    }
    train_case_deinit(&c);
}

static void test_a_graph_without_facts_is_refused(void **state)
{
    (void)state;
    for (int n_entities = 0; n_entities < 2; n_entities++) {
        acq_graph_builder *builder = acq_graph_builder_new();
        acq_graph *graph = NULL;
        acq_sampler *sampler = NULL;
        acq_error error = {0};
        acq_ent id;
        if (n_entities > 0)
            assert_int_equal(acq_graph_builder_add_entity(builder, "a", 1, &id), ACQ_OK);
        assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
        assert_int_equal(acq_sampler_new(graph, &sampler, &error), ACQ_ERR_INPUT);
        assert_string_equal(error.message,
                            "the graph has no facts to read queries off; train on one that has");
        assert_null(sampler);
        acq_graph_free(graph);
        acq_graph_builder_free(builder);
    }
    acq_sampler_free(NULL);
}

static void test_bad_parameters_are_refused(void **state)
{
    (void)state;
    train_case c;
    enum { N_BAD = 5 };
    acq_hub_params bad[N_BAD];
    for (int i = 0; i < N_BAD; i++)
        bad[i] = ACQ_HUB_DEFAULT;
    bad[0].most_terms = bad[0].least_terms = 1;
    bad[1].least_terms = 15;
    bad[2].most_hubs = 0;
    bad[3].most_atoms = 0;
    bad[4].most_terms = ACQ_HUB_MOST_TERMS + 1;
    train_case_init_random(&c, 1);
    for (int i = 0; i < N_BAD; i++) {
        acq_random random = acq_random_start(1, 1);
        acq_problem *problem = NULL;
        acq_error error = {0};
        assert_int_equal(acq_sampler_draw_hub(c.sampler, &bad[i], &random, &problem, NULL, &error),
                         ACQ_ERR_USAGE);
        assert_non_null(strstr(error.message, "need 2 to 1000 terms"));
        assert_null(problem);
    }
    train_case_deinit(&c);
}

#ifdef ACQ_FAULTS

static void test_a_new_sampler_survives_every_failed_allocation(void **state)
{
    (void)state;
    train_case c;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    train_case_init_random(&c, 1);
    for (; status != ACQ_OK; n++) {
        acq_sampler *sampler = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_sampler_new(c.graph, &sampler, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && sampler == NULL));
        assert_int_equal(error.code, status);
        acq_sampler_free(sampler);
    }
    assert_int_equal(n, 7);
    train_case_deinit(&c);
}

static void test_draws_survive_every_failed_allocation(void **state)
{
    (void)state;
    train_case c;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    train_case_init_dense(&c, 30, 3, 200);
    for (int is_hub = 0; is_hub < 2; is_hub++) {
        acq_status status = ACQ_ERR_MEMORY;
        for (size_t n = 1; status != ACQ_OK; n++) {
            acq_random random = acq_random_start(5, 5);
            acq_problem *problem = NULL;
            acq_error error = {0};
            acq_ent answer[14] = {77};
            acq_faults_fail_at(n);
            status =
                is_hub ? acq_sampler_draw_hub(c.sampler, &params, &random, &problem, answer, &error)
                       : acq_sampler_draw_shape(c.sampler, ACQ_SHAPE_pin, &random, &problem, answer,
                                                &error);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK ||
                        (status == ACQ_ERR_MEMORY && problem == NULL && answer[0] == 77));
            assert_int_equal(error.code, status);
            acq_problem_free(problem);
        }
    }
    train_case_deinit(&c);
}

#endif

static void test_shapes_are_drawn_in_their_shares(void **state)
{
    (void)state;
    enum { MANY = 54000 };
    for (int mix = ACQ_MIX_EVEN; mix <= ACQ_MIX_BETAE; mix++) {
        acq_random random = acq_random_start(5, (uint64_t)mix);
        double counts[ACQ_N_SHAPES] = {0};
        for (int i = 0; i < MANY; i++)
            counts[acq_shape_draw((acq_shape_mix)mix, &random)]++;
        for (unsigned s = 0; s < ACQ_N_SHAPES; s++) {
            double even = s < ACQ_N_TRAINING_SHAPES ? 1.0 / 9 : 0;
            double betae = s >= ACQ_N_TRAINING_SHAPES ? 0
                           : s <= ACQ_SHAPE_3i        ? 10.0 / 54
                                                      : 1.0 / 54;
            double share = mix == ACQ_MIX_EVEN ? even : betae;
            assert_true(counts[s] / MANY > share - 0.006 && counts[s] / MANY < share + 0.006);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_drawn_in_their_shares),
        cmocka_unit_test(test_the_answer_satisfies_every_small_query),
        cmocka_unit_test(test_the_answer_satisfies_every_hub_query),
        cmocka_unit_test(test_shapes_have_the_stated_form),
        cmocka_unit_test(test_negated_atoms_exclude_other_candidates),
        cmocka_unit_test(test_no_fact_is_used_twice),
        cmocka_unit_test(test_the_same_numbers_give_the_same_query),
        cmocka_unit_test(test_hub_queries_hold_all_facts_among_their_terms),
        cmocka_unit_test(test_dropped_atoms_leave_the_query_connected),
        cmocka_unit_test(test_constants_follow_their_share),
        cmocka_unit_test(test_rare_relations_are_drawn_too),
        cmocka_unit_test(test_one_fact_gives_one_atom),
        cmocka_unit_test(test_one_fact_of_an_entity_to_itself_gives_one_atom),
        cmocka_unit_test(test_a_star_gives_queries),
        cmocka_unit_test(test_large_hubs_are_sampled),
        cmocka_unit_test(test_a_graph_without_facts_is_refused),
        cmocka_unit_test(test_bad_parameters_are_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_a_new_sampler_survives_every_failed_allocation),
        cmocka_unit_test(test_draws_survive_every_failed_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
