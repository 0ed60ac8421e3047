/* tensor_messages.c - DistMult messages along grouped edges, of every set of kernels, against plain
 * sums in double precision over the list of edges. */
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

enum { NODES = 9, RELATIONS = 5, MOST_EDGES = 200 };

typedef struct edge {
    uint32_t node, relation, source;
} edge;

/* Random edges, sorted by node and relation, as a list and as groups. */
typedef struct edge_case {
    edge list[MOST_EDGES];
    size_t n;
    uint32_t rows[NODES + 1], relations[MOST_EDGES], begins[MOST_EDGES + 1], sources[MOST_EDGES];
    size_t n_groups;
} edge_case;

static void add_group(edge_case *c, uint32_t node, uint32_t relation, acq_random *random)
{
    size_t n = acq_random_below(random, 4);
    if (n == 0)
        return;
    c->relations[c->n_groups++] = relation;
    for (size_t i = 0; i < n; i++) {
        uint32_t source = (uint32_t)acq_random_below(random, NODES);
        c->sources[c->n] = source;
        c->list[c->n++] = (edge){node, relation, source};
    }
    c->begins[c->n_groups] = (uint32_t)c->n;
}

static void draw_edges(edge_case *c, acq_random *random)
{
    *c = (edge_case){0};
    for (uint32_t v = 0; v < NODES; v++) {
        for (uint32_t r = 0; r < RELATIONS && v % 4 != 3; r++)
            add_group(c, v, r, random);
        c->rows[v + 1] = (uint32_t)c->n_groups;
    }
}

typedef struct matrices {
    matrix vectors, in, out, states, dvectors;
} matrices;

static matrices draw_matrices(acq_random *random, size_t width)
{
    return (matrices){.vectors = matrix_new(random, RELATIONS, width, width, 1),
                      .in = matrix_new(random, NODES, width, width + 5, 1),
                      .out = matrix_new(random, NODES, width, width + 1, 1),
                      .states = matrix_new(random, NODES, width, width + 3, 1),
                      .dvectors = matrix_new(random, RELATIONS, width, width, 1)};
}

static void free_matrices(matrices *m)
{
    matrix_free(&m->vectors);
    matrix_free(&m->in);
    matrix_free(&m->out);
    matrix_free(&m->states);
    matrix_free(&m->dvectors);
}

static acq_messages get_messages(const edge_case *c, const matrices *m, bool with_slopes)
{
    return (acq_messages){.rows = c->rows,
                          .relations = c->relations,
                          .begins = c->begins,
                          .sources = c->sources,
                          .width = m->vectors.cols,
                          .vectors = m->vectors.at,
                          .in = m->in.at,
                          .ld_in = m->in.ld,
                          .out = m->out.at,
                          .ld_out = m->out.ld,
                          .states = m->states.at,
                          .ld_states = m->states.ld,
                          .dvectors = with_slopes ? m->dvectors.at : NULL};
}

static bool is_asked(const uint32_t *nodes, size_t n, uint32_t node)
{
    if (nodes == NULL)
        return true;
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 2e-5))
        fail_msg("%.9g is not %.9g", got, want);
}

/* What out and dvectors are to be at one column. */
static void check_column(const edge_case *c, const matrices *old, const matrices *now,
                         const uint32_t *nodes, size_t n, bool scatters, size_t column)
{
    double out[NODES], dvectors[RELATIONS];
    for (size_t v = 0; v < NODES; v++)
        out[v] = matrix_get(&old->out, v, column);
    for (size_t r = 0; r < RELATIONS; r++)
        dvectors[r] = matrix_get(&old->dvectors, r, column);
    for (size_t i = 0; i < c->n; i++) {
        const edge *e = &c->list[i];
        uint32_t from = scatters ? e->node : e->source, to = scatters ? e->source : e->node;
        if (!is_asked(nodes, n, e->node))
            continue;
        double in = matrix_get(&old->in, from, column);
        out[to] += in * matrix_get(&old->vectors, e->relation, column);
        dvectors[e->relation] += in * matrix_get(&old->states, to, column);
    }
    for (size_t v = 0; v < NODES; v++)
        assert_near(matrix_get(&now->out, v, column), out[v]);
    for (size_t r = 0; r < RELATIONS; r++)
        assert_near(matrix_get(&now->dvectors, r, column), dvectors[r]);
}

static void check(const acq_kernels *kernels, size_t width, const uint32_t *nodes, size_t n,
                  bool scatters)
{
    acq_random random = acq_random_start(width, n);
    edge_case c;
    draw_edges(&c, &random);
    matrices old = draw_matrices(&random, width), now = old;
    now.out = matrix_copy(&old.out);
    now.dvectors = matrix_copy(&old.dvectors);
    acq_messages m = get_messages(&c, &now, true);
    (scatters ? kernels->scatter : kernels->gather)(&m, n, nodes);
    for (size_t column = 0; column < width; column++)
        check_column(&c, &old, &now, nodes, n, scatters, column);
    matrix_check(&now.out);
    matrix_check(&now.dvectors);
    matrix_free(&now.out);
    matrix_free(&now.dvectors);
    free_matrices(&old);
}

static void check_all(bool scatters)
{
    static const size_t widths[] = {16, 32, 48, 64, 112, 128};
    static const uint32_t some[] = {7, 0, 3, 2};
    const acq_kernels *sets[TEST_MAX_KERNELS];
    size_t n_sets = test_list_kernels(sets);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            check(sets[s], widths[i], NULL, NODES, scatters);
            check(sets[s], widths[i], some, 4, scatters);
        }
}

static void test_nodes_gather_from_their_sources(void **state)
{
    (void)state;
    check_all(false);
}

static void test_nodes_scatter_to_their_sources(void **state)
{
    (void)state;
    check_all(true);
}

static void check_rows(const acq_kernels *kernels, size_t width)
{
    static const uint32_t nodes[] = {7, 0, 3, 2};
    acq_random random = acq_random_start(width, 9);
    edge_case c;
    draw_edges(&c, &random);
    matrices whole = draw_matrices(&random, width), packed = whole;
    packed.out = matrix_copy(&whole.out);
    for (size_t v = 0; v < NODES; v++)
        memset(whole.out.at + v * whole.out.ld, 0, width * sizeof(float));
    acq_messages m = get_messages(&c, &whole, false), rows = get_messages(&c, &packed, false);
    kernels->gather(&m, NODES, NULL);
    kernels->gather_rows(&rows, 4, nodes);
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(packed.out.at + i * packed.out.ld,
                            whole.out.at + nodes[i] * whole.out.ld, width * sizeof(float));
    matrix_check(&packed.out);
    matrix_free(&packed.out);
    free_matrices(&whole);
}

static void test_rows_are_gathered_in_the_order_of_their_nodes(void **state)
{
    (void)state;
    const acq_kernels *sets[TEST_MAX_KERNELS];
    size_t n_sets = test_list_kernels(sets);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t width = 16; width <= 128; width += 16)
            check_rows(sets[s], width);
}

static void test_slopes_of_vectors_are_left_out_when_not_wanted(void **state)
{
    (void)state;
    const acq_kernels *kernels = acq_kernels_get_best();
    acq_random random = acq_random_start(1, 1);
    edge_case c;
    draw_edges(&c, &random);
    matrices with = draw_matrices(&random, 64), without = with;
    without.out = matrix_copy(&with.out);
    acq_messages m = get_messages(&c, &without, false);
    kernels->gather(&m, NODES, NULL);
    kernels->scatter(&m, NODES, NULL);
    m = get_messages(&c, &with, true);
    kernels->gather(&m, NODES, NULL);
    kernels->scatter(&m, NODES, NULL);
    for (size_t v = 0; v < NODES; v++)
        assert_memory_equal(with.out.at + v * with.out.ld, without.out.at + v * with.out.ld,
                            64 * sizeof(float));
    matrix_free(&without.out);
    free_matrices(&with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_gather_from_their_sources),
        cmocka_unit_test(test_nodes_scatter_to_their_sources),
        cmocka_unit_test(test_rows_are_gathered_in_the_order_of_their_nodes),
        cmocka_unit_test(test_slopes_of_vectors_are_left_out_when_not_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
