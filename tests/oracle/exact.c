/* exact.c - exact search equals brute force on thousands of seeded random cases: best scores,
 * answer sets, K best, classification; every feature at least 200 times.
 * ACQ_CASES in the environment changes the number of cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/problem.h"
#include "search/search.h"
#include "support/case.h"
#include "support/scale.h"

enum { CASES = SCALE(8000, 2000), LEAST_PER_FEATURE = CASES / 40 };

static int by_score(const void *left, const void *right)
{
    const case_tuple *a = left, *b = right;
    return a->score > b->score ? -1 : a->score < b->score;
}

/* Tuples that reach the threshold, best first. */
static size_t expected_answers(const test_case *c, case_tuple **tuples)
{
    size_t n = case_brute_force(c, tuples);
    qsort(*tuples, n, sizeof **tuples, by_score);
    while (n > 0 && (*tuples)[n - 1].score < c->scoring.threshold)
        n--;
    return n;
}

static double tuple_score(const test_case *c, const case_tuple *tuples, size_t n,
                          const acq_ent *values)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(tuples[i].values, values, c->query->n_free * sizeof *values) == 0)
            return tuples[i].score;
    return -1;
}

static void check_answers(const test_case *c, uint64_t seed, const case_tuple *tuples, size_t n,
                          const acq_search_result *result, uint64_t limit)
{
    size_t wanted = limit != 0 && limit < n ? limit : n;
    if (result->n_answers != wanted)
        fail_msg("seed %lu limit %lu: %zu answers, not %zu", seed, limit, result->n_answers,
                 wanted);
    assert_true(result->complete);
    assert_int_equal(result->outcome, wanted == 0 ? ACQ_NONE : ACQ_ANSWERED);
    for (size_t i = 0; i < wanted; i++) {
        const acq_assignment *answer = &result->answers[i];
        if (answer->score != tuples[i].score)
            fail_msg("seed %lu limit %lu: answer %zu scores %g, not %g", seed, limit, i,
                     answer->score, tuples[i].score);
        if (case_score(c, answer->values) != answer->score)
            fail_msg("seed %lu limit %lu: witness %zu does not have its score", seed, limit, i);
        if (tuple_score(c, tuples, n, answer->values) != answer->score)
            fail_msg("seed %lu limit %lu: answer %zu is not its tuple's best", seed, limit, i);
        for (size_t k = 0; k < i; k++)
            if (memcmp(answer->values, result->answers[k].values,
                       c->query->n_free * sizeof(acq_ent)) == 0)
                fail_msg("seed %lu limit %lu: answers %zu and %zu are the same", seed, limit, i, k);
    }
}

static void ask(const test_case *c, uint64_t seed, const case_tuple *tuples, size_t n,
                uint64_t limit)
{
    acq_problem *problem = NULL;
    acq_search_result result;
    acq_error error = {0};
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    params.scoring = c->scoring;
    params.limit = limit;
    assert_int_equal(acq_problem_new(c->query, c->n_entities, &problem, &error), ACQ_OK);
    assert_int_equal(acq_search_exact(problem, &c->predictor, &params, &result, &error), ACQ_OK);
    check_answers(c, seed, tuples, n, &result, limit);
    acq_search_result_deinit(&result);
    acq_problem_free(problem);
}

/* Classification of one tuple: the Boolean problem with its values put in. */
static void check(const test_case *c, uint64_t seed, const case_tuple *tuple)
{
    acq_problem *problem = NULL;
    acq_search_result result;
    acq_error error = {0};
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    params.scoring = c->scoring;
    acq_status status =
        acq_problem_new_fixed(c->query, c->n_entities, tuple->values, &problem, &error);
    assert_int_equal(status, ACQ_OK);
    assert_int_equal(acq_search_exact(problem, &c->predictor, &params, &result, &error), ACQ_OK);
    bool yes = tuple->score >= c->scoring.threshold;
    if ((result.outcome == ACQ_ANSWERED) != yes)
        fail_msg("seed %lu: check says %d for a tuple that scores %g", seed, result.outcome,
                 tuple->score);
    if (yes && result.answers[0].score != tuple->score)
        fail_msg("seed %lu: check scores %g, not %g", seed, result.answers[0].score, tuple->score);
    acq_search_result_deinit(&result);
    acq_problem_free(problem);
}

static void test_exact_search_equals_brute_force(void **unused)
{
    size_t seen[CASE_N_FEATURES] = {0}, n_all = count_cases(CASES), n_none = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= n_all; seed++) {
        test_case c;
        case_tuple *tuples;
        case_init(&c, seed);
        size_t n = expected_answers(&c, &tuples);
        n_none += n == 0;
        ask(&c, seed, tuples, n, 1);
        ask(&c, seed, tuples, n, 0);
        ask(&c, seed, tuples, n, 2 + seed % 4);
        for (size_t i = 0; i < 3; i++) {
            size_t which = (seed * 7 + i * 13) % (n + 3);
            check(&c, seed, &tuples[which < n ? which : 0]);
        }
        for (int f = 0; f < CASE_N_FEATURES; f++)
            seen[f] += c.features[f];
        free(tuples);
        case_deinit(&c);
    }
    printf("%zu cases, %zu without an answer", n_all, n_none);
    for (int f = 0; f < CASE_N_FEATURES; f++) {
        printf(", %zu with %s", seen[f], case_feature_names[f]);
        if (n_all >= CASES)
            assert_true(seen[f] >= LEAST_PER_FEATURE);
    }
    printf("\n");
    if (n_all >= CASES)
        assert_true(n_none >= LEAST_PER_FEATURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_search_equals_brute_force)};
    return cmocka_run_group_tests_name("exact search", tests, NULL, NULL);
}
