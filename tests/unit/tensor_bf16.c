/* tensor_bf16.c - products of bfloat16 matrices: the plain one, the tiled one on emulated tiles,
 * and the one that is chosen here. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/bf16_emulated.h"
#include "support/matrix.h"

static void test_rounding_is_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    static const struct {
        float from, to;
    } cases[] = {{1, 1},
                 {0x1.01p0f, 0x1p0f},    /* tie, even below */
                 {0x1.03p0f, 0x1.04p0f}, /* tie, even above */
                 {0x1.0102p0f, 0x1.02p0f},
                 {-0x1.00fep0f, -1},
                 {0, 0},
                 {0x1.fffffep127f, INFINITY},
                 {-INFINITY, -INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(acq_bf16_to_float(acq_bf16_from_float(cases[i].from)) == cases[i].to);
    uint32_t low_payload = 0x7f800001;
    float nan;
    memcpy(&nan, &low_payload, sizeof nan);
    assert_true(isnan(acq_bf16_to_float(acq_bf16_from_float(nan))));
    assert_true(isnan(acq_bf16_to_float(acq_bf16_from_float(-NAN))));
}

/* Rows of a in bfloat16 in exactly as many bytes as they take. */
static acq_bf16 *round_rows(const matrix *a)
{
    size_t n = a->rows == 0 ? 0 : (a->rows - 1) * a->ld + a->cols;
    acq_bf16 *rounded = malloc(n * sizeof *rounded + 1);
    assert_non_null(rounded);
    for (size_t i = 0; i < n; i++)
        rounded[i] = acq_bf16_from_float(a->at[i]);
    return rounded;
}

static double round_value(float value)
{
    return (double)acq_bf16_to_float(acq_bf16_from_float(value));
}

static void assert_element(const matrix *a, const matrix *w, size_t i, size_t j, float got)
{
    double sum = 0, size = 0;
    for (size_t l = 0; l < a->cols; l++) {
        double term = round_value(matrix_get(a, i, l)) * round_value(matrix_get(w, j, l));
        sum += term;
        size += fabs(term);
    }
    assert_true(fabs((double)got - sum) <= 6e-8 * (double)(a->cols + 4) * size);
}

static void check_product(acq_bf16_gemm *gemm, const matrix *a, const matrix *w, matrix *c)
{
    acq_bf16_packed b;
    acq_bf16 *rows = round_rows(a);
    assert_int_equal(acq_bf16_packed_init(&b, w->cols, w->rows, w->at, w->ld), ACQ_OK);
    gemm(a->rows, rows, a->ld, &b, c->at, c->ld);
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->cols; j++)
            assert_element(a, w, i, j, matrix_get(c, i, j));
    matrix_check(c);
    acq_bf16_packed_deinit(&b);
    free(rows);
}

static void test_values_drawn_are_right_on_average(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const float given[] = {1.001F, -3.1415F, 1e-30F, 65537.F, 0.F, 1.F, FLT_MAX};
    static float values[N];
    static acq_bf16 drawn[N], again[N];
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        double sum = 0, step = fabs((double)given[i]) / 128; /* between two halves, at most */
        for (size_t j = 0; j < N; j++)
            values[j] = given[i];
        acq_bf16_draw(values, N, i, drawn);
        acq_bf16_draw(values, N, i, again);
        assert_memory_equal(drawn, again, sizeof drawn);
        for (size_t j = 0; j < N; j++) {
            double one = (double)acq_bf16_to_float(drawn[j]);
            assert_true(fabs(one - (double)given[i]) <= step);
            sum += one / N;
        }
        if (given[i] < FLT_MAX) /* of which one of the two is infinite */
            assert_true(fabs(sum - (double)given[i]) <= .02 * step);
    }
}

static void test_products_are_the_sums_in_double_precision(void **state)
{
    (void)state;
    acq_bf16_gemm *const gemms[] = {acq_bf16_gemm_generic, acq_bf16_gemm_emulated,
                                    acq_bf16_find("amx"), acq_bf16_find("avx512")};
    for (uint64_t seed = 0; seed < 40; seed++) {
        acq_random random = acq_random_start(seed, 1);
        size_t m = seed % 8 == 1 ? 241 + seed : acq_random_below(&random, 80);
        size_t n = 1 + acq_random_below(&random, 80);
        size_t k = seed == 9 ? 2309 : seed % 8 < 2 ? 257 + seed : 1 + acq_random_below(&random, 100);
        matrix a = matrix_new(&random, m, k, k + acq_random_below(&random, 9), 1);
        matrix w = matrix_new(&random, n, k, k + acq_random_below(&random, 9), 1);
        matrix c = matrix_new(&random, m, n, n + acq_random_below(&random, 9), 1);
        for (size_t g = 0; g < sizeof gemms / sizeof *gemms; g++)
            if (gemms[g] != NULL)
                check_product(gemms[g], &a, &w, &c);
        matrix_free(&a);
        matrix_free(&w);
        matrix_free(&c);
    }
}

static void test_packing_without_room_is_an_error(void **state)
{
    (void)state;
    acq_bf16_packed b = {0};
    assert_int_equal(acq_bf16_packed_init(&b, SIZE_MAX, 3, NULL, 0), ACQ_ERR_MEMORY);
    assert_int_equal(acq_bf16_packed_init(&b, 3, SIZE_MAX, NULL, 0), ACQ_ERR_MEMORY);
    assert_int_equal(acq_bf16_packed_init(&b, SIZE_MAX / 8, 40, NULL, 0), ACQ_ERR_MEMORY);
#ifdef ACQ_FAULTS
    float one = 1;
    acq_faults_fail_at(1);
    assert_int_equal(acq_bf16_packed_init(&b, 1, 1, &one, 1), ACQ_ERR_MEMORY);
    acq_faults_fail_at(0);
#endif
    assert_null(b.block);
    acq_bf16_packed_deinit(&b);
}

/* Else a training multiplies in f32, and nobody notices. */
static void test_what_the_processor_has_is_used(void **state)
{
    (void)state;
#if defined(__linux__) && defined(__x86_64__) && __GNUC__ >= 12
    bool has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(acq_bf16_find("avx512") != NULL, has);
    assert_true(acq_bf16_is_fast() || !has);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding_is_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(test_values_drawn_are_right_on_average),
        cmocka_unit_test(test_products_are_the_sums_in_double_precision),
        cmocka_unit_test(test_packing_without_room_is_an_error),
        cmocka_unit_test(test_what_the_processor_has_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
