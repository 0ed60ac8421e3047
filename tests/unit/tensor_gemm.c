/* tensor_gemm.c - products of every set of kernels against sums in double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/kernel_list.h"
#include "support/matrix.h"
#include "tensor/kernels.h"

static const acq_kernels *sets[TEST_MAX_KERNELS];
static size_t n_sets;

/* Sizes as they come up, with their neighbours and odd ones. */
static size_t pick_size(acq_random *random)
{
    static const size_t sizes[] = {1, 2, 3, 5, 15, 16, 17, 20, 31, 32, 33, 47, 64, 96, 128};
    return sizes[acq_random_below(random, sizeof sizes / sizeof *sizes)];
}

static size_t pick_gap(acq_random *random)
{
    return acq_random_below(random, 2) * acq_random_below(random, 20);
}

static acq_packed pack(const matrix *w)
{
    acq_packed b;
    assert_int_equal(acq_packed_init(&b, w->cols, w->rows), ACQ_OK);
    acq_packed_fill(&b, w->at, w->ld);
    return b;
}

typedef struct product { /* c = a w' + bias */
    matrix a, w, bias, c;
    unsigned flags;
    bool has_bias;
} product;

static product make_product(acq_random *random, size_t m, size_t k, size_t n)
{
    product p = {.flags = (unsigned)acq_random_below(random, 4),
                 .has_bias = acq_random_below(random, 2) == 0};
    p.a = matrix_new(random, m, k, k + pick_gap(random), 1);
    p.w = matrix_new(random, n, k, k + pick_gap(random), 1);
    p.bias = matrix_new(random, 1, n, n, 1);
    p.c = matrix_new(random, m, n, n + pick_gap(random), 1);
    return p;
}

static void free_product(product *p)
{
    matrix_free(&p->a);
    matrix_free(&p->w);
    matrix_free(&p->bias);
    matrix_free(&p->c);
}

static void assert_element(const product *p, size_t i, size_t j, float got)
{
    double sum = p->has_bias ? (double)p->bias.at[j] : 0;
    if (p->flags & ACQ_GEMM_ADD)
        sum += (double)matrix_get(&p->c, i, j);
    double size = fabs(sum);
    for (size_t l = 0; l < p->a.cols; l++) {
        double term = (double)matrix_get(&p->a, i, l) * (double)matrix_get(&p->w, j, l);
        sum += term;
        size += fabs(term);
    }
    if (p->flags & ACQ_GEMM_RELU && sum < 0)
        sum = 0;
    assert_true(fabs((double)got - sum) <= 6e-8 * (double)(p->a.cols + 4) * size);
}

static void check_product(const acq_kernels *kernels, const product *p)
{
    matrix c = matrix_copy(&p->c);
    acq_packed b = pack(&p->w);
    kernels->gemm(c.rows, p->a.at, p->a.ld, &b, p->has_bias ? p->bias.at : NULL, p->flags, c.at,
                  c.ld);
    for (size_t i = 0; i < c.rows; i++)
        for (size_t j = 0; j < c.cols; j++)
            assert_element(p, i, j, matrix_get(&c, i, j));
    matrix_check(&c);
    acq_packed_deinit(&b);
    matrix_free(&c);
}

static void test_product_is_the_sum_in_double_precision(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        acq_random random = acq_random_start(seed, 1);
        size_t k = seed % 16 == 0 ? 600 : pick_size(&random);
        product p = make_product(&random, acq_random_below(&random, 70), k, pick_size(&random));
        for (size_t s = 0; s < n_sets; s++)
            check_product(sets[s], &p);
        free_product(&p);
    }
}

static void test_product_over_nothing_is_the_bias(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++) {
        acq_random random = acq_random_start(s, 2);
        matrix bias = matrix_new(&random, 1, 19, 19, 1), c = matrix_new(&random, 7, 19, 19, 1);
        acq_packed b;
        assert_int_equal(acq_packed_init(&b, 0, 19), ACQ_OK);
        sets[s]->gemm(7, c.at, 0, &b, bias.at, 0, c.at, 19);
        for (size_t i = 0; i < 7; i++)
            assert_memory_equal(c.at + i * 19, bias.at, 19 * sizeof(float));
        matrix_check(&c);
        acq_packed_deinit(&b);
        matrix_free(&bias);
        matrix_free(&c);
    }
}

/* Rows [from, from + m) alone give the bits they have in c. */
static void check_part(const acq_kernels *kernels, const product *p, const matrix *c, size_t from,
                       size_t m)
{
    matrix part = matrix_copy(&p->c);
    acq_packed b = pack(&p->w);
    kernels->gemm(m, p->a.at + from * p->a.ld, p->a.ld, &b, p->has_bias ? p->bias.at : NULL,
                  p->flags, part.at + from * part.ld, part.ld);
    for (size_t i = from; i < from + m; i++)
        assert_memory_equal(part.at + i * part.ld, c->at + i * c->ld, c->cols * sizeof(float));
    acq_packed_deinit(&b);
    matrix_free(&part);
}

static void check_rows_alone(const acq_kernels *kernels, const product *p, acq_random *random)
{
    matrix c = matrix_copy(&p->c);
    acq_packed b = pack(&p->w);
    kernels->gemm(c.rows, p->a.at, p->a.ld, &b, p->has_bias ? p->bias.at : NULL, p->flags, c.at,
                  c.ld);
    for (size_t i = 0; i < c.rows; i++)
        check_part(kernels, p, &c, i, 1);
    for (size_t i = 0; i < 10; i++) {
        size_t from = acq_random_below(random, c.rows);
        check_part(kernels, p, &c, from, 1 + acq_random_below(random, c.rows - from));
    }
    acq_packed_deinit(&b);
    matrix_free(&c);
}

static void test_row_has_the_same_bits_in_any_company(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{32, 32}, {5, 20}, {128, 96}, {300, 33}, {33, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        acq_random random = acq_random_start(i, 3);
        product p = make_product(&random, 41, shapes[i][0], shapes[i][1]);
        for (size_t s = 0; s < n_sets; s++)
            check_rows_alone(sets[s], &p, &random);
        free_product(&p);
    }
}

static void check_weights(const acq_kernels *kernels, const matrix *dy, const matrix *a,
                          const matrix *start)
{
    matrix dw = matrix_copy(start);
    kernels->gemm_weights(a->rows, dy->cols, a->cols, dy->at, dy->ld, a->at, a->ld, dw.at, dw.ld);
    for (size_t i = 0; i < dw.rows; i++)
        for (size_t j = 0; j < dw.cols; j++) {
            double sum = (double)matrix_get(start, i, j), size = fabs(sum);
            for (size_t l = 0; l < a->rows; l++) {
                double term = (double)matrix_get(dy, l, i) * (double)matrix_get(a, l, j);
                sum += term;
                size += fabs(term);
            }
            assert_true(fabs((double)matrix_get(&dw, i, j) - sum) <=
                        6e-8 * (double)(a->rows + 4) * size);
        }
    matrix_check(&dw);
    matrix_free(&dw);
}

static void test_gradient_of_weights_is_the_sum_in_double_precision(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        acq_random random = acq_random_start(seed, 4);
        size_t m = acq_random_below(&random, 400), n = pick_size(&random), k = pick_size(&random);
        matrix dy = matrix_new(&random, m, n, n + pick_gap(&random), 1);
        matrix a = matrix_new(&random, m, k, k + pick_gap(&random), 1);
        matrix dw = matrix_new(&random, n, k, k + pick_gap(&random), 1);
        for (size_t s = 0; s < n_sets; s++)
            check_weights(sets[s], &dy, &a, &dw);
        matrix_free(&dy);
        matrix_free(&a);
        matrix_free(&dw);
    }
}

static void test_panels_hold_the_weights_and_their_transpose(void **state)
{
    (void)state;
    acq_random random = acq_random_start(1, 5);
    matrix w = matrix_new(&random, 21, 9, 13, 1);
    acq_packed b, t;
    assert_int_equal(acq_packed_init(&b, 9, 21), ACQ_OK);
    assert_int_equal(acq_packed_init(&t, 21, 9), ACQ_OK);
    assert_int_equal((uintptr_t)b.panels % 64, 0);
    acq_packed_fill(&b, w.at, w.ld);
    acq_packed_fill_transposed(&t, w.at, w.ld);
    for (size_t i = 0; i < 32; i++)
        for (size_t j = 0; j < 9; j++) {
            float want = i < 21 ? matrix_get(&w, i, j) : 0;
            assert_true(b.panels[i / 16 * 9 * 16 + j * 16 + i % 16] == want);
            assert_true(i >= 21 || t.panels[i * 16 + j] == want);
        }
    acq_packed_deinit(&b);
    acq_packed_deinit(&t);
    acq_packed_deinit(&t);
    matrix_free(&w);
}

static void test_panels_without_room_are_an_error(void **state)
{
    (void)state;
    acq_packed b = {0};
    assert_int_equal(acq_packed_init(&b, SIZE_MAX / 2, 40), ACQ_ERR_MEMORY);
    assert_int_equal(acq_packed_init(&b, SIZE_MAX / 64, 16), ACQ_ERR_MEMORY);
#ifdef ACQ_FAULTS
    acq_faults_fail_at(1);
    assert_int_equal(acq_packed_init(&b, 3, 3), ACQ_ERR_MEMORY);
    acq_faults_fail_at(0);
#endif
    assert_null(b.block);
}

static void test_best_set_is_one_that_runs_here(void **state)
{
    (void)state;
    const acq_kernels *best = acq_kernels_get_best();
    assert_ptr_equal(best, acq_kernels_get_best());
    assert_ptr_equal(best, acq_kernels_find(best->name));
    assert_ptr_equal(best, sets[n_sets - 1]);
    assert_null(acq_kernels_find("mmx"));
    assert_non_null(acq_kernels_find("generic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product_is_the_sum_in_double_precision),
        cmocka_unit_test(test_product_over_nothing_is_the_bias),
        cmocka_unit_test(test_row_has_the_same_bits_in_any_company),
        cmocka_unit_test(test_gradient_of_weights_is_the_sum_in_double_precision),
        cmocka_unit_test(test_panels_hold_the_weights_and_their_transpose),
        cmocka_unit_test(test_panels_without_room_are_an_error),
        cmocka_unit_test(test_best_set_is_one_that_runs_here),
    };
    n_sets = test_list_kernels(sets);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
