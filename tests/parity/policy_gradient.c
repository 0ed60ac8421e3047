/* policy_gradient.c - the gradient of the REINFORCE loss through time,
 *
 *   L = -(1/T) sum over steps of w_t sum over variables of log(p_t(chosen) + 1e-5)
 *
 * with arbitrary w_t: that of the lumped network in single precision equals that of the dense one
 * on a tape in double, ||difference|| <= 1e-3 ||gradient|| (Euclidean norm over all parameters),
 * and the slope of the lumped loss itself along random directions is what it says.
 *
 * The gradient jumps where a maximum has two candidates or a ReLU is at 0; cases that come nearer
 * to such a place than single precision can tell are drawn anew and counted.
 * ACQ_CASES in the environment changes the number of cases. */
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
#include "support/dense_tape.h"
#include "support/policy_case.h"
#include "support/scale.h"

enum { CASES = SCALE(100, 30), MOST_STEPS = 6, MOST_TERMS = 32, DIRECTIONS = 3 };

static const uint32_t dims[] = {4, 8, 16, 20, 32};
static const double FLOOR = 1e-5, TOLERANCE = 1e-3, MARGIN = 2e-6;
static const double STEP = 1e-3, SLOPE_TOLERANCE = 0.02; /* finite differences */

/* A search with its assignments fixed: values[t] is what step t starts from, values[t + 1] what
 * it chooses. */
typedef struct episode {
    policy_case p;
    int n_steps;
    acq_ent values[MOST_STEPS + 1][MOST_TERMS];
    double weights[MOST_STEPS];
} episode;

static void episode_init(episode *e, uint64_t seed, double scale)
{
    acq_random random = acq_random_start(seed, 21);
    policy_case_init(&e->p, seed, dims[seed % 5], scale);
    e->n_steps = 1 + (int)acq_random_below(&random, MOST_STEPS);
    for (int t = 0; t <= e->n_steps; t++)
        for (uint32_t i = 0; i < e->p.board->n_free_terms; i++)
            e->values[t][i] = (acq_ent)acq_random_below(&random, e->p.c.n_entities);
    for (int t = 0; t < e->n_steps; t++)
        e->weights[t] = 4 * acq_random_unit(&random) - 2;
}

static double step_weight(const episode *e, int t)
{
    return -e->weights[t] / e->n_steps;
}

/* Everything of one lumped run that backward needs. */
typedef struct recording {
    acq_walk walk;
    acq_rows rows;
    acq_step *steps[MOST_STEPS];
    float *dlogits[MOST_STEPS];
    double loss;
} recording;

/* Loss of step t, and its dlogits if there is room for them. */
static void choose(const episode *e, recording *r, int t)
{
    double *p = calloc(r->walk.n_classes + 1, sizeof *p), room[3 * MOST_TERMS];
    uint32_t chosen[MOST_TERMS];
    const float *logits = acq_step_get_logits(r->steps[t]);
    for (uint32_t i = 0; i < e->p.board->n_free_terms; i++)
        chosen[i] = acq_walk_find_class(&r->walk, i, e->values[t + 1][i]);
    r->dlogits[t] = calloc(r->walk.n_classes + 1, sizeof(float));
    acq_choice_get_probabilities(&r->walk, logits, p, room);
    r->loss += step_weight(e, t) * acq_choice_get_log(&r->walk, p, chosen, FLOOR);
    acq_choice_backward(&r->walk, logits, p, chosen, FLOOR, step_weight(e, t), room, r->dlogits[t]);
    free(p);
}

static void record(const episode *e, recording *r)
{
    *r = (recording){0};
    assert_int_equal(acq_walk_init(&r->walk, e->p.board), ACQ_OK);
    for (int t = 0; t < e->n_steps; t++) {
        assert_int_equal(acq_walk_set(&r->walk, e->values[t]), ACQ_OK);
        acq_rows_clear(&r->rows);
        assert_int_equal(acq_rows_add(&r->rows, &r->walk, t == 0 ? ACQ_NO_ID : 0), ACQ_OK);
        assert_int_equal(acq_step_new(&r->steps[t]), ACQ_OK);
        assert_int_equal(acq_step_forward(r->steps[t], e->p.policy, &r->rows,
                                          t == 0 ? NULL : r->steps[t - 1], true),
                         ACQ_OK);
        choose(e, r, t);
    }
}

static void recording_deinit(recording *r)
{
    for (int t = 0; t < MOST_STEPS; t++) {
        acq_step_free(r->steps[t]);
        free(r->dlogits[t]);
    }
    acq_rows_deinit(&r->rows);
    acq_walk_deinit(&r->walk);
}

static double lumped_loss(const episode *e)
{
    recording r;
    record(e, &r);
    double loss = r.loss;
    recording_deinit(&r);
    return loss;
}

/* Adds to gradient, which has the layout of the policy's parameters. */
static double lumped_gradient(const episode *e, float *gradient)
{
    recording r;
    acq_scratch scratch = {0};
    record(e, &r);
    for (int t = e->n_steps; t-- > 0;)
        assert_int_equal(acq_step_backward(r.steps[t], e->p.policy, t == 0 ? NULL : r.steps[t - 1],
                                           r.dlogits[t], gradient, &scratch),
                         ACQ_OK);
    double loss = r.loss;
    acq_scratch_deinit(&scratch);
    recording_deinit(&r);
    return loss;
}

static void assign_dense(episode *e, const acq_ent *values)
{
    acq_ent by_variable[CASE_MOST_VARIABLES] = {0};
    for (uint32_t i = 0; i < e->p.board->n_free_terms; i++)
        by_variable[e->p.board->terms[i].variable] = values[i];
    dense_graph_assign(e->p.dense, by_variable);
}

/* The loss on the tape; the gradient goes to the layout of the policy's parameters. */
static double dense_gradient(episode *e, double *gradient, double *margin)
{
    dense_tape d;
    dense_tape_init(&d, &e->p.weights, e->p.dense);
    const double zero = 0;
    tape_var loss = tape_input(d.tape, 1, 1, &zero);
    for (int t = 0; t < e->n_steps; t++) {
        assign_dense(e, e->values[t]);
        tape_var log_p = dense_tape_get_log_p(&d, dense_tape_step(&d));
        assign_dense(e, e->values[t + 1]);
        tape_var of_step = dense_tape_get_log_choice(&d, log_p, FLOOR);
        loss = tape_add(d.tape, loss, tape_scale(d.tape, of_step, step_weight(e, t), 0));
    }
    double value = tape_get(d.tape, loss)[0];
    tape_backward(d.tape, loss);
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++)
        memcpy(gradient + e->p.policy->parameters.tensors[i].offset,
               tape_get_gradient(d.tape, d.weights[i]),
               tape_get_size(d.tape, d.weights[i]) * sizeof *gradient);
    *margin = tape_get_margin(d.tape);
    dense_tape_deinit(&d);
    return value;
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

typedef struct summary {
    double worst; /* relative error of a gradient */
    size_t compared, left_out;
} summary;

static void compare(const episode *e, uint64_t seed, const float *lumped, const double *dense,
                    summary *sum)
{
    const acq_parameters *parameters = &e->p.policy->parameters;
    double *difference = calloc(parameters->n, sizeof *difference);
    for (size_t i = 0; i < parameters->n; i++)
        difference[i] = (double)lumped[i] - dense[i];
    double size = norm(dense, parameters->n), error = norm(difference, parameters->n);
    if (error > TOLERANCE * size + 1e-7) {
        for (size_t i = 0; i < parameters->n_tensors; i++) {
            const acq_tensor *t = &parameters->tensors[i];
            size_t n = acq_tensor_get_length(t);
            printf("%s: %.2e of %.2e\n", t->name, norm(difference + t->offset, n),
                   norm(dense + t->offset, n));
        }
        fail_msg("seed %lu, d = %u, %d steps: gradient is off by %g of %g", seed, e->p.policy->dim,
                 e->n_steps, error, size);
    }
    if (size > 1e-6)
        sum->worst = fmax(sum->worst, error / size);
    sum->compared++;
    free(difference);
}

static void compare_episode(uint64_t seed, double scale, summary *sum)
{
    episode e;
    double margin;
    episode_init(&e, seed, scale);
    size_t n = e.p.policy->parameters.n;
    float *lumped = calloc(n, sizeof *lumped);
    double *dense = calloc(n, sizeof *dense);
    double loss = dense_gradient(&e, dense, &margin);
    double same = e.p.board->n_free_terms > 0 ? lumped_gradient(&e, lumped) : loss;
    if (margin < MARGIN) {
        sum->left_out++;
    } else if (e.p.board->n_free_terms > 0) {
        if (fabs(loss - same) > 1e-4 * (1 + fabs(loss)))
            fail_msg("seed %lu: loss %g, not %g", seed, same, loss);
        compare(&e, seed, lumped, dense, sum);
    }
    free(lumped);
    free(dense);
    policy_case_deinit(&e.p);
}

static void test_the_gradient_is_that_of_the_dense_network(void **unused)
{
    summary sum = {0};
    (void)unused;
    for (uint64_t seed = 1; sum.compared < count_cases(CASES); seed++)
        compare_episode(seed, 1, &sum);
    printf("%zu cases: gradients differ by %.1e of their norm at most; %zu too near to a jump\n",
           sum.compared, sum.worst, sum.left_out);
    assert_true(sum.left_out < 2 * sum.compared);
}

/* Moves all parameters along a direction of length 1. */
static void move(acq_policy *policy, const double *direction, double distance, const float *from)
{
    for (size_t i = 0; i < policy->parameters.n; i++)
        policy->parameters.values[i] = (float)((double)from[i] + distance * direction[i]);
    acq_policy_pack(policy);
}

/* A random direction; the gradient's own, along which the slope is its norm, weighs as much. */
static void draw_direction(acq_random *random, const acq_parameters *parameters,
                           const float *gradient, double size, double *direction)
{
    memset(direction, 0, parameters->n * sizeof *direction);
    for (size_t i = 0; i < parameters->n_tensors; i++)
        for (size_t k = 0; k < acq_tensor_get_length(&parameters->tensors[i]); k++)
            direction[parameters->tensors[i].offset + k] = 2 * acq_random_unit(random) - 1;
    double length = norm(direction, parameters->n);
    for (size_t i = 0; i < parameters->n; i++)
        direction[i] = direction[i] / length + (double)gradient[i] / size;
    length = norm(direction, parameters->n);
    for (size_t i = 0; i < parameters->n; i++)
        direction[i] /= length;
}

static double lumped_loss_at(const episode *e, const double *direction, double distance)
{
    acq_policy *policy = e->p.policy;
    size_t n = policy->parameters.n;
    float *from = malloc(n * sizeof *from);
    memcpy(from, policy->parameters.values, n * sizeof *from);
    move(policy, direction, distance, from);
    double loss = lumped_loss(e);
    move(policy, direction, 0, from);
    free(from);
    return loss;
}

/* The slope of the lumped loss on either side, near and farther away; single precision leaves
 * about 1e-6 / STEP of noise. Where they differ there is a jump within reach. */
typedef struct slopes {
    double middle, spread;
} slopes;

static slopes measure_slopes(const episode *e, const double *direction)
{
    double here = lumped_loss(e), least = INFINITY, most = -INFINITY, sum = 0;
    const double distances[] = {-STEP, -STEP / 4, STEP / 4, STEP};
    for (int i = 0; i < 4; i++) {
        double slope = (lumped_loss_at(e, direction, distances[i]) - here) / distances[i];
        least = fmin(least, slope);
        most = fmax(most, slope);
        sum += slope;
    }
    return (slopes){.middle = sum / 4, .spread = most - least};
}

/* How many directions could be compared. */
static size_t check_slopes(const episode *e, uint64_t seed, const float *gradient, double size,
                           double *worst)
{
    const acq_parameters *parameters = &e->p.policy->parameters;
    acq_random random = acq_random_start(seed, 22);
    double *direction = calloc(parameters->n, sizeof *direction);
    size_t n_compared = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        double slope = 0;
        draw_direction(&random, parameters, gradient, size, direction);
        for (size_t i = 0; i < parameters->n; i++)
            slope += (double)gradient[i] * direction[i];
        slopes measured = measure_slopes(e, direction);
        double error = fabs(measured.middle - slope) / size;
        if (measured.spread > SLOPE_TOLERANCE * size)
            continue;
        n_compared++;
        *worst = fmax(*worst, error);
        if (error > SLOPE_TOLERANCE)
            fail_msg("seed %lu, d = %u, direction %d: slope %g, not %g (gradient %g)", seed,
                     e->p.policy->dim, k, measured.middle, slope, size);
    }
    free(direction);
    return n_compared;
}

/* Cases with hardly any gradient do not count. */
static size_t check_case(uint64_t seed, double *worst)
{
    episode e;
    size_t n_compared = 0;
    episode_init(&e, seed, 1);
    size_t n = e.p.policy->parameters.n;
    float *gradient = calloc(n, sizeof *gradient);
    double size = 0;
    if (e.p.board->n_free_terms > 0)
        lumped_gradient(&e, gradient);
    for (size_t i = 0; i < n; i++)
        size += (double)gradient[i] * (double)gradient[i];
    if (size > 0.01)
        n_compared = check_slopes(&e, seed, gradient, sqrt(size), worst);
    free(gradient);
    policy_case_deinit(&e.p);
    return n_compared;
}

static void test_the_gradient_is_the_slope_of_the_loss(void **unused)
{
    double worst = 0;
    size_t n_compared = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= count_cases(CASES); seed++)
        n_compared += check_case(seed, &worst);
    printf("%zu directions: slopes differ by %.1e of the gradient's norm at most\n", n_compared,
           worst);
    assert_true(n_compared > count_cases(CASES) / 2);
}

/* The tape's gradient of the choice for given logits of the classes, summed over the members. */
static void choose_on_tape(const episode *e, const acq_walk *walk, const float *logits,
                           double *dlogits)
{
    const dense_graph *g = e->p.dense;
    double *values = calloc(g->n_values + 1, sizeof *values);
    uint32_t *classes = calloc(g->n_values + 1, sizeof *classes);
    for (uint32_t t = 0; t < e->p.board->n_terms; t++) {
        const dense_term *term = &g->terms[e->p.dense_terms[t]];
        for (uint32_t a = 0; a < term->n_values; a++) {
            size_t i = term->first_value + a;
            classes[i] = acq_walk_find_class(walk, t, term->is_variable ? a : term->id);
            values[i] = (double)logits[classes[i]];
        }
    }
    dense_tape d = {.tape = tape_new(), .graph = g};
    tape_var input = tape_input(d.tape, g->n_values, 1, values);
    tape_backward(d.tape, dense_tape_get_log_choice(&d, dense_tape_get_log_p(&d, input), 0));
    for (size_t i = 0; i < g->n_values; i++)
        dlogits[classes[i]] += tape_get_gradient(d.tape, input)[i];
    tape_free(d.tape);
    free(classes);
    free(values);
}

/* Logits so far apart that many are clipped: the maximum gets what the clipped ones miss. Without
 * a floor under p, which would hide it. */
static void compare_choice(episode *e, uint64_t seed)
{
    recording r = {0};
    acq_random random = acq_random_start(seed, 23);
    double p[256], wanted[256] = {0}, room[3 * MOST_TERMS];
    float logits[256], dlogits[256] = {0};
    uint32_t chosen[MOST_TERMS];
    assert_int_equal(acq_walk_init(&r.walk, e->p.board), ACQ_OK);
    policy_case_assign(&e->p, &r.walk, e->values[0]);
    assert_true(r.walk.n_classes <= 256);
    for (uint32_t c = 0; c < r.walk.n_classes; c++)
        logits[c] = (float)(300 * acq_random_unit(&random));
    for (uint32_t i = 0; i < e->p.board->n_free_terms; i++)
        chosen[i] = acq_walk_find_class(&r.walk, i, e->values[1][i]);
    acq_choice_get_probabilities(&r.walk, logits, p, room);
    acq_choice_backward(&r.walk, logits, p, chosen, 0, 1, room, dlogits);
    assign_dense(e, e->values[1]);
    choose_on_tape(e, &r.walk, logits, wanted);
    for (uint32_t c = 0; c < r.walk.n_classes; c++)
        if (fabs((double)dlogits[c] - wanted[c]) > 1e-6)
            fail_msg("seed %lu, class %u: %g, not %g", seed, c, (double)dlogits[c], wanted[c]);
    recording_deinit(&r);
}

static void test_clipped_choices_have_the_gradient_of_the_tape(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 3 * count_cases(CASES); seed++) {
        episode e;
        episode_init(&e, seed, 1);
        compare_choice(&e, seed);
        policy_case_deinit(&e.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clipped_choices_have_the_gradient_of_the_tape),
        cmocka_unit_test(test_the_gradient_is_that_of_the_dense_network),
        cmocka_unit_test(test_the_gradient_is_the_slope_of_the_loss),
    };
    return cmocka_run_group_tests_name("policy gradient", tests, NULL, NULL);
}
