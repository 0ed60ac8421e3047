/* Metrics against cases computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "eval/eval.h"

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

static void test_f1_is_zero_where_nothing_correct_was_found(void **state)
{
    (void)state;
    assert_near(acq_metrics_f1(0, 0, 5), 0.0);
    assert_near(acq_metrics_f1(0, 3, 0), 0.0);
    assert_near(acq_metrics_f1(0, 0, 0), 0.0);
    assert_near(acq_metrics_f1(3, 1, 2), 6.0 / 9.0);
}

/* Set one: 4 correct (3 seen), 4 wrong. Accepted: 2 of the seen, the unseen one, 1 wrong.
 * Set two: 2 correct, none of them seen, 2 wrong; accepted: one correct. It leaves f1_matched. */
static const acq_qac_counts two_sets[] = {
    {.correct = 4, .correct_yes = 3, .seen = 3, .seen_yes = 2, .wrong = 4, .wrong_yes = 1},
    {.correct = 2, .correct_yes = 1, .seen = 0, .seen_yes = 0, .wrong = 2, .wrong_yes = 0},
};

static void test_qac_f1_is_the_mean_over_candidate_sets(void **state)
{
    (void)state;
    acq_qac_metrics m;
    acq_metrics_measure_qac(two_sets, 2, &m);
    assert_near(m.f1, 100.0 * (6.0 / 8.0 + 2.0 / 3.0) / 2.0);
}

static void test_f1_matched_drops_unseen_candidates_and_empty_sets(void **state)
{
    (void)state;
    acq_qac_metrics m;
    acq_metrics_measure_qac(two_sets, 2, &m);
    assert_near(m.f1_matched, 100.0 * 4.0 / 6.0);
}

static void test_shares_are_over_all_candidates_of_their_kind(void **state)
{
    (void)state;
    acq_qac_metrics m;
    acq_metrics_measure_qac(two_sets, 2, &m);
    assert_near(m.wrong_accepted, 100.0 / 6.0);
    assert_near(m.recall_seen, 100.0 * 2.0 / 3.0);
    assert_near(m.recall_unseen, 100.0 * 2.0 / 3.0);
}

static void test_always_yes_scores_two_thirds_on_balanced_sets(void **state)
{
    (void)state;
    acq_qac_counts sets[] = {acq_metrics_get_always_yes(two_sets[0]),
                             acq_metrics_get_always_yes(two_sets[1])};
    acq_qac_metrics m;
    acq_metrics_measure_qac(sets, 2, &m);
    assert_near(m.f1, 200.0 / 3.0);
    assert_near(m.f1_matched, 100.0 * 6.0 / 10.0);
    assert_near(m.wrong_accepted, 100.0);
    assert_near(m.recall_unseen, 100.0);
}

static void test_shares_of_nothing_are_not_numbers(void **state)
{
    (void)state;
    acq_qac_metrics qac;
    acq_qar_metrics qar;
    acq_metrics_measure_qac(NULL, 0, &qac);
    assert_true(isnan(qac.f1) && isnan(qac.f1_matched) && isnan(qac.recall_unseen));
    acq_metrics_measure_qar(NULL, 0, &qar);
    assert_true(isnan(qar.f1) && isnan(qar.recall) && isnan(qar.precision));
}

static void test_auc_counts_ordered_pairs_and_half_of_the_ties(void **state)
{
    (void)state;
    /* correct .9 .5 .5, wrong .5 .1: pairs 2 + 1.5 + 1.5 of 6 */
    acq_scored items[] = {{.5, true}, {.1, false}, {.9, true}, {.5, false}, {.5, true}};
    assert_near(acq_metrics_measure_auc(items, 5), 100.0 * 5.0 / 6.0);
}

static void test_auc_of_equal_scores_is_one_half(void **state)
{
    (void)state;
    acq_scored items[] = {{0, true}, {0, false}, {0, false}};
    assert_near(acq_metrics_measure_auc(items, 3), 50.0);
}

static void test_auc_needs_both_kinds(void **state)
{
    (void)state;
    acq_scored items[] = {{.2, true}, {.4, true}};
    assert_true(isnan(acq_metrics_measure_auc(items, 2)));
    assert_true(isnan(acq_metrics_measure_auc(NULL, 0)));
    acq_scored broken[] = {{NAN, true}, {.4, false}};
    assert_true(isnan(acq_metrics_measure_auc(broken, 2)));
}

/* 6 positives: e right, e right, e wrong, h right, h wrong, h none; 3 n: one answered. */
static const acq_qar_item nine[] = {
    {'e', ACQ_QAR_RIGHT, ACQ_QAR_RIGHT}, {'n', ACQ_QAR_NONE, ACQ_QAR_NONE},
    {'e', ACQ_QAR_RIGHT, ACQ_QAR_RIGHT}, {'n', ACQ_QAR_WRONG, ACQ_QAR_WRONG},
    {'e', ACQ_QAR_WRONG, ACQ_QAR_RIGHT}, {'n', ACQ_QAR_NONE, ACQ_QAR_NONE},
    {'h', ACQ_QAR_RIGHT, ACQ_QAR_RIGHT}, {'h', ACQ_QAR_WRONG, ACQ_QAR_WRONG},
    {'h', ACQ_QAR_NONE, ACQ_QAR_NONE},
};

static void test_qar_published_f1_forgives_a_wrong_tuple_for_a_positive_query(void **state)
{
    (void)state;
    acq_qar_metrics m;
    acq_metrics_measure_qar(nine, 9, &m);
    assert_near(m.recall, 50.0);
    assert_near(m.precision, 75.0);
    assert_near(m.f1, 60.0);
}

static void test_qar_paper_f1_counts_it_against_precision(void **state)
{
    (void)state;
    acq_qar_metrics m;
    acq_metrics_measure_qar(nine, 9, &m);
    assert_near(m.f1_paper, 50.0); /* P = 3/6, R = 3/6 */
}

static void test_qar_verified_f1_follows_the_verifier(void **state)
{
    (void)state;
    acq_qar_metrics m;
    acq_metrics_measure_qar(nine, 9, &m);
    assert_near(m.f1_verified, 100.0 * 8.0 / 11.0); /* P = 4/5, R = 4/6 */
}

static void test_qar_recall_is_split_by_type(void **state)
{
    (void)state;
    acq_qar_metrics m;
    acq_metrics_measure_qar(nine, 9, &m);
    assert_near(m.recall_easy, 100.0 * 2.0 / 3.0);
    assert_near(m.recall_hard, 100.0 / 3.0);
}

static void test_qar_all_none_scores_zero(void **state)
{
    (void)state;
    acq_qar_item items[] = {{'e', ACQ_QAR_NONE, ACQ_QAR_NONE}, {'n', ACQ_QAR_NONE, ACQ_QAR_NONE}};
    acq_qar_metrics m;
    acq_metrics_measure_qar(items, 2, &m);
    assert_near(m.f1, 0.0);
    assert_near(m.recall, 0.0);
    assert_true(isnan(m.precision) && isnan(m.recall_hard));
}

static void test_percentiles_take_the_nearest_rank(void **state)
{
    (void)state;
    double values[200];
    acq_times t;
    for (int i = 0; i < 200; i++)
        values[i] = 200 - i;
    acq_metrics_measure_times(values, 200, &t);
    assert_near(t.mean, 100.5);
    assert_near(t.p50, 100.0);
    assert_near(t.p99, 198.0);
    assert_near(t.max, 200.0);
    acq_metrics_measure_times(values, 1, &t);
    assert_near(t.p50, 1.0);
    assert_near(t.p99, 1.0);
    acq_metrics_measure_times(values, 0, &t);
    assert_true(isnan(t.mean) && isnan(t.max));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f1_is_zero_where_nothing_correct_was_found),
        cmocka_unit_test(test_qac_f1_is_the_mean_over_candidate_sets),
        cmocka_unit_test(test_f1_matched_drops_unseen_candidates_and_empty_sets),
        cmocka_unit_test(test_shares_are_over_all_candidates_of_their_kind),
        cmocka_unit_test(test_always_yes_scores_two_thirds_on_balanced_sets),
        cmocka_unit_test(test_shares_of_nothing_are_not_numbers),
        cmocka_unit_test(test_auc_counts_ordered_pairs_and_half_of_the_ties),
        cmocka_unit_test(test_auc_of_equal_scores_is_one_half),
        cmocka_unit_test(test_auc_needs_both_kinds),
        cmocka_unit_test(test_qar_published_f1_forgives_a_wrong_tuple_for_a_positive_query),
        cmocka_unit_test(test_qar_paper_f1_counts_it_against_precision),
        cmocka_unit_test(test_qar_verified_f1_follows_the_verifier),
        cmocka_unit_test(test_qar_recall_is_split_by_type),
        cmocka_unit_test(test_qar_all_none_scores_zero),
        cmocka_unit_test(test_percentiles_take_the_nearest_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
