/* policy_theorems.c - what the paper proves of the search, on random small cases.
 *
 *   completeness  every value keeps a probability of at least e^-100 / |D| at every step, also
 *                 with weights a hundred times too large; so the best score tends to the exact
 *                 one: on graphs with up to 250 assignments it is reached within 3,000 steps
 *   soundness     every answer has the score it claims, by the verifier and by brute force
 *
 * ACQ_CASES in the environment changes the number of cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "answer/answer.h"
#include "engine/engine.h"
#include "search/policy/walk.h"
#include "support/policy_case.h"
#include "support/scale.h"

enum {
    CASES = SCALE(200, 40),
    STEPS = 12,
    MOST_TERMS = 32,
    MOST_ASSIGNMENTS = 250,
    LONG_SEARCH = 3000
};

static const uint32_t dims[] = {4, 8, 16, 20, 32};

static void check_probabilities(const policy_case *p, const acq_walk *walk, const double *mu,
                                uint64_t seed)
{
    double sums[MOST_TERMS] = {0};
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t term = walk->class_terms[c];
        double domain = p->board->terms[term].variable == ACQ_NO_ID ? 1 : p->c.n_entities;
        sums[term] += walk->sizes[c] * mu[c];
        if (!(mu[c] >= exp(-100) / domain * (1 - 1e-12)))
            fail_msg("seed %lu, class %u: probability %g", seed, c, mu[c]);
    }
    for (uint32_t t = 0; t < p->board->n_terms; t++)
        if (fabs(sums[t] - 1) > 1e-9)
            fail_msg("seed %lu, term %u: probabilities add up to %g", seed, t, sums[t]);
}

/* Steps of the policy itself, with a look at the probabilities of each. */
static double walk_along(policy_case *p, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 31);
    acq_walk walk;
    acq_rows rows = {0};
    acq_step *steps[2];
    acq_ent values[MOST_TERMS];
    uint32_t chosen[MOST_TERMS];
    double mu[CASE_MOST_ENTITIES * CASE_MOST_VARIABLES + MOST_TERMS], room[MOST_TERMS], least = 1;
    assert_int_equal(acq_walk_init(&walk, p->board), ACQ_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(acq_step_new(&steps[i]), ACQ_OK);
    acq_walk_draw_uniform(&walk, &random, values);
    for (int step = 0; step < STEPS; step++) {
        const acq_step *before = step == 0 ? NULL : steps[(step + 1) % 2];
        assert_int_equal(acq_walk_set(&walk, values), ACQ_OK);
        acq_rows_clear(&rows);
        assert_int_equal(acq_rows_add(&rows, &walk, step == 0 ? ACQ_NO_ID : 0), ACQ_OK);
        assert_int_equal(acq_step_forward(steps[step % 2], p->policy, &rows, before, false),
                         ACQ_OK);
        acq_choice_get_probabilities(&walk, acq_step_get_logits(steps[step % 2]), mu, room);
        check_probabilities(p, &walk, mu, seed);
        for (uint32_t c = 0; c < walk.n_classes; c++)
            least = fmin(least, mu[c]);
        acq_choice_draw(&walk, mu, seed, 0, (uint64_t)step, values, chosen, room);
    }
    for (int i = 0; i < 2; i++)
        acq_step_free(steps[i]);
    acq_rows_deinit(&rows);
    acq_walk_deinit(&walk);
    return least;
}

static void test_every_value_keeps_a_probability(void **unused)
{
    double least = 1;
    (void)unused;
    for (uint64_t seed = 1; seed <= count_cases(CASES); seed++) {
        policy_case p;
        policy_case_init(&p, seed, dims[seed % 5], 100);
        if (p.board->n_free_terms > 0)
            least = fmin(least, walk_along(&p, seed));
        policy_case_deinit(&p);
    }
    printf("%zu cases: the least probability is %.1e\n", count_cases(CASES), least);
    assert_true(least < 1e-40); /* the clip was in force */
}

static acq_engine_params policy_params(const policy_case *p, uint64_t seed, uint64_t steps)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.engine = ACQ_ENGINE_policy;
    params.search.scoring = p->c.scoring;
    params.search.seconds = 0;
    params.search.seed = seed;
    params.search.steps = steps;
    params.search.policy.policy = p->policy;
    return params;
}

static bool ask(const policy_case *p, const acq_predictor *predictor,
                const acq_engine_params *params, acq_engine_result *result)
{
    acq_error error = {0};
    if (acq_engine_ask(p->c.query, predictor, params, result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result->outcome == ACQ_ANSWERED;
}

static bool is_claimed(const policy_case *p, const acq_predictor *predictor,
                       const acq_engine_answer *answer)
{
    double score = acq_verify_score(p->c.query, predictor, &p->c.scoring, answer->values);
    return score == answer->score && score >= p->c.scoring.threshold;
}

/* The case's own scored links, and the perfect predictor of what is certain in it. */
static size_t check_answers(const policy_case *p, uint64_t seed)
{
    acq_predictor *perfect = NULL;
    acq_engine_result result;
    acq_engine_params params = policy_params(p, seed, 60);
    assert_int_equal(acq_predictor_new_perfect(p->graph, p->graph, "x", &perfect, NULL, NULL),
                     ACQ_OK);
    bool is_answered = ask(p, &p->c.predictor, &params, &result);
    if (is_answered && (!is_claimed(p, &p->c.predictor, &result.answers[0]) ||
                        case_score(&p->c, result.answers[0].values) != result.answers[0].score))
        fail_msg("seed %lu: an answer does not have its score", seed);
    size_t n = is_answered;
    acq_engine_result_deinit(&result);
    is_answered = ask(p, perfect, &params, &result);
    if (is_answered && !is_claimed(p, perfect, &result.answers[0]))
        fail_msg("seed %lu: an answer from the perfect predictor does not hold", seed);
    n += is_answered;
    acq_engine_result_deinit(&result);
    acq_predictor_free(perfect);
    return n;
}

static void test_every_answer_is_one(void **unused)
{
    size_t n_answers = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 2 * count_cases(CASES); seed++) {
        policy_case p;
        policy_case_init(&p, seed, dims[seed % 5], 1);
        n_answers += check_answers(&p, seed);
        policy_case_deinit(&p);
    }
    printf("%zu answers in %zu searches\n", n_answers, 4 * count_cases(CASES));
    assert_true(n_answers > count_cases(CASES));
}

/* Score of the best answer; 0 without one. */
static double best_score(const policy_case *p, const acq_engine_params *params)
{
    acq_engine_result result;
    double score = ask(p, &p->c.predictor, params, &result) ? result.answers[0].score : 0;
    acq_engine_result_deinit(&result);
    return score;
}

static bool is_tiny(const test_case *c)
{
    return c->query->n_variables > 0 &&
           pow(c->n_entities, c->query->n_variables) <= MOST_ASSIGNMENTS;
}

static void test_long_searches_reach_the_best_score(void **unused)
{
    const uint64_t steps[] = {3, 30, 300, LONG_SEARCH};
    size_t n_compared = 0, n_reached[4] = {0};
    (void)unused;
    for (uint64_t seed = 1; n_compared < count_cases(CASES); seed++) {
        policy_case p;
        policy_case_init(&p, seed, dims[seed % 5], 1);
        acq_engine_params exact = ACQ_ENGINE_DEFAULT;
        exact.search.scoring = p.c.scoring;
        for (int i = 0; i < 4 && is_tiny(&p.c); i++) {
            acq_engine_params params = policy_params(&p, seed, steps[i]);
            bool is_reached = best_score(&p, &params) == best_score(&p, &exact);
            n_reached[i] += is_reached;
            if (!is_reached && steps[i] == LONG_SEARCH)
                fail_msg("seed %lu: the best score is not reached in %d steps", seed, LONG_SEARCH);
        }
        n_compared += is_tiny(&p.c);
        policy_case_deinit(&p);
    }
    printf("%zu cases: best score after 3, 30, 300, 3000 steps in %zu, %zu, %zu, %zu\n", n_compared,
           n_reached[0], n_reached[1], n_reached[2], n_reached[3]);
    assert_true(n_reached[0] <= n_reached[1] && n_reached[1] <= n_reached[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_keeps_a_probability),
        cmocka_unit_test(test_every_answer_is_one),
        cmocka_unit_test(test_long_searches_reach_the_best_score),
    };
    return cmocka_run_group_tests_name("policy theorems", tests, NULL, NULL);
}
