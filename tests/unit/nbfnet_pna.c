/* nbfnet_pna.c - the kernels of principal neighbourhood aggregation of every set against plain code
 * in double precision, backward against differences of that code, and the rule for ties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/kernel_list.h"
#include "support/matrix.h"

enum { NODES = 7, RELATIONS = 3, MOST_WIDTH = 48, CASES = 40, AGGREGATES = 4 };

static const acq_kernels *sets[TEST_MAX_KERNELS];
static size_t n_sets;

/* One node's edges: every (relation, source) with a chance. */
typedef struct pna_case {
    uint32_t rows[2], relations[RELATIONS], begins[RELATIONS + 1];
    uint32_t sources[RELATIONS * NODES];
    size_t width;
    matrix x, vectors, boundary;
    uint32_t n_zero;
    bool has_boundary;
    const float *moved; /* is read as if it were more by this */
    double by;
} pna_case;

static void draw_edges(pna_case *c, acq_random *random, double share)
{
    uint32_t n_groups = 0, n = 0;
    for (uint32_t r = 0; r < RELATIONS; r++) {
        uint32_t begin = n;
        for (uint32_t s = 0; s < NODES; s++)
            if (acq_random_unit(random) < share)
                c->sources[n++] = s;
        if (n == begin)
            continue;
        c->relations[n_groups++] = r;
        c->begins[n_groups] = n;
    }
    c->rows[1] = n_groups;
}

static void pna_case_init(pna_case *c, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 31);
    *c = (pna_case){.width = 16 * (1 + seed % 3),
                    .n_zero = (uint32_t)acq_random_below(&random, 3),
                    .has_boundary = seed % 2 == 0};
    draw_edges(c, &random, seed % 7 == 0 ? 0 : acq_random_unit(&random));
    c->x = matrix_new(&random, NODES, c->width, c->width + seed % 5, 2);
    c->vectors = matrix_new(&random, RELATIONS, c->width, c->width, 2);
    c->boundary = matrix_new(&random, 1, c->width, c->width, 2);
}

static void pna_case_deinit(pna_case *c)
{
    matrix_free(&c->x);
    matrix_free(&c->vectors);
    matrix_free(&c->boundary);
}

static acq_messages get_messages(const pna_case *c)
{
    return (acq_messages){.rows = c->rows,
                          .relations = c->relations,
                          .begins = c->begins,
                          .sources = c->sources,
                          .width = c->width,
                          .vectors = c->vectors.at,
                          .in = c->x.at,
                          .ld_in = c->x.ld};
}

static double get(const pna_case *c, const matrix *m, size_t row, size_t column)
{
    const float *at = &m->at[row * m->ld + column];
    return (double)*at + (at == c->moved ? c->by : 0);
}

/* out: mean, max, min, std of one column. */
static void aggregate_plainly(const pna_case *c, size_t column, double *out)
{
    double start = c->has_boundary ? get(c, &c->boundary, 0, column) : 0;
    double sum = start, squares = start * start, high = start, low = start, n = 1 + c->n_zero;
    if (c->n_zero > 0)
        high = fmax(high, 0), low = fmin(low, 0);
    for (uint32_t g = 0; g < c->rows[1]; g++)
        for (uint32_t s = c->begins[g]; s < c->begins[g + 1]; s++) {
            double message =
                get(c, &c->x, c->sources[s], column) * get(c, &c->vectors, c->relations[g], column);
            sum += message, squares += message * message, n++;
            high = fmax(high, message), low = fmin(low, message);
        }
    out[0] = sum / n;
    out[1] = high;
    out[2] = low;
    out[3] = sqrt(fmax(squares / n - out[0] * out[0], 1e-6));
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%.9g is not %.9g", got, want);
}

static void check_forward(const acq_kernels *kernels, const pna_case *c)
{
    float out[AGGREGATES * MOST_WIDTH];
    acq_messages messages = get_messages(c);
    acq_pna_start start = {.boundary = c->has_boundary ? c->boundary.at : NULL,
                           .n_zero = c->n_zero};
    kernels->pna(&messages, 0, &start, out);
    for (size_t column = 0; column < c->width; column++) {
        double want[AGGREGATES];
        aggregate_plainly(c, column, want);
        for (size_t a = 0; a < AGGREGATES; a++)
            assert_near((double)out[a * c->width + column], want[a], a == 3 ? 1e-4 : 2e-6);
    }
}

static void test_aggregates_are_the_formula(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++)
        for (uint64_t seed = 0; seed < CASES; seed++) {
            pna_case c;
            pna_case_init(&c, seed);
            check_forward(sets[k], &c);
            pna_case_deinit(&c);
        }
}

/* d(slopes . aggregates)/d(*value), one column. */
static double get_slope(pna_case *c, size_t column, const float *slopes, const float *value)
{
    const double step = 1e-7;
    double high[AGGREGATES], low[AGGREGATES], sum = 0;
    c->moved = value;
    c->by = step;
    aggregate_plainly(c, column, high);
    c->by = -step;
    aggregate_plainly(c, column, low);
    c->moved = NULL;
    for (size_t a = 0; a < AGGREGATES; a++)
        sum += (double)slopes[a * c->width + column] * (high[a] - low[a]);
    return sum / (2 * step);
}

static void check_backward(const acq_kernels *kernels, pna_case *c, acq_random *random)
{
    float out[AGGREGATES * MOST_WIDTH], by_boundary[MOST_WIDTH] = {0};
    matrix slopes = matrix_new(random, AGGREGATES, c->width, c->width, 1);
    matrix by_x = matrix_copy(&c->x), by_vectors = matrix_copy(&c->vectors);
    acq_messages messages = get_messages(c);
    acq_pna_start start = {.boundary = c->has_boundary ? c->boundary.at : NULL,
                           .dboundary = by_boundary,
                           .n_zero = c->n_zero};
    messages.out = by_x.at;
    messages.ld_out = by_x.ld;
    messages.dvectors = by_vectors.at;
    kernels->pna(&messages, 0, &start, out);
    kernels->pna_backward(&messages, 0, &start, out, slopes.at);
    for (size_t column = 0; column < c->width; column++) {
        for (size_t i = 0; i < NODES; i++) { /* added to what was there: x itself */
            const float *x = &c->x.at[i * c->x.ld + column];
            assert_near((double)by_x.at[i * by_x.ld + column] - (double)*x,
                        get_slope(c, column, slopes.at, x), 4e-3);
        }
        for (size_t r = 0; r < RELATIONS; r++) {
            const float *v = &c->vectors.at[r * c->vectors.ld + column];
            assert_near((double)matrix_get(&by_vectors, r, column) - (double)*v,
                        get_slope(c, column, slopes.at, v), 4e-3);
        }
        if (c->has_boundary)
            assert_near((double)by_boundary[column],
                        get_slope(c, column, slopes.at, &c->boundary.at[column]), 4e-3);
    }
    matrix_check(&by_x);
    matrix_check(&by_vectors);
    matrix_free(&slopes);
    matrix_free(&by_x);
    matrix_free(&by_vectors);
}

static void test_backward_is_the_slope(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++)
        for (uint64_t seed = 0; seed < CASES; seed++) {
            acq_random random = acq_random_start(seed, 32);
            pna_case c;
            pna_case_init(&c, seed);
            check_backward(sets[k], &c, &random);
            pna_case_deinit(&c);
        }
}

/* Two equal messages, and a boundary that is equal to both or smaller. */
static void check_ties(const acq_kernels *kernels, float boundary_value, bool boundary_wins)
{
    enum { W = 16 };
    const uint32_t rows[2] = {0, 1}, relation = 0, begins[2] = {0, 2}, sources[2] = {0, 1};
    float x[2 * W], vector[W], boundary[W], out[AGGREGATES * W], slopes[AGGREGATES * W] = {0};
    float by_x[2 * W] = {0}, by_vector[W] = {0}, by_boundary[W] = {0};
    for (size_t i = 0; i < W; i++) {
        x[i] = x[W + i] = 3, vector[i] = 2, boundary[i] = boundary_value;
        slopes[W + i] = 1; /* by the maximum */
    }
    acq_messages messages = {.rows = rows,
                             .relations = &relation,
                             .begins = begins,
                             .sources = sources,
                             .width = W,
                             .vectors = vector,
                             .in = x,
                             .ld_in = W,
                             .out = by_x,
                             .ld_out = W,
                             .dvectors = by_vector};
    acq_pna_start start = {.boundary = boundary, .dboundary = by_boundary};
    kernels->pna(&messages, 0, &start, out);
    kernels->pna_backward(&messages, 0, &start, out, slopes);
    for (size_t i = 0; i < W; i++) {
        assert_true(out[W + i] == 6);
        assert_true(by_boundary[i] == (boundary_wins ? 1 : 0));
        assert_true(by_x[i] == (boundary_wins ? 0 : 2) && by_x[W + i] == 0);
        assert_true(by_vector[i] == (boundary_wins ? 0 : 3));
    }
}

static void test_the_first_of_equal_messages_gets_the_slope(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++) {
        check_ties(sets[k], 6, true);
        check_ties(sets[k], 1, false);
    }
}

static void test_what_is_not_a_number_is_seen_in_mean_and_deviation(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++) {
        float boundary[16] = {NAN}, out[AGGREGATES * 16];
        const uint32_t none[2] = {0};
        acq_messages messages = {.rows = none, .begins = none, .width = 16};
        sets[k]->pna(&messages, 0, &(acq_pna_start){.boundary = boundary}, out);
        assert_true(isnan(out[0]) && out[1] == 0);
    }
}

static void test_multiples_are_added(void **state)
{
    (void)state;
    for (size_t k = 0; k < n_sets; k++)
        for (size_t n = 1; n < 40; n++) {
            acq_random random = acq_random_start(n, 33);
            matrix x = matrix_new(&random, 1, n, n, 1), acc = matrix_new(&random, 1, n, n, 1);
            matrix sum = matrix_copy(&acc);
            sets[k]->add_scaled(n, -0.75F, x.at, sum.at);
            for (size_t i = 0; i < n; i++)
                assert_near((double)sum.at[i], (double)acc.at[i] - 0.75 * (double)x.at[i], 2e-7);
            matrix_check(&sum);
            matrix_free(&x);
            matrix_free(&acc);
            matrix_free(&sum);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregates_are_the_formula),
        cmocka_unit_test(test_backward_is_the_slope),
        cmocka_unit_test(test_the_first_of_equal_messages_gets_the_slope),
        cmocka_unit_test(test_what_is_not_a_number_is_seen_in_mean_and_deviation),
        cmocka_unit_test(test_multiples_are_added),
    };
    n_sets = test_list_kernels(sets);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
