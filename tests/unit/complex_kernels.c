/* complex_kernels.c - the kernels of embedding models of every set against plain code in double
 * precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>

#include <cmocka.h>

#include "support/kernel_list.h"
#include "support/matrix.h"
#include "tensor/bf16.h"
#include "tensor/kernels.h"

static const acq_kernels *sets[TEST_MAX_KERNELS];
static size_t n_sets;

static const size_t widths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 96, 131};
enum { N_WIDTHS = sizeof widths / sizeof *widths, MAX_WIDTH = 131 };

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.9g is not %.9g", got, want);
}

static void for_all(void (*check)(const acq_kernels *, acq_random *, size_t), uint64_t stream)
{
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < N_WIDTHS; i++) {
            acq_random random = acq_random_start(i, stream);
            check(sets[s], &random, widths[i]);
        }
}

static void check_flags(const acq_kernels *kernels, const matrix *x, const matrix *y,
                        const matrix *start, unsigned flags)
{
    matrix out = matrix_copy(start);
    double sign = flags & ACQ_COMPLEX_CONJUGATE ? -1 : 1, keep = flags & ACQ_COMPLEX_ADD ? 1 : 0;
    size_t half = x->ld;
    kernels->complex_product(x->cols, half, x->at, y->at, flags, out.at);
    for (size_t i = 0; i < x->cols; i++) {
        double a = (double)x->at[i], b = (double)x->at[half + i];
        double c = (double)y->at[i], d = sign * (double)y->at[half + i];
        assert_near((double)out.at[i], keep * (double)start->at[i] + a * c - b * d, 4e-7);
        assert_near((double)out.at[half + i], keep * (double)start->at[half + i] + a * d + b * c,
                    4e-7);
    }
    matrix_check(&out);
    matrix_free(&out);
}

/* The two rows of a matrix are the real and the imaginary parts. */
static void check_products(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 2, n, n + 3, 1), y = matrix_new(random, 2, n, n + 3, 1);
    matrix start = matrix_new(random, 2, n, n + 3, 1);
    for (unsigned flags = 0; flags < 4; flags++)
        check_flags(kernels, &x, &y, &start, flags);
    matrix_free(&x);
    matrix_free(&y);
    matrix_free(&start);
}

static void test_products_are_those_of_complex_numbers(void **state)
{
    (void)state;
    for_all(check_products, 1);
}

static void check_max(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 1, n, n, 1);
    for (size_t i = 0; i < n; i++)
        x.at[i] -= 2; /* all below zero */
    for (size_t at = 0; at < n; at++) {
        float kept = x.at[at];
        x.at[at] = -.5f;
        assert_true(kernels->find_max(n, x.at) == -.5f);
        x.at[at] = kept;
    }
    assert_true(kernels->find_max(0, x.at) == -INFINITY);
    matrix_free(&x);
}

static void test_the_maximum_is_found_wherever_it_is(void **state)
{
    (void)state;
    for_all(check_max, 2);
}

static void check_exp(const acq_kernels *kernels, acq_random *random, size_t n)
{
    matrix x = matrix_new(random, 1, n, n, 40), y = matrix_copy(&x);
    double sum = 0;
    float got = kernels->exp_sum(n, 3, y.at);
    for (size_t i = 0; i < n; i++) {
        double want = exp((double)(x.at[i] - 3));
        assert_near((double)y.at[i], want, 3e-7 * want);
        sum += want;
    }
    assert_near((double)got, sum, 1e-6 * sum);
    matrix_check(&y);
    matrix_free(&x);
    matrix_free(&y);
}

static void test_exponentials_and_their_sum(void **state)
{
    (void)state;
    for_all(check_exp, 3);
    for (size_t k = 0; k < n_sets; k++) {
        float x[] = {-1e30f, 1e30f, NAN};
        assert_true(isnan(sets[k]->exp_sum(3, 0, x)));
        assert_true(x[0] >= 0 && x[0] < 1e-37f && x[1] > 1e37f && x[1] < FLT_MAX && isnan(x[2]));
        assert_true(sets[k]->exp_sum(0, 0, x) == 0);
    }
}

static double slope_of_n3(double re, double im, double n3)
{
    return 3 * n3 * sqrt(re * re + im * im) * re;
}

static void check_adagrad(const acq_kernels *kernels, acq_random *random, size_t n)
{
    const float rate = .1f, n3 = .25f;
    matrix x = matrix_new(random, 2, n, n + 3, 1), g = matrix_new(random, 2, n, n + 3, 1);
    matrix squares = matrix_new(random, 2, n, n + 3, 1);
    for (size_t i = 0; i < 2 * n; i++)
        squares.at[i / n * squares.ld + i % n] += 1;
    matrix moved = matrix_copy(&x), sums = matrix_copy(&squares);
    kernels->adagrad_n3(n, x.ld, rate, n3, g.at, sums.at, moved.at);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t side = i / n, col = i % n, at = side * x.ld + col;
        double own = (double)x.at[at], other = (double)x.at[(1 - side) * x.ld + col];
        double slope = (double)g.at[at] + slope_of_n3(own, other, (double)n3);
        double sum = (double)squares.at[at] + slope * slope;
        assert_near((double)sums.at[at], sum, 2e-6);
        assert_near((double)moved.at[at], own - (double)rate * slope / (sqrt(sum) + 1e-10), 5e-7);
    }
    matrix_check(&moved);
    matrix_check(&sums);
    matrix *all[] = {&x, &g, &squares, &moved, &sums};
    for (size_t i = 0; i < 5; i++)
        matrix_free(all[i]);
}

static void test_adagrad_with_n3_is_the_formula(void **state)
{
    (void)state;
    for_all(check_adagrad, 4);
    for (size_t k = 0; k < n_sets; k++) { /* nothing moves where there is no slope */
        float x[] = {0, 2, 0, 0}, zero[4] = {0}, squares[4] = {0};
        sets[k]->adagrad_n3(2, 2, .1f, 0, zero, squares, x);
        assert_true(x[0] == 0 && x[1] == 2 && x[2] == 0 && squares[1] == 0);
    }
}

/* Against the plain rounding, denormal and large values among them. */
static void check_narrow(const acq_kernels *kernels, acq_random *random, size_t n)
{
    float x[MAX_WIDTH] = {0}, y[MAX_WIDTH] = {0};
    acq_bf16 single[MAX_WIDTH + 1] = {0}, pairs[2 * MAX_WIDTH + 1] = {0};
    for (size_t i = 0; i < n; i++) {
        x[i] =
            ldexpf((float)acq_random_unit(random) - .5f, (int)acq_random_below(random, 250) - 140);
        y[i] = ldexpf((float)acq_random_unit(random) - .5f, 3);
    }
    single[n] = pairs[2 * n] = 7; /* stays */
    kernels->narrow(n, x, single);
    kernels->narrow_pairs(n, x, y, pairs);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(single[i], acq_bf16_from_float(x[i]));
        assert_int_equal(pairs[2 * i], single[i]);
        assert_int_equal(pairs[2 * i + 1], acq_bf16_from_float(y[i]));
    }
    assert_true(single[n] == 7 && pairs[2 * n] == 7);
}

static void test_narrowing_is_the_rounding_to_bfloat16(void **state)
{
    (void)state;
    for_all(check_narrow, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_those_of_complex_numbers),
        cmocka_unit_test(test_narrowing_is_the_rounding_to_bfloat16),
        cmocka_unit_test(test_the_maximum_is_found_wherever_it_is),
        cmocka_unit_test(test_exponentials_and_their_sum),
        cmocka_unit_test(test_adagrad_with_n3_is_the_formula),
    };
    n_sets = test_list_kernels(sets);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
