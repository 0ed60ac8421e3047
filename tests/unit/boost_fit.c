/* boost_fit.c - what the trees learn: known functions, missing values, monotone features, weights,
 * rows there is nothing to learn from, and the same bits at any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "unit/boost_case.h"

enum { FEATURES = 11 };

static double get_or_0(float value)
{
    return isnan(value) ? 0 : (double)value;
}

static double linear(const float *x)
{
    return 2.5 * get_or_0(x[0]) - 1.5 * get_or_0(x[1]) + .5 * get_or_0(x[2]) - 1;
}

static double crossed(const float *x)
{
    return x[3] * x[4] > 0 ? 2 : -2;
}

static double missing_matters(const float *x)
{
    return isnan(x[0]) ? 2 : x[0] > 0 ? 1 : -2;
}

static double rare(const float *x)
{
    return 5 * x[0] - 8;
}

static double flat(const float *x)
{
    (void)x;
    return -1;
}

static void test_a_known_function_is_recovered(void **state)
{
    (void)state;
    boost_odds functions[] = {linear, crossed, missing_matters};
    for (size_t i = 0; i < 3; i++) {
        boost_case rows = boost_case_make(8000, FEATURES, .1, functions[i], i);
        boost_case others = boost_case_make(4000, FEATURES, .1, functions[i], i + 100);
        acq_boost_params params = boost_case_params();
        acq_boost *boost = boost_case_fit(&rows, &params);
        double best = boost_case_loss(&others, others.odds);
        assert_true(boost_case_judge(&others, boost) < best + .04);
        acq_boost_free(boost);
        boost_case_free(&rows);
        boost_case_free(&others);
    }
}

/* Every second true row is labelled; what is stated is how many are true. The mean of several
 * boosts is as good. */
static void test_labels_that_know_half_of_the_truth(void **state)
{
    (void)state;
    for (uint32_t n_bags = 1; n_bags < 4; n_bags += 2) {
        boost_case rows = boost_case_make(12000, FEATURES, .1, crossed, 7);
        boost_case others = boost_case_make(4000, FEATURES, .1, crossed, 107);
        acq_boost_params params = boost_case_params();
        uint8_t *labels = (uint8_t *)rows.data.labels;
        for (size_t i = 0; i < rows.data.n; i++)
            labels[i] = labels[i] && i % 2 == 0;
        params.missing = 1;
        params.n_bags = n_bags;
        acq_boost *boost = boost_case_fit(&rows, &params);
        double loss = boost_case_judge(&others, boost);
        print_message("%u: loss %.3f, best %.3f\n", n_bags, loss,
                      boost_case_loss(&others, others.odds));
        assert_true(loss < boost_case_loss(&others, others.odds) + .09);
        acq_boost_free(boost);
        boost_case_free(&rows);
        boost_case_free(&others);
    }
}

/* Without anything to learn the trees stay near the base rate. */
static void test_noise_is_not_learned(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(8000, FEATURES, 0, flat, 5);
    boost_case others = boost_case_make(8000, FEATURES, 0, flat, 6);
    acq_boost_params params = boost_case_params();
    params.n_trees = 10;
    acq_boost *boost = boost_case_fit(&rows, &params);
    assert_true(boost_case_judge(&others, boost) < boost_case_loss(&others, others.odds) + .01);
    acq_boost_free(boost);
    boost_case_free(&rows);
    boost_case_free(&others);
}

/* One row in two hundred is true; stated and true shares agree in every tenth of the rows. */
static void test_probabilities_are_calibrated_where_truth_is_rare(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(20000, 3, 0, rare, 8);
    boost_case others = boost_case_make(20000, 3, 0, rare, 9);
    acq_boost_params params = boost_case_params();
    acq_boost *boost = boost_case_fit(&rows, &params);
    double stated[10] = {0}, truth[10] = {0}, n[10] = {0};
    for (size_t i = 0; i < others.data.n; i++) {
        double p = acq_boost_to_probability(acq_boost_score(boost, others.x + i * 3));
        int bin = (int)((others.x[i * 3] + 1) * 4.999);
        stated[bin] += p;
        truth[bin] += others.labels[i];
        n[bin]++;
    }
    for (int i = 0; i < 10; i++)
        assert_true(fabs(stated[i] - truth[i]) / n[i] < .02);
    acq_boost_free(boost);
    boost_case_free(&rows);
    boost_case_free(&others);
}

/* ---- monotone ---- */

/* A rising feature that also has a stretch where the data fall, a falling one, and a free one. */
static double bent(const float *x)
{
    double bend = x[0] > -.2F && x[0] < .4F ? -4 * get_or_0(x[0]) : 2 * get_or_0(x[0]);
    return bend - 2 * get_or_0(x[1]) + 3 * sin(5 * get_or_0(x[2])) + get_or_0(x[3] * x[0]);
}

/* Walks one feature upwards with the others fixed at random, missing ones among them. */
static void check_direction(const acq_boost *boost, uint32_t feature, int direction,
                            acq_random *random)
{
    enum { STEPS = 100 };
    float x[STEPS][FEATURES], scores[STEPS];
    for (uint32_t f = 0; f < FEATURES; f++) {
        bool is_missing = acq_random_below(random, 8) == 0;
        float value = (float)(acq_random_unit(random) * 2.4 - 1.2);
        for (int i = 0; i < STEPS; i++)
            x[i][f] = is_missing ? NAN : value;
    }
    for (int i = 0; i < STEPS; i++)
        x[i][feature] = -1.2F + .024F * (float)i;
    acq_boost_score_many(boost, x[0], STEPS, scores);
    for (int i = 1; i < STEPS; i++)
        assert_true(direction > 0 ? scores[i] >= scores[i - 1] : scores[i] <= scores[i - 1]);
}

static void test_monotone_features_are_monotone_everywhere(void **state)
{
    (void)state;
    static const int8_t monotone[FEATURES] = {1, -1, 0, 1, -1};
    boost_case rows = boost_case_make(2000, FEATURES, .1, bent, 10);
    acq_random random = acq_random_start(10, 10);
    for (uint32_t depth = 1; depth <= 8; depth++) {
        acq_boost_params params = boost_case_params();
        params.monotone = monotone;
        params.depth = depth;
        params.n_trees = 15;
        params.least_hessian = 1;
        acq_boost *boost = boost_case_fit(&rows, &params);
        for (int i = 0; i < 40; i++) {
            for (uint32_t f = 0; f < FEATURES; f++) {
                if (monotone[f] != 0)
                    check_direction(boost, f, monotone[f], &random);
            }
        }
        acq_boost_free(boost);
    }
    boost_case_free(&rows);
}

static void test_constraints_cost_nothing_where_they_hold(void **state)
{
    (void)state;
    static const int8_t monotone[FEATURES] = {1, -1, 1};
    boost_case rows = boost_case_make(8000, FEATURES, 0, linear, 11);
    boost_case others = boost_case_make(4000, FEATURES, 0, linear, 12);
    acq_boost_params params = boost_case_params();
    params.monotone = monotone;
    acq_boost *boost = boost_case_fit(&rows, &params);
    assert_true(boost_case_judge(&others, boost) < boost_case_loss(&others, others.odds) + .015);
    acq_boost_free(boost);
    boost_case_free(&rows);
    boost_case_free(&others);
}

/* ---- missing values ---- */

/* Mean over the second feature, which has nothing to say. */
static double get_mean_score(const acq_boost *boost, float first)
{
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        float x[2] = {first, -1 + .02F * (float)i};
        sum += acq_boost_score(boost, x) / 100;
    }
    return sum;
}

static void test_missing_values_take_the_side_that_fits(void **state)
{
    (void)state;
    static const int8_t monotone[2] = {1, 0};
    boost_case rows = boost_case_make(10000, 2, .3, missing_matters, 13);
    for (int i = 0; i < 2; i++) {
        acq_boost_params params = boost_case_params();
        params.monotone = i == 0 ? NULL : monotone;
        acq_boost *boost = boost_case_fit(&rows, &params);
        assert_true(fabs(get_mean_score(boost, NAN) - 2) < .3);
        assert_true(fabs(get_mean_score(boost, .5F) - 1) < .3);
        assert_true(fabs(get_mean_score(boost, -.5F) + 2) < .3);
        acq_boost_free(boost);
    }
    boost_case_free(&rows);
}

static void test_missing_values_never_seen_are_scored(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(2000, 3, 0, linear, 14);
    acq_boost_params params = boost_case_params();
    acq_boost *boost = boost_case_fit(&rows, &params);
    float x[3] = {NAN, NAN, NAN};
    assert_true(isfinite(acq_boost_score(boost, x)));
    acq_boost_free(boost);
    boost_case_free(&rows);
}

/* ---- weights ---- */

/* A row of weight 3 is three rows. */
static void test_weights_count_rows(void **state)
{
    (void)state;
    enum { N = 1500 };
    boost_case rows = boost_case_make(N, 4, .1, linear, 15);
    boost_case repeated = boost_case_make(3 * N, 4, .1, linear, 16);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < 3; k++) {
            memcpy(repeated.x + (3 * i + k) * 4, rows.x + i * 4, 4 * sizeof(float));
            repeated.labels[3 * i + k] = rows.labels[i];
        }
        rows.weights[i] = 3;
    }
    rows.data.weights = rows.weights;
    acq_boost_params params = boost_case_params();
    params.row_share = 1;
    acq_boost *one = boost_case_fit(&rows, &params), *other = boost_case_fit(&repeated, &params);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(acq_boost_score(one, rows.x + i * 4) -
                         acq_boost_score(other, rows.x + i * 4)) < 1e-4);
    acq_boost_free(one);
    acq_boost_free(other);
    boost_case_free(&rows);
    boost_case_free(&repeated);
}

static void test_rows_without_weight_do_not_count(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(4000, 4, .1, linear, 17);
    rows.data.weights = rows.weights;
    for (size_t i = 0; i < rows.data.n; i++)
        rows.weights[i] = i % 2 == 0 ? 1 : 0;
    acq_boost_params params = boost_case_params();
    params.n_trees = 0;
    acq_boost *boost = boost_case_fit(&rows, &params);
    double positive = 0;
    for (size_t i = 0; i < rows.data.n; i += 2)
        positive += rows.labels[i];
    double expected = log(positive / ((double)rows.data.n / 2 - positive));
    assert_true(fabs(acq_boost_score(boost, rows.x) - expected) < 1e-5);
    acq_boost_free(boost);
    boost_case_free(&rows);
}

/* ---- nothing to learn from ---- */

static void check_share(acq_boost_data data, double expected)
{
    acq_boost_params params = boost_case_params();
    acq_boost *boost = NULL;
    float x[FEATURES] = {0};
    assert_int_equal(acq_boost_fit(&data, &params, &boost, NULL), ACQ_OK);
    assert_true(fabs(acq_boost_to_probability(acq_boost_score(boost, x)) - expected) < 1e-6);
    x[0] = NAN;
    assert_true(fabs(acq_boost_to_probability(acq_boost_score(boost, x)) - expected) < 1e-6);
    acq_boost_free(boost);
}

static void test_one_label_or_no_rows_give_the_smoothed_share(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(100, 3, 0, flat, 18);
    memset(rows.labels, 1, 100);
    check_share(rows.data, 100.5 / 101);
    memset(rows.labels, 0, 100);
    check_share(rows.data, .5 / 101);
    rows.data.n = 0;
    check_share(rows.data, .5);
    boost_case_free(&rows);
    check_share((acq_boost_data){.labels = (const uint8_t[]){0, 1}, .n = 2}, .5);
}

static void test_constant_features_leave_the_base_rate(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(3000, 3, 0, flat, 19);
    double positive = 0;
    for (size_t i = 0; i < rows.data.n; i++) {
        rows.x[3 * i] = 4;
        rows.x[3 * i + 1] = NAN;
        rows.x[3 * i + 2] = -INFINITY;
        positive += rows.labels[i];
    }
    acq_boost_params params = boost_case_params();
    acq_boost *boost = boost_case_fit(&rows, &params);
    double p = acq_boost_to_probability(acq_boost_score(boost, rows.x));
    assert_true(fabs(p - positive / (double)rows.data.n) < .01);
    acq_boost_free(boost);
    boost_case_free(&rows);
}

/* Where the prior says 3 or more, the larger of what it says and of what was learnt counts. */
static void test_a_sure_prior_stands(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(4000, 3, .2, linear, 25);
    acq_boost_params params = boost_case_params();
    for (size_t i = 0; i < rows.data.n; i++)
        rows.labels[i] = rows.x[3 * i] > .5F;
    acq_boost *prior = boost_case_fit(&rows, &params);
    for (size_t i = 0; i < rows.data.n; i++) /* less than half of them are held out */
        rows.labels[i] = rows.labels[i] && i % 5 < 2;
    size_t n_sure = 0, n_raised = 0;
    params.prior = prior;
    params.missing = 1;
    acq_boost *boost = boost_case_fit(&rows, &params);
    for (size_t i = 0; i < rows.data.n; i++) {
        const float *x = rows.x + 3 * i;
        double learnt = acq_boost_score(boost, x), before = acq_boost_score(prior, x);
        double given = acq_boost_score_given(boost, x);
        bool is_sure = before >= (double)ACQ_BOOST_SURE;
        acq_boost_judge judge = {boost, {.25F, -.5F}};
        assert_true(acq_boost_score_given(prior, x) == -INFINITY); /* it has none itself */
        assert_true(is_sure ? fabs(given - before) < 1e-5 : given == -INFINITY);
        double expected = is_sure ? fmax(learnt + .25, before - .5) : learnt + .25;
        assert_true(fabs(acq_boost_judge_one(judge, x) - expected) < 1e-5);
        judge.shift.given = ACQ_BOOST_NOT_GIVEN;
        assert_true(fabs(acq_boost_judge_one(judge, x) - (learnt + .25)) < 1e-5);
        n_sure += is_sure;
        n_raised += expected > learnt + .25;
    }
    assert_true(n_sure > 20 && n_raised > 0);
    acq_boost_free(prior);
    acq_boost_free(boost);
    boost_case_free(&rows);
}

static void expect_refused(const boost_case *rows, acq_boost_params params, acq_status expected)
{
    acq_boost *boost = NULL;
    acq_error error = {0};
    assert_int_equal(acq_boost_fit(&rows->data, &params, &boost, &error), expected);
    assert_null(boost);
    assert_int_equal(error.code, expected);
}

static void test_wrong_options_and_rows_are_refused(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(50, 3, 0, linear, 20);
    acq_boost_params good = boost_case_params(), bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].depth = 0;
    bad[1].depth = 9;
    bad[2].rate = 0;
    bad[3].rate = NAN;
    bad[4].row_share = 1.5;
    bad[5].l2 = -1;
    bad[6].least_hessian = NAN;
    bad[7].row_share = 0;
    for (int i = 0; i < 8; i++)
        expect_refused(&rows, bad[i], ACQ_ERR_USAGE);
    rows.labels[7] = 2;
    expect_refused(&rows, good, ACQ_ERR_INPUT);
    rows.labels[7] = 1;
    rows.data.weights = rows.weights;
    rows.weights[3] = NAN;
    expect_refused(&rows, good, ACQ_ERR_INPUT);
    rows.weights[3] = -1;
    expect_refused(&rows, good, ACQ_ERR_INPUT);
    rows.data.n_features = 257;
    expect_refused(&rows, good, ACQ_ERR_LIMIT);
    boost_case_free(&rows);
}

/* ---- the curve ---- */

/* Trees that state three times the log-odds are brought back, and stay in order. */
static void test_a_curve_makes_odds_honest_and_keeps_their_order(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(8000, 3, 0, linear, 24);
    acq_boost_params params = boost_case_params();
    acq_boost *boost = boost_case_fit(&rows, &params);
    float *stated = malloc(rows.data.n * sizeof *stated);
    for (size_t i = 0; i < rows.data.n; i++) {
        stated[i] = (float)acq_boost_score(boost, rows.x + 3 * i);
        rows.labels[i] = i % 1000 < 1000 * acq_boost_to_probability((double)stated[i] / 3);
        rows.weights[i] = stated[i] < 3.1F ? 1 : 0; /* the last steps have rows, but no weight */
    }
    rows.data.weights = rows.weights;
    acq_boost_straighten(boost, stated, &rows.data, 0);
    for (size_t i = 0; i < rows.data.n; i++) {
        double now = acq_boost_score(boost, rows.x + 3 * i);
        double last = i == 0 ? now : acq_boost_score(boost, rows.x + 3 * (i - 1));
        assert_true(isfinite(now));
        assert_true(i == 0 || stated[i] == stated[i - 1] ||
                    (stated[i] > stated[i - 1] ? now >= last : now <= last));
        if (fabsf(stated[i]) < 2)
            assert_true(fabs(now - (double)stated[i] / 3) < .4);
    }
    free(stated);
    acq_boost_free(boost);
    boost_case_free(&rows);
}

/* Odds that were worth no more than lower ones, and odds beyond all that were judged. */
static void test_a_curve_promises_no_more_than_was_seen(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(8000, 3, 0, linear, 25);
    acq_boost_params params = boost_case_params();
    acq_boost *boost = boost_case_fit(&rows, &params);
    float *stated = malloc(rows.data.n * sizeof *stated);
    size_t n_high = 0;
    for (size_t i = 0; i < rows.data.n; i++) {
        stated[i] = (float)acq_boost_score(boost, rows.x + 3 * i);
        n_high += stated[i] > 0;
        rows.labels[i] = stated[i] > 0 && i % 10 < 3;
        rows.weights[i] = stated[i] < 1 ? 1 : 0; /* nobody has seen more */
    }
    rows.data.weights = rows.weights;
    acq_boost_straighten(boost, stated, &rows.data, 0);
    assert_true(n_high > 1000);
    for (size_t i = 0; i < rows.data.n; i++) {
        double p = acq_boost_to_probability(acq_boost_score(boost, rows.x + 3 * i));
        assert_true(p < .42);
        assert_true(stated[i] < .5F || p > .2);
    }
    free(stated);
    acq_boost_free(boost);
    boost_case_free(&rows);
}

/* ---- repeatable ---- */

static void test_threads_and_ways_of_scoring_give_the_same_bits(void **state)
{
    (void)state;
    enum { N = 17000 };
    boost_case rows = boost_case_make(N, FEATURES, .2, missing_matters, 21);
    float *scores[3];
    for (int i = 0; i < 3; i++) {
        acq_boost_params params = boost_case_params();
        params.n_threads = 1U << i;
        acq_boost *boost = boost_case_fit(&rows, &params);
        scores[i] = malloc(N * sizeof(float));
        acq_boost_score_many(boost, rows.x, N, scores[i]);
        for (size_t r = 0; r < N; r += 97)
            assert_true((double)scores[i][r] == acq_boost_score(boost, rows.x + r * FEATURES));
        acq_boost_free(boost);
    }
    assert_memory_equal(scores[0], scores[1], N * sizeof(float));
    assert_memory_equal(scores[0], scores[2], N * sizeof(float));
    for (int i = 0; i < 3; i++)
        free(scores[i]);
    boost_case_free(&rows);
}

static void test_seeds_differ(void **state)
{
    (void)state;
    boost_case rows = boost_case_make(3000, FEATURES, .2, missing_matters, 22);
    acq_boost_params params = boost_case_params();
    acq_boost *one = boost_case_fit(&rows, &params);
    params.seed = 2;
    acq_boost *other = boost_case_fit(&rows, &params);
    size_t n_different = 0;
    for (size_t r = 0; r < rows.data.n; r++)
        n_different += acq_boost_score(one, rows.x + r * FEATURES) !=
                       acq_boost_score(other, rows.x + r * FEATURES);
    assert_true(n_different > rows.data.n / 2);
    acq_boost_free(one);
    acq_boost_free(other);
    boost_case_free(&rows);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
#ifdef ACQ_FAULTS
    boost_case rows = boost_case_make(300, 3, .1, linear, 23);
    acq_boost_params params = boost_case_params();
    params.n_trees = 2;
    params.n_threads = 1;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 0;
    while (status != ACQ_OK) {
        acq_boost *boost = NULL;
        acq_error error = {0};
        acq_faults_fail_at(++n);
        status = acq_boost_fit(&rows.data, &params, &boost, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && boost == NULL));
        assert_int_equal(error.code, status);
        acq_boost_free(boost);
    }
    assert_true(n > 10);
    boost_case_free(&rows);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_known_function_is_recovered),
        cmocka_unit_test(test_labels_that_know_half_of_the_truth),
        cmocka_unit_test(test_noise_is_not_learned),
        cmocka_unit_test(test_probabilities_are_calibrated_where_truth_is_rare),
        cmocka_unit_test(test_monotone_features_are_monotone_everywhere),
        cmocka_unit_test(test_constraints_cost_nothing_where_they_hold),
        cmocka_unit_test(test_missing_values_take_the_side_that_fits),
        cmocka_unit_test(test_missing_values_never_seen_are_scored),
        cmocka_unit_test(test_weights_count_rows),
        cmocka_unit_test(test_rows_without_weight_do_not_count),
        cmocka_unit_test(test_one_label_or_no_rows_give_the_smoothed_share),
        cmocka_unit_test(test_constant_features_leave_the_base_rate),
        cmocka_unit_test(test_wrong_options_and_rows_are_refused),
        cmocka_unit_test(test_a_curve_makes_odds_honest_and_keeps_their_order),
        cmocka_unit_test(test_a_curve_promises_no_more_than_was_seen),
        cmocka_unit_test(test_threads_and_ways_of_scoring_give_the_same_bits),
        cmocka_unit_test(test_a_sure_prior_stands),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
