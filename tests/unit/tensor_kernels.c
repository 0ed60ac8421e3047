/* tensor_kernels.c - normalisation, gates and flat kernels of every set against plain code in
 * double precision, and each backward kernel against differences of that code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/kernel_list.h"
#include "support/matrix.h"
#include "tensor/kernels.h"

static const acq_kernels *sets[TEST_MAX_KERNELS];
static size_t n_sets;

static const size_t widths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 20, 31, 32, 33, 96, 128, 131};
enum { N_WIDTHS = sizeof widths / sizeof *widths, MAX_WIDTH = 131 };

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.9g is not %.9g", got, want);
}

static void assert_same(const matrix *got, const matrix *want)
{
    for (size_t i = 0; i < want->rows; i++)
        assert_memory_equal(got->at + i * got->ld, want->at + i * want->ld,
                            want->cols * sizeof(float));
    matrix_check(got);
}

/* Runs check(kernels, random, n) for every set and width. */
static void for_all(void (*check)(const acq_kernels *, acq_random *, size_t), uint64_t stream)
{
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < N_WIDTHS; i++) {
            acq_random random = acq_random_start(i, stream);
            check(sets[s], &random, widths[i]);
        }
}

/* Flat kernels: one rounding each, so plain code gives the same bits. */

static void check_relu(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 1, n, n, 1), dy = matrix_new(random, 1, n, n, 1);
    matrix y = matrix_copy(&x), dx = matrix_copy(&dy);
    kernels->relu(n, y.at);
    kernels->relu_backward(n, y.at, dx.at);
    for (size_t i = 0; i < n; i++) {
        assert_true(y.at[i] == (x.at[i] > 0 ? x.at[i] : 0));
        assert_true(dx.at[i] == (x.at[i] > 0 ? dy.at[i] : 0));
    }
    matrix_check(&y);
    matrix_check(&dx);
    matrix_free(&x);
    matrix_free(&dy);
    matrix_free(&y);
    matrix_free(&dx);
}

static void test_relu_keeps_what_is_positive_and_its_gradient(void **state)
{
    (void)state;
    for_all(check_relu, 1);
}

static void check_max(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 1, n, n, 1), acc = matrix_new(random, 1, n, n, 1);
    x.at[0] = acc.at[0]; /* not greater: the index stays */
    matrix plain = matrix_copy(&acc), indexed = matrix_copy(&acc);
    uint32_t arg[MAX_WIDTH + 1];
    for (size_t i = 0; i <= n; i++)
        arg[i] = (uint32_t)i;
    kernels->max(n, x.at, plain.at);
    kernels->max_index(n, x.at, 0xfffffff0, indexed.at, arg);
    for (size_t i = 0; i < n; i++) {
        bool greater = x.at[i] > acc.at[i];
        assert_true(plain.at[i] == (greater ? x.at[i] : acc.at[i]));
        assert_int_equal(arg[i], greater ? 0xfffffff0 : i);
    }
    assert_int_equal(arg[n], n);
    assert_same(&indexed, &plain);
    matrix_check(&plain);
    matrix_free(&x);
    matrix_free(&acc);
    matrix_free(&plain);
    matrix_free(&indexed);
}

static void test_maximum_and_where_it_came_from(void **state)
{
    (void)state;
    for_all(check_max, 2);
}

static void check_sums(const acq_kernels *kernels, acq_random *random, size_t n)
{
    float factor = (float)acq_random_unit(random);
    matrix x = matrix_new(random, 1, n, n, 1), y = matrix_new(random, 1, n, n, 1);
    matrix acc = matrix_copy(&y), out = matrix_copy(&y), scaled = matrix_copy(&x);
    kernels->add(n, x.at, acc.at);
    kernels->add_to(n, x.at, y.at, out.at);
    kernels->scale(n, factor, scaled.at);
    for (size_t i = 0; i < n; i++) {
        assert_true(acc.at[i] == x.at[i] + y.at[i]);
        assert_true(scaled.at[i] == x.at[i] * factor);
    }
    assert_same(&out, &acc);
    matrix_check(&scaled);
    matrix_check(&acc);
    matrix_free(&x);
    matrix_free(&y);
    matrix_free(&acc);
    matrix_free(&out);
    matrix_free(&scaled);
}

static void test_sums_and_multiples(void **state)
{
    (void)state;
    for_all(check_sums, 3);
}

static void check_sum_rows(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix dy = matrix_new(random, 37, n, n + 3, 1), start = matrix_new(random, 1, n, n, 1);
    matrix dbias = matrix_copy(&start);
    kernels->sum_rows(37, n, dy.at, dy.ld, dbias.at);
    for (size_t j = 0; j < n; j++) {
        double sum = (double)start.at[j];
        for (size_t i = 0; i < 37; i++)
            sum += (double)matrix_get(&dy, i, j);
        assert_near((double)dbias.at[j], sum, 38 * 38 * 6e-8);
    }
    matrix_check(&dbias);
    matrix_free(&dy);
    matrix_free(&start);
    matrix_free(&dbias);
}

static void test_gradient_of_the_bias_is_the_sum_of_rows(void **state)
{
    (void)state;
    for_all(check_sum_rows, 4);
}

static void check_dots(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 13, n, n + 5, 1), w = matrix_new(random, 1, n, n, 1);
    matrix out = matrix_new(random, 1, 13, 13, 1);
    kernels->dot_rows(13, n, x.at, x.ld, w.at, out.at);
    for (size_t i = 0; i < 13; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += (double)matrix_get(&x, i, j) * (double)w.at[j];
        assert_near((double)out.at[i], sum, 6e-8 * (double)(n * n + 1));
        assert_near((double)kernels->dot(n, x.at + i * x.ld, w.at), sum,
                    6e-8 * (double)(n * n + 1));
    }
    matrix_check(&out);
    for (size_t i = 0; i < 13; i++) { /* the same bits in any company */
        float alone;
        kernels->dot_rows(1, n, x.at + i * x.ld, x.ld, w.at, &alone);
        assert_memory_equal(&alone, &out.at[i], sizeof alone);
    }
    matrix_free(&x);
    matrix_free(&w);
    matrix_free(&out);
}

static void test_dot_products_of_rows(void **state)
{
    (void)state;
    for_all(check_dots, 5);
}

/* Normalisation. */

static void norm_plainly(size_t n, const double *x, const double *gain, const double *shift,
                         double *y, double stats[2])
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    stats[0] = mean;
    stats[1] = 1 / sqrt(variance + 1e-5);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * stats[1] * gain[i] + shift[i];
}

static void to_double(size_t n, const float *from, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

typedef struct norm_case {
    matrix x, gain, shift;
} norm_case;

static norm_case make_norm(acq_random *random, size_t m, size_t n)
{
    return (norm_case){matrix_new(random, m, n, n, 2), matrix_new(random, 1, n, n, 2),
                       matrix_new(random, 1, n, n, 2)};
}

static void free_norm(norm_case *c)
{
    matrix_free(&c->x);
    matrix_free(&c->gain);
    matrix_free(&c->shift);
}

/* y of one row in double precision. */
static void norm_row(const norm_case *c, size_t row, double *y, double stats[2])
{
    double x[MAX_WIDTH], gain[MAX_WIDTH], shift[MAX_WIDTH];
    to_double(c->x.cols, c->x.at + row * c->x.ld, x);
    to_double(c->x.cols, c->gain.at, gain);
    to_double(c->x.cols, c->shift.at, shift);
    norm_plainly(c->x.cols, x, gain, shift, y, stats);
}

static void check_norm(const acq_kernels *kernels, acq_random *random, size_t n)
{
    norm_case c = make_norm(random, 5, n);
    matrix y = matrix_copy(&c.x), stats = matrix_new(random, 5, 2, 2, 1);
    kernels->layer_norm(5, n, c.x.at, c.gain.at, c.shift.at, y.at, stats.at);
    for (size_t i = 0; i < 5; i++) {
        double want[MAX_WIDTH], want_stats[2];
        norm_row(&c, i, want, want_stats);
        for (size_t j = 0; j < n; j++)
            assert_near((double)matrix_get(&y, i, j), want[j], 4e-6);
        assert_near((double)stats.at[2 * i], want_stats[0], 1e-6);
        assert_near((double)stats.at[2 * i + 1], want_stats[1], 2e-6 * want_stats[1]);
    }
    matrix_check(&y);
    matrix_check(&stats);
    kernels->layer_norm(5, n, c.x.at, c.gain.at, c.shift.at, c.x.at, NULL);
    assert_same(&c.x, &y); /* in place, and the same bits without stats */
    free_norm(&c);
    matrix_free(&y);
    matrix_free(&stats);
}

static void test_layer_norm_is_the_formula(void **state)
{
    (void)state;
    for_all(check_norm, 6);
}

static void check_residual(const acq_kernels *kernels, acq_random *random, size_t n)
{
    norm_case c = make_norm(random, 5, n);
    matrix y = matrix_copy(&c.x), base = matrix_new(random, 5, n, n + 3, 1);
    kernels->norm_residual(5, n, c.x.at, c.gain.at, c.shift.at, base.at, base.ld, y.at);
    for (size_t i = 0; i < 5; i++) {
        double want[MAX_WIDTH], stats[2];
        norm_row(&c, i, want, stats);
        for (size_t j = 0; j < n; j++)
            assert_near((double)matrix_get(&y, i, j),
                        fmax(0, want[j]) + (double)matrix_get(&base, i, j), 4e-6);
    }
    matrix_check(&y);
    kernels->norm_residual(5, n, c.x.at, c.gain.at, c.shift.at, base.at, base.ld, c.x.at);
    assert_same(&c.x, &y);
    free_norm(&c);
    matrix_free(&y);
    matrix_free(&base);
}

static void test_norm_residual_adds_what_is_above_zero(void **state)
{
    (void)state;
    for_all(check_residual, 6);
}

/* sum of dy * y over all rows when *value is changed by step. */
static double norm_loss(const norm_case *c, const matrix *dy, float *value, double step)
{
    float old = *value;
    *value = (float)((double)old + step);
    double loss = 0, y[MAX_WIDTH], stats[2];
    for (size_t i = 0; i < dy->rows; i++) {
        norm_row(c, i, y, stats);
        for (size_t j = 0; j < dy->cols; j++)
            loss += (double)matrix_get(dy, i, j) * y[j];
    }
    *value = old;
    return loss;
}

static double norm_slope(const norm_case *c, const matrix *dy, float *value)
{
    float high = *value + 0x1p-10f, low = *value - 0x1p-10f; /* steps as they are rounded */
    double up = (double)high - (double)*value, down = (double)low - (double)*value;
    return (norm_loss(c, dy, value, up) - norm_loss(c, dy, value, down)) / (up - down);
}

static void check_norm_backward(const acq_kernels *kernels, acq_random *random, size_t n)
{
    if (n > 33 || n < 3) /* two values: the slope is all curvature */
        return;
    norm_case c = make_norm(random, 3, n);
    matrix dy = matrix_new(random, 3, n, n, 1), dx = matrix_copy(&dy);
    matrix dgain = matrix_new(random, 1, n, n, 0), dshift = matrix_new(random, 1, n, n, 0);
    matrix y = matrix_copy(&c.x), stats = matrix_new(random, 3, 2, 2, 1);
    kernels->layer_norm(3, n, c.x.at, c.gain.at, c.shift.at, y.at, stats.at);
    for (size_t j = 0; j < n; j++)
        dgain.at[j] = dshift.at[j] = 1; /* gradients are added */
    kernels->layer_norm_backward(3, n, c.x.at, c.gain.at, stats.at, dx.at, dx.at, dgain.at,
                                 dshift.at);
    for (size_t i = 0; i < 3 * n; i++)
        assert_near((double)dx.at[i], norm_slope(&c, &dy, &c.x.at[i]), 1e-4);
    for (size_t j = 0; j < n; j++) {
        assert_near((double)dgain.at[j], 1 + norm_slope(&c, &dy, &c.gain.at[j]), 1e-5);
        assert_near((double)dshift.at[j], 1 + norm_slope(&c, &dy, &c.shift.at[j]), 1e-5);
    }
    matrix_check(&dx);
    matrix_check(&dgain);
    matrix_check(&dshift);
    free_norm(&c);
    matrix_free(&dy);
    matrix_free(&dx);
    matrix_free(&dgain);
    matrix_free(&dshift);
    matrix_free(&y);
    matrix_free(&stats);
}

static void test_layer_norm_backward_is_the_slope(void **state)
{
    (void)state;
    for_all(check_norm_backward, 7);
}

/* Gates. */

typedef struct gru_case {
    matrix gi, gh, h;
} gru_case;

static gru_case make_gru(acq_random *random, size_t m, size_t d)
{
    return (gru_case){matrix_new(random, m, 3 * d, 3 * d, 3),
                      matrix_new(random, m, 3 * d, 3 * d, 3), matrix_new(random, m, d, d, 1)};
}

static void free_gru(gru_case *c)
{
    matrix_free(&c->gi);
    matrix_free(&c->gh);
    matrix_free(&c->h);
}

static double sigmoid_plainly(double x)
{
    return 1 / (1 + exp(-x));
}

/* out of element j of row i, and r, u, n. */
static double gru_plainly(const gru_case *c, size_t i, size_t j, double gates[3])
{
    size_t d = c->h.cols;
    double gi[3], gh[3];
    for (size_t g = 0; g < 3; g++) {
        gi[g] = (double)matrix_get(&c->gi, i, g * d + j);
        gh[g] = (double)matrix_get(&c->gh, i, g * d + j);
    }
    gates[0] = sigmoid_plainly(gi[0] + gh[0]);
    gates[1] = sigmoid_plainly(gi[1] + gh[1]);
    gates[2] = tanh(gi[2] + gates[0] * gh[2]);
    return (1 - gates[1]) * gates[2] + gates[1] * (double)matrix_get(&c->h, i, j);
}

static void check_gru(const acq_kernels *kernels, acq_random *random, size_t d)
{
    gru_case c = make_gru(random, 5, d);
    matrix out = matrix_copy(&c.h), gates = matrix_copy(&c.gi);
    kernels->gru(5, d, c.gi.at, c.gh.at, c.h.at, out.at, gates.at);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < d; j++) {
            double want[3];
            assert_near((double)matrix_get(&out, i, j), gru_plainly(&c, i, j, want), 2e-6);
            for (size_t g = 0; g < 3; g++)
                assert_near((double)matrix_get(&gates, i, g * d + j), want[g], 1e-6);
        }
    matrix_check(&out);
    matrix_check(&gates);
    kernels->gru(5, d, c.gi.at, c.gh.at, c.h.at, c.h.at, NULL);
    assert_same(&c.h, &out); /* in place, and the same bits without gates */
    free_gru(&c);
    matrix_free(&out);
    matrix_free(&gates);
}

static void test_gru_is_the_formula(void **state)
{
    (void)state;
    for_all(check_gru, 8);
}

/* Slope of dout * out of element (i, j) with respect to *value. */
static double gru_slope(const gru_case *c, size_t i, size_t j, float dout, float *value)
{
    double gates[3];
    float old = *value;
    *value = old + 0x1p-10f;
    double up = (double)*value, high = gru_plainly(c, i, j, gates);
    *value = old - 0x1p-10f;
    double down = (double)*value, low = gru_plainly(c, i, j, gates);
    *value = old;
    return (double)dout * (high - low) / (up - down);
}

static void check_gru_element(const gru_case *c, size_t i, size_t j, float dout, const matrix *dgi,
                              const matrix *dgh)
{
    size_t d = c->h.cols;
    for (size_t g = 0; g < 3; g++) {
        size_t at = i * 3 * d + g * d + j;
        assert_near((double)dgi->at[at], gru_slope(c, i, j, dout, &c->gi.at[at]), 1e-5);
        assert_near((double)dgh->at[at], gru_slope(c, i, j, dout, &c->gh.at[at]), 1e-5);
    }
}

static void check_gru_backward(const acq_kernels *kernels, acq_random *random, size_t d)
{
    gru_case c = make_gru(random, 3, d);
    matrix out = matrix_copy(&c.h), gates = matrix_copy(&c.gi), dgi = matrix_copy(&c.gi);
    matrix dgh = matrix_copy(&c.gi), dh = matrix_copy(&c.h), dout = matrix_new(random, 3, d, d, 1);
    kernels->gru(3, d, c.gi.at, c.gh.at, c.h.at, out.at, gates.at);
    kernels->gru_backward(3, d, gates.at, c.gh.at, c.h.at, dout.at, dgi.at, dgh.at, dh.at);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < d; j++) {
            float *h = &c.h.at[i * d + j], grad = matrix_get(&dout, i, j);
            check_gru_element(&c, i, j, grad, &dgi, &dgh);
            assert_near((double)matrix_get(&dh, i, j), gru_slope(&c, i, j, grad, h), 1e-5);
        }
    matrix_check(&dgi);
    matrix_check(&dgh);
    matrix_check(&dh);
    free_gru(&c);
    matrix_free(&out);
    matrix_free(&gates);
    matrix_free(&dgi);
    matrix_free(&dgh);
    matrix_free(&dh);
    matrix_free(&dout);
}

static void test_gru_backward_is_the_slope(void **state)
{
    (void)state;
    for_all(check_gru_backward, 9);
}

/* sigmoid and tanh of x as the kernels compute them. */
static void get_gates(const acq_kernels *kernels, float x, float *sigmoid, float *tanh_x)
{
    float gi[3] = {x, x, x}, gh[3] = {0}, h = 0, out, gates[3];
    kernels->gru(1, 1, gi, gh, &h, &out, gates);
    *sigmoid = gates[0];
    *tanh_x = gates[2];
}

static void assert_accurate(const acq_kernels *kernels, float x)
{
    float s, t;
    get_gates(kernels, x, &s, &t);
    double want_s = sigmoid_plainly((double)x), want_t = tanh((double)x);
    assert_near((double)s, want_s, 4e-7 * want_s);
    assert_near((double)t, want_t, 4e-7 * fabs(want_t));
}

static void test_gates_are_accurate_over_their_range(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++) {
        for (int i = -86000; i <= 86000; i += 7)
            assert_accurate(sets[s], (float)i * 1e-3f);
        for (float x = 1; x > 1e-37f; x *= .83f) {
            assert_accurate(sets[s], x);
            assert_accurate(sets[s], -x);
        }
    }
}

static void test_gates_stay_finite_and_pass_on_what_is_not_a_number(void **state)
{
    (void)state;
    static const float large[] = {88, 100, 1e4f, 1e30f, 3e38f, INFINITY};
    for (size_t k = 0; k < n_sets; k++) {
        float s, t;
        for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
            get_gates(sets[k], large[i], &s, &t);
            assert_true(s == 1 && t == 1);
            get_gates(sets[k], -large[i], &s, &t);
            assert_true(s >= 0 && s < 1e-37f && t == -1);
        }
        get_gates(sets[k], NAN, &s, &t);
        assert_true(isnan(s) && isnan(t));
        float denormals[] = {1e-40f, 0, -0.f};
        for (size_t i = 0; i < 3; i++) {
            get_gates(sets[k], denormals[i], &s, &t);
            assert_true(s == .5f && fabsf(t - denormals[i]) <= 1e-45f);
        }
    }
}

/* relu, sums and products pass NaN on; max ignores it in x and keeps it in acc. */
static void test_not_a_number_is_passed_on_by_all_but_max(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++) {
        float x[] = {NAN, 1, NAN}, acc[] = {2, NAN, NAN};
        uint32_t arg[] = {7, 7, 7};
        sets[k]->max_index(3, x, 9, acc, arg);
        assert_true(acc[0] == 2 && isnan(acc[1]) && isnan(acc[2]));
        assert_true(arg[0] == 7 && arg[1] == 7 && arg[2] == 7);
        sets[k]->max(3, x, acc);
        assert_true(acc[0] == 2 && isnan(acc[1]) && isnan(acc[2]));
        sets[k]->relu(3, x);
        assert_true(isnan(x[0]) && x[1] == 1 && isnan(x[2]));
        float ones[] = {1, 1, 1};
        assert_true(isnan(sets[k]->dot(3, x, ones)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relu_keeps_what_is_positive_and_its_gradient),
        cmocka_unit_test(test_maximum_and_where_it_came_from),
        cmocka_unit_test(test_sums_and_multiples),
        cmocka_unit_test(test_gradient_of_the_bias_is_the_sum_of_rows),
        cmocka_unit_test(test_dot_products_of_rows),
        cmocka_unit_test(test_layer_norm_is_the_formula),
        cmocka_unit_test(test_norm_residual_adds_what_is_above_zero),
        cmocka_unit_test(test_layer_norm_backward_is_the_slope),
        cmocka_unit_test(test_gru_is_the_formula),
        cmocka_unit_test(test_gru_backward_is_the_slope),
        cmocka_unit_test(test_gates_are_accurate_over_their_range),
        cmocka_unit_test(test_gates_stay_finite_and_pass_on_what_is_not_a_number),
        cmocka_unit_test(test_not_a_number_is_passed_on_by_all_but_max),
    };
    n_sets = test_list_kernels(sets);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
