/* policy_lumped.c - the network on classes of values is the network on values: raw logits of every
 * value within 1e-4 of the dense network in double, at each of 30 steps with the same assignments,
 * uniform ones and the policy's own; and the rows of several walks in one batch give the same bits
 * as one walk alone. ACQ_CASES in the environment changes the number of cases.
 *
 * Some random weights make the recurrence chaotic: rounding alone grows tenfold every few steps.
 * The dense network in single precision, which shares nothing with the lumped one, shows where:
 * once it has left the one in double by 2e-6 the rest of the case is not compared, and counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/policy/walk.h"
#include "support/dense_policy.h"
#include "support/dense_tape.h"
#include "support/policy_case.h"
#include "support/scale.h"

enum { CASES = SCALE(300, 60), STEPS = 30, MOST_TERMS = 32, WALKS = 5, BATCH_STEPS = 12 };

static const uint32_t dims[] = {4, 8, 16, 20, 32};
static const double TOLERANCE = 1e-4, CHAOS = 2e-6;

/* Both networks on one case, step by step. */
typedef struct run {
    policy_case p;
    uint64_t seed;
    int step;
    acq_walk walk;
    acq_rows rows;
    acq_step *steps[2];
    dense_tape dense;
    dense_policy *single; /* the same in single precision */
    double *p_lumped;
} run;

typedef struct summary {
    double worst; /* difference of logits */
    size_t steps, steps_left_out;
} summary;

static void run_init(run *r, uint64_t seed, uint32_t dim)
{
    *r = (run){.seed = seed};
    policy_case_init(&r->p, seed, dim, 1);
    assert_int_equal(acq_walk_init(&r->walk, r->p.board), ACQ_OK);
    assert_int_equal(acq_step_new(&r->steps[0]), ACQ_OK);
    assert_int_equal(acq_step_new(&r->steps[1]), ACQ_OK);
    dense_tape_init(&r->dense, &r->p.weights, r->p.dense);
    r->single = dense_policy_new(&r->p.weights, r->p.dense);
}

static void run_deinit(run *r)
{
    free(r->p_lumped);
    dense_policy_free(r->single);
    dense_tape_deinit(&r->dense);
    acq_step_free(r->steps[0]);
    acq_step_free(r->steps[1]);
    acq_rows_deinit(&r->rows);
    acq_walk_deinit(&r->walk);
    policy_case_deinit(&r->p);
}

static const float *lumped_logits(run *r)
{
    acq_step *now = r->steps[r->step % 2], *before = r->steps[(r->step + 1) % 2];
    acq_rows_clear(&r->rows);
    assert_int_equal(acq_rows_add(&r->rows, &r->walk, r->step == 0 ? ACQ_NO_ID : 0), ACQ_OK);
    assert_int_equal(
        acq_step_forward(now, r->p.policy, &r->rows, r->step == 0 ? NULL : before, false), ACQ_OK);
    return acq_step_get_logits(now);
}

/* How far rounding has taken the dense network in single precision. */
static double gauge_rounding(run *r, const double *wanted)
{
    double most = 0;
    dense_policy_step(r->single);
    for (size_t i = 0; i < r->p.dense->n_values; i++)
        most = fmax(most, fabs((double)dense_policy_get_logits(r->single)[i] - wanted[i]));
    return most;
}

static double compare_value(const run *r, uint32_t term, acq_ent a, const float *logits,
                            const double *wanted, const double *log_p)
{
    size_t value = dense_graph_get_value(r->p.dense, r->p.dense_terms[term], a);
    uint32_t class_number = acq_walk_find_class(&r->walk, term, a);
    double difference = fabs((double)logits[class_number] - wanted[value]);
    if (difference > TOLERANCE)
        fail_msg("seed %lu, d = %u, step %d, term %u, value %u: logit %g, not %g", r->seed,
                 r->p.policy->dim, r->step, term, a, (double)logits[class_number], wanted[value]);
    if (fabs(log(r->p_lumped[class_number]) - log_p[value]) > 4 * TOLERANCE)
        fail_msg("seed %lu, d = %u, step %d, term %u, value %u: log p %g, not %g", r->seed,
                 r->p.policy->dim, r->step, term, a, log(r->p_lumped[class_number]), log_p[value]);
    return difference;
}

static void compare_values(const run *r, const float *logits, const double *wanted,
                           const double *log_p, summary *sum)
{
    for (uint32_t t = 0; t < r->p.board->n_terms; t++) {
        const acq_board_term *term = &r->p.board->terms[t];
        uint32_t n = term->variable == ACQ_NO_ID ? 1 : r->p.c.n_entities;
        for (uint32_t i = 0; i < n; i++) {
            acq_ent a = term->variable == ACQ_NO_ID ? term->value : i;
            sum->worst = fmax(sum->worst, compare_value(r, t, a, logits, wanted, log_p));
        }
    }
}

/* false: rounding has taken over. */
static bool compare_step(run *r, summary *sum)
{
    double totals[MOST_TERMS];
    const float *logits = lumped_logits(r);
    tape_var dense_logits = dense_tape_step(&r->dense);
    tape_var log_p = dense_tape_get_log_p(&r->dense, dense_logits);
    const double *wanted = tape_get(r->dense.tape, dense_logits);
    r->p_lumped = realloc(r->p_lumped, (r->walk.n_classes + 1) * sizeof *r->p_lumped);
    acq_choice_get_probabilities(&r->walk, logits, r->p_lumped, totals);
    if (gauge_rounding(r, wanted) > CHAOS)
        return false;
    compare_values(r, logits, wanted, tape_get(r->dense.tape, log_p), sum);
    dense_tape_forget(&r->dense);
    sum->steps++;
    return true;
}

static void draw_values(const run *r, acq_random *random, acq_ent *values)
{
    uint32_t chosen[MOST_TERMS];
    double room[MOST_TERMS];
    if (r->step == 0 || (r->seed + (uint64_t)r->step) % 3 == 0)
        acq_walk_draw_uniform(&r->walk, random, values);
    else
        acq_choice_draw(&r->walk, r->p_lumped, r->seed, 1, (uint64_t)r->step, values, chosen, room);
}

static void compare_case(uint64_t seed, uint32_t dim, summary *sum)
{
    run r;
    acq_ent values[MOST_TERMS];
    acq_random random = acq_random_start(seed, 9);
    run_init(&r, seed, dim);
    for (r.step = 0; r.step < STEPS; r.step++) {
        draw_values(&r, &random, values);
        policy_case_assign(&r.p, &r.walk, values);
        if (acq_walk_check(&r.walk) != NULL)
            fail_msg("seed %lu, step %d: %s", seed, r.step, acq_walk_check(&r.walk));
        if (!compare_step(&r, sum))
            break;
    }
    sum->steps_left_out += (size_t)(STEPS - r.step);
    run_deinit(&r);
}

static void test_classes_have_the_logits_of_their_values(void **unused)
{
    summary sum = {0};
    (void)unused;
    for (uint64_t seed = 1; seed <= count_cases(CASES); seed++)
        compare_case(seed, dims[seed % 5], &sum);
    printf("%zu cases: logits differ by %.1e at most in %zu steps; %zu chaotic ones left out\n",
           count_cases(CASES), sum.worst, sum.steps, sum.steps_left_out);
    assert_true(sum.steps_left_out * 10 < sum.steps);
}

/* Walks over several problems under one policy; each has its rows alone and in the batch. */
typedef struct party {
    policy_case cases[WALKS];
    acq_walk walks[WALKS];
    acq_rows alone[WALKS], together;
    acq_step *steps_alone[WALKS][2], *steps_together[2];
    uint32_t rows_before[WALKS];
} party;

static void party_init(party *y, uint64_t seed, uint32_t dim)
{
    *y = (party){0};
    for (int i = 0; i < WALKS; i++) {
        policy_case_init(&y->cases[i], seed * 100 + (uint64_t)i, dim, 1);
        assert_int_equal(acq_walk_init(&y->walks[i], y->cases[i].board), ACQ_OK);
        for (int k = 0; k < 2; k++)
            assert_int_equal(acq_step_new(&y->steps_alone[i][k]), ACQ_OK);
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(acq_step_new(&y->steps_together[k]), ACQ_OK);
}

static void party_deinit(party *y)
{
    for (int i = 0; i < WALKS; i++) {
        acq_walk_deinit(&y->walks[i]);
        acq_rows_deinit(&y->alone[i]);
        for (int k = 0; k < 2; k++)
            acq_step_free(y->steps_alone[i][k]);
        policy_case_deinit(&y->cases[i]);
    }
    for (int k = 0; k < 2; k++)
        acq_step_free(y->steps_together[k]);
    acq_rows_deinit(&y->together);
}

static void run_alone(party *y, int i, int step)
{
    acq_step *before = step == 0 ? NULL : y->steps_alone[i][(step + 1) % 2];
    acq_rows_clear(&y->alone[i]);
    assert_int_equal(acq_rows_add(&y->alone[i], &y->walks[i], step == 0 ? ACQ_NO_ID : 0), ACQ_OK);
    assert_int_equal(acq_step_forward(y->steps_alone[i][step % 2], y->cases[0].policy, &y->alone[i],
                                      before, false),
                     ACQ_OK);
}

/* All walks but those that have left: walk i leaves after step 2 i + 2. */
static bool has_left(int i, int step)
{
    return step > 2 * i + 2;
}

static void compare_bits(party *y, uint64_t seed, int step)
{
    uint32_t first[WALKS];
    acq_step *now = y->steps_together[step % 2], *before = y->steps_together[(step + 1) % 2];
    acq_rows_clear(&y->together);
    for (int i = 0; i < WALKS; i++) {
        if (has_left(i, step))
            continue;
        first[i] = (uint32_t)y->together.n_rows;
        assert_int_equal(
            acq_rows_add(&y->together, &y->walks[i], step == 0 ? ACQ_NO_ID : y->rows_before[i]),
            ACQ_OK);
        y->rows_before[i] = first[i];
    }
    assert_int_equal(
        acq_step_forward(now, y->cases[0].policy, &y->together, step == 0 ? NULL : before, false),
        ACQ_OK);
    for (int i = 0; i < WALKS; i++)
        if (!has_left(i, step) && memcmp(acq_step_get_logits(now) + first[i],
                                         acq_step_get_logits(y->steps_alone[i][step % 2]),
                                         y->walks[i].n_classes * sizeof(float)) != 0)
            fail_msg("seed %lu, step %d: walk %d has other bits in the batch", seed, step, i);
}

static void test_a_batch_gives_the_bits_of_single_walks(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= count_cases(CASES) / 10; seed++) {
        party y;
        acq_random random = acq_random_start(seed, 11);
        acq_ent values[MOST_TERMS];
        party_init(&y, seed, dims[seed % 5]);
        for (int step = 0; step < BATCH_STEPS; step++) {
            for (int i = 0; i < WALKS; i++) {
                acq_walk_draw_uniform(&y.walks[i], &random, values);
                assert_int_equal(acq_walk_set(&y.walks[i], values), ACQ_OK);
                run_alone(&y, i, step);
            }
            compare_bits(&y, seed, step);
        }
        party_deinit(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_have_the_logits_of_their_values),
        cmocka_unit_test(test_a_batch_gives_the_bits_of_single_walks),
    };
    return cmocka_run_group_tests_name("lumped policy", tests, NULL, NULL);
}
