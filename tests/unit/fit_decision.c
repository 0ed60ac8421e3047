/* fit_decision.c - the p from which a yes serves F1 best, against all thresholds by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "fit/parts.h"

enum { MOST = 24, QUESTIONS = 40 };

typedef struct question {
    double p[MOST];
    bool is_true[MOST];
    size_t n;
} question;

static double find_mean_f1(const question *questions, double least)
{
    double sum = 0;
    for (size_t q = 0; q < QUESTIONS; q++) {
        double hits = 0, wrong = 0, missed = 0;
        for (size_t i = 0; i < questions[q].n; i++) {
            bool is_yes = questions[q].p[i] >= least;
            hits += is_yes && questions[q].is_true[i];
            wrong += is_yes && !questions[q].is_true[i];
            missed += !is_yes && questions[q].is_true[i];
        }
        sum += hits > 0 ? 2 * hits / (2 * hits + wrong + missed) : 0;
    }
    return sum / QUESTIONS;
}

static void test_no_threshold_is_better(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        acq_random random = acq_random_start(seed, 0);
        acq_fit_decision_tally tally = {0};
        static question questions[QUESTIONS];
        for (size_t q = 0; q < QUESTIONS; q++) {
            question *one = &questions[q];
            one->n = 1 + acq_random_below(&random, MOST);
            for (size_t i = 0; i < one->n; i++) {
                one->p[i] = acq_random_unit(&random);
                one->is_true[i] = i == 0 || acq_random_unit(&random) < one->p[i];
            }
            acq_fit_decision_add(&tally, one->p, one->is_true, one->n);
        }
        acq_fit_decision found = acq_fit_decision_choose(&tally);
        assert_true(fabs(found.f1 - find_mean_f1(questions, found.p)) < 1e-12);
        assert_true(fabs(found.f1_half - find_mean_f1(questions, .5)) < 1e-12);
        for (int i = 1; i <= ACQ_FIT_DECISION_STEPS; i++)
            assert_true(find_mean_f1(questions, (double)i / (ACQ_FIT_DECISION_STEPS + 1)) <=
                        found.f1 + 1e-12);
    }
}

static void test_without_questions_there_is_none(void **state)
{
    (void)state;
    acq_fit_decision_tally tally = {0};
    assert_true(acq_fit_decision_choose(&tally).p == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_threshold_is_better),
        cmocka_unit_test(test_without_questions_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
