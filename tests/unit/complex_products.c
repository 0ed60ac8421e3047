/* complex_products.c - the large products of a ComplEx training: packed over what was there before,
 * of every size, in f32 and in bfloat16, on any number of threads, against sums in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "models/complex/model.h"

typedef struct sides { /* a [m x k], b [k x n]; b also as columns */
    size_t m, k, n;
    float *a, *b, *columns, *c;
} sides;

static float *draw(acq_random *random, size_t n)
{
    float *values = malloc(n * sizeof *values + 1);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)acq_random_unit(random) - .5f;
    return values;
}

static sides sides_new(acq_random *random, size_t m, size_t k, size_t n)
{
    sides s = {m, k, n, draw(random, m * k), draw(random, k * n), draw(random, k * n), NULL};
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < n; j++)
            s.columns[j * k + l] = s.b[l * n + j];
    s.c = draw(random, m * n);
    return s;
}

static void sides_free(sides *s)
{
    free(s->a);
    free(s->b);
    free(s->columns);
    free(s->c);
}

/* What was there before must not show, not even in what only fills up. */
static void spoil(acq_floats *floats)
{
    for (size_t i = 0; i < floats->room; i++)
        floats->at[i] = NAN;
}

static void pack(const sides *s, const acq_complex_right *right, bool by_rows)
{
    const acq_kernels *kernels = acq_kernels_get_best();
    for (size_t l = 0; by_rows && l < s->k; l += 2)
        acq_complex_pack_rows(kernels, right, l, s->b + l * s->n,
                              l + 1 < s->k ? s->b + (l + 1) * s->n : NULL);
    for (size_t j = 0; !by_rows && j < s->n; j += ACQ_PANEL) {
        const float *vectors[ACQ_PANEL];
        for (size_t i = 0; i < ACQ_PANEL; i++)
            vectors[i] = s->columns + (j + i < s->n ? j + i : j) * s->k;
        acq_complex_pack_columns(kernels, right, j, vectors);
    }
}

static void check_product(const sides *s, bool is_half)
{
    double digits = is_half ? 1e-2 : 1e-6;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            double sum = 0, size = 0;
            for (size_t l = 0; l < s->k; l++) {
                double term = (double)s->a[i * s->k + l] * (double)s->b[l * s->n + j];
                sum += term;
                size += fabs(term);
            }
            assert_true(fabs((double)s->c[i * s->n + j] - sum) <= digits * size);
        }
}

static void check(acq_random *random, size_t m, size_t k, size_t n)
{
    acq_floats room = {0};
    sides s = sides_new(random, m, k, n);
    for (unsigned way = 0; way < 12; way++) {
        unsigned n_threads = 1 + way / 4;
        acq_floats narrowed[3] = {{0}};
        acq_complex_gradient self = {
            .kernels = acq_kernels_get_best(), .n_threads = n_threads, .narrowed = narrowed};
        acq_complex_right right;
        assert_int_equal(acq_pool_new(n_threads, &self.pool, NULL), ACQ_OK);
        assert_int_equal(acq_floats_need(&room, n + ACQ_PANEL, k + 32), ACQ_OK);
        spoil(&room);
        assert_int_equal(acq_complex_shape(&room, k, n, way % 2 != 0, &right), ACQ_OK);
        pack(&s, &right, way / 2 % 2 != 0);
        assert_int_equal(acq_complex_multiply(&self, m, s.a, k, &right, s.c, n), ACQ_OK);
        check_product(&s, way % 2 != 0);
        acq_pool_free(self.pool);
        for (size_t i = 0; i < 3; i++)
            acq_floats_deinit(&narrowed[i]);
    }
    acq_floats_deinit(&room);
    sides_free(&s);
}

static void test_products_of_every_size(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        acq_random random = acq_random_start(seed, 1);
        size_t m = seed % 10 == 0 ? 300 : 1 + acq_random_below(&random, 30);
        size_t k = seed % 10 == 1 ? 513 : 1 + acq_random_below(&random, 140);
        check(&random, m, k, 1 + acq_random_below(&random, 70));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_of_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
