/* autodiff.c - every operation of the tape against central differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/autodiff.h"

enum { ROWS = 4, COLS = 6, SIZE = ROWS * COLS, OUTPUTS = 3 };

/* All inputs of a check in one vector, which is what is varied. */
enum { AT_X = 0, AT_Y = SIZE, AT_W = 2 * SIZE, AT_GAIN = AT_W + OUTPUTS * COLS };
enum { AT_SHIFT = AT_GAIN + COLS, N_INPUTS = AT_SHIFT + COLS };

typedef struct inputs {
    tape_var x, y, w, gain, shift;
} inputs;

typedef tape_var (*operation)(tape *t, const inputs *in);

static inputs put_inputs(tape *t, const double *v)
{
    return (inputs){.x = tape_input(t, ROWS, COLS, v + AT_X),
                    .y = tape_input(t, ROWS, COLS, v + AT_Y),
                    .w = tape_input(t, OUTPUTS, COLS, v + AT_W),
                    .gain = tape_input(t, 1, COLS, v + AT_GAIN),
                    .shift = tape_input(t, 1, COLS, v + AT_SHIFT)};
}

/* A number that depends on every element of the result in its own way. */
static tape_var finish(tape *t, tape_var result, size_t cols)
{
    double factors[64];
    size_t n = tape_get_size(t, result);
    for (size_t i = 0; i < n; i++)
        factors[i] = sin(1.3 * (double)i + 0.5);
    return tape_sum(t, tape_multiply(t, result, tape_input(t, n / cols, cols, factors)));
}

static double run(operation make, size_t cols, const double *v, double *gradient, double *margin)
{
    tape *t = tape_new();
    inputs in = put_inputs(t, v);
    tape_var number = finish(t, make(t, &in), cols);
    double value = tape_get(t, number)[0];
    if (gradient != NULL) {
        tape_backward(t, number);
        memcpy(gradient + AT_X, tape_get_gradient(t, in.x), SIZE * sizeof(double));
        memcpy(gradient + AT_Y, tape_get_gradient(t, in.y), SIZE * sizeof(double));
        memcpy(gradient + AT_W, tape_get_gradient(t, in.w), OUTPUTS * COLS * sizeof(double));
        memcpy(gradient + AT_GAIN, tape_get_gradient(t, in.gain), COLS * sizeof(double));
        memcpy(gradient + AT_SHIFT, tape_get_gradient(t, in.shift), COLS * sizeof(double));
        *margin = tape_get_margin(t);
    }
    tape_free(t);
    return value;
}

static void check(const char *name, operation make, size_t cols, double width)
{
    double v[N_INPUTS], gradient[N_INPUTS], margin;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        acq_random random = acq_random_start(seed, 3);
        for (size_t i = 0; i < N_INPUTS; i++)
            v[i] = width * (2 * acq_random_unit(&random) - 1);
        run(make, cols, v, gradient, &margin);
        for (size_t i = 0; i < N_INPUTS && margin > 1e-4; i++) {
            double kept = v[i];
            v[i] = kept + 1e-5;
            double above = run(make, cols, v, NULL, NULL);
            v[i] = kept - 1e-5;
            double below = run(make, cols, v, NULL, NULL);
            v[i] = kept;
            if (fabs((above - below) / 2e-5 - gradient[i]) > 1e-6 * (1 + fabs(gradient[i])))
                fail_msg("%s, seed %lu, input %zu: %g, not %g", name, seed, i, gradient[i],
                         (above - below) / 2e-5);
        }
    }
}

static tape_var matmul(tape *t, const inputs *in)
{
    return tape_matmul(t, in->x, in->w);
}

static tape_var add(tape *t, const inputs *in)
{
    return tape_add(t, tape_add(t, in->x, in->gain), tape_add(t, in->y, in->y));
}

static tape_var multiply(tape *t, const inputs *in)
{
    return tape_scale(t, tape_multiply(t, tape_multiply(t, in->x, in->y), in->x), -0.7, 3);
}

static tape_var relu(tape *t, const inputs *in)
{
    return tape_relu(t, in->x);
}

static tape_var gates(tape *t, const inputs *in)
{
    return tape_multiply(t, tape_sigmoid(t, in->x), tape_tanh(t, in->y));
}

static tape_var layer_norm(tape *t, const inputs *in)
{
    return tape_layer_norm(t, in->x, in->gain, in->shift);
}

static tape_var gather(tape *t, const inputs *in)
{
    const size_t rows[] = {2, 0, 2, 3, 3, 3};
    return tape_gather_rows(t, tape_multiply(t, in->x, in->y), rows, 6);
}

static tape_var columns(tape *t, const inputs *in)
{
    const double column[ROWS] = {1, 0, 2, -1};
    tape_var wider = tape_append_column(t, in->x, column);
    return tape_multiply(t, tape_slice_columns(t, wider, 3, 4), tape_slice_columns(t, in->y, 1, 4));
}

static tape_var maximum(tape *t, const inputs *in)
{
    const tape_choice choices[] = {{0, 0}, {1, 2}, {3, 1}, {2, 0}, {2, 0}, {2, 1}, {0, 2}};
    const size_t firsts[] = {0, 3, 4, 7};
    return tape_max(t, in->x, 2, choices, firsts, 3);
}

static tape_var log_softmax(tape *t, const inputs *in)
{
    const size_t firsts[] = {0, 3, 4};
    return tape_log_softmax(t, tape_slice_columns(t, in->x, 2, 1), firsts, 2);
}

static tape_var log_floor(tape *t, const inputs *in)
{
    return tape_log_exp_plus(t, in->x, 1e-2);
}

static void test_gradients_are_those_of_finite_differences(void **unused)
{
    (void)unused;
    check("matmul", matmul, OUTPUTS, 1);
    check("add", add, COLS, 1);
    check("multiply", multiply, COLS, 1);
    check("relu", relu, COLS, 1);
    check("gates", gates, COLS, 2);
    check("layer norm", layer_norm, COLS, 1);
    check("gather", gather, COLS, 1);
    check("columns", columns, 4, 1);
    check("max", maximum, 2, 1);
    check("log softmax", log_softmax, 1, 2);
    check("clipped log softmax", log_softmax, 1, 150);
    check("log floor", log_floor, COLS, 5);
}

static void test_the_clip_keeps_a_least_probability(void **unused)
{
    const double x[] = {500, -900, 499, 0};
    const size_t firsts[] = {0, 4};
    tape *t = tape_new();
    tape_var p = tape_log_softmax(t, tape_input(t, 4, 1, x), firsts, 1);
    (void)unused;
    assert_true(fabs(tape_get(t, p)[1] - (-100 - log1p(exp(-1)))) < 1e-12);
    assert_true(fabs(tape_get(t, p)[0] - -log1p(exp(-1))) < 1e-12);
    tape_free(t);
}

static void test_ties_go_to_the_first_and_do_not_count_as_near(void **unused)
{
    const double x[] = {1, 3, 3, 2.5};
    const tape_choice choices[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const size_t firsts[] = {0, 4};
    tape *t = tape_new();
    tape_var in = tape_input(t, 4, 1, x);
    (void)unused;
    tape_backward(t, tape_max(t, in, 1, choices, firsts, 1));
    assert_true(tape_get_gradient(t, in)[1] == 1 && tape_get_gradient(t, in)[2] == 0);
    assert_true(tape_get_margin(t) == 0.5);
    tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_are_those_of_finite_differences),
        cmocka_unit_test(test_the_clip_keeps_a_least_probability),
        cmocka_unit_test(test_ties_go_to_the_first_and_do_not_count_as_near),
    };
    return cmocka_run_group_tests_name("autodiff", tests, NULL, NULL);
}
