/* ultra.c - ULTRA's rows against the same network in double, on random graphs and weights.
 *
 * The graphs go from a few facts among many entities, where rows are differences from the
 * background and most tails are never reached, to dense ones, where messages are gathered. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "models/ultra/pass.h"
#include "support/scale.h"
#include "support/ultra_case.h"

enum { D = ACQ_ULTRA_WIDTH, MOST = 200, CASES = SCALE(20, 6) };

typedef struct size {
    uint32_t n_entities, n_pairs;
    size_t n_facts;
} size;

static const size sizes[] = {{1, 1, 1},   {2, 1, 1},    {5, 2, 0},    {10, 2, 12},   {25, 3, 30},
                             {40, 4, 35}, {30, 2, 300}, {120, 5, 90}, {150, 1, 145}, {60, 9, 150}};

static void start(ultra_case *c, uint64_t seed)
{
    const size *s = &sizes[seed % (sizeof sizes / sizeof *sizes)];
    ultra_case_init(c, seed, s->n_entities, s->n_pairs, s->n_facts);
}

static double find_largest(const double *values, size_t n)
{
    double largest = 1e-3;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(values[i]));
    return largest;
}

static void assert_near(const float *values, const double *expected, size_t n)
{
    double tolerance = 1e-4 * find_largest(expected, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i] - expected[i]) <= tolerance))
            fail_msg("%zu of %zu: %g, expected %g", i, n, values[i], expected[i]);
}

static void test_relation_graph_is_that_of_its_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        ultra_case c;
        acq_relation_graph relations;
        start(&c, seed);
        assert_int_equal(acq_relation_graph_init(&relations, c.graph, NULL), ACQ_OK);
        for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
            uint32_t next = 0;
            for (acq_rel row = 0; row < relations.n_relations; row++) {
                assert_int_equal(relations.offsets[kind][row], next);
                for (acq_rel column = 0; column < relations.n_relations; column++)
                    if (oracle_is_edge(&c.oracle, kind, row, column))
                        assert_int_equal(relations.columns[kind][next++], column);
            }
            assert_int_equal(relations.offsets[kind][relations.n_relations], next);
        }
        acq_relation_graph_deinit(&relations);
        ultra_case_deinit(&c);
    }
}

static void test_relation_vectors_equal_those_in_double(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        ultra_case c;
        acq_ultra_network network;
        acq_edges edges;
        acq_ultra_pass pass = {.network = &network, .net = ACQ_RELATION_NET};
        double expected[32 * D];
        start(&c, seed);
        assert_int_equal(acq_ultra_network_init(&network, c.model, false, NULL), ACQ_OK);
        assert_int_equal(acq_ultra_relation_edges_init(&edges, c.graph, NULL), ACQ_OK);
        assert_int_equal(acq_ultra_pass_reserve(&pass, edges.n_nodes, NULL), ACQ_OK);
        for (acq_rel query = 0; query < c.oracle.n_relations; query++) {
            acq_ultra_run run = acq_ultra_start_relations(c.model, &edges, query);
            acq_ultra_pass_forward(&pass, &run);
            oracle_compute_vectors(c.model, &c.oracle, query, expected);
            assert_near(pass.out, expected, (size_t)c.oracle.n_relations * D);
        }
        acq_ultra_pass_deinit(&pass);
        acq_edges_deinit(&edges);
        acq_ultra_network_deinit(&network);
        ultra_case_deinit(&c);
    }
}

typedef struct rows { /* a case with its row model */
    ultra_case c;
    acq_row_model *model;
    void *scratch;
} rows;

static void open_rows(rows *r, uint64_t seed)
{
    start(&r->c, seed);
    assert_int_equal(acq_ultra_new_row_model(r->c.model, r->c.graph, &r->model, NULL), ACQ_OK);
    assert_int_equal(r->model->ops->open_scratch(r->model, &r->scratch, NULL), ACQ_OK);
}

static void close_rows(rows *r)
{
    r->model->ops->free_scratch(r->model, r->scratch);
    acq_row_model_free(r->model);
    ultra_case_deinit(&r->c);
}

static void ask(const rows *r, acq_row_request request, float *out)
{
    request.out = out;
    assert_int_equal(r->model->ops->score(r->model, r->scratch, &request, NULL), ACQ_OK);
}

static void test_rows_equal_those_in_double(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        rows r;
        float scores[MOST];
        double expected[MOST];
        acq_random random = acq_random_start(seed, 1);
        open_rows(&r, seed);
        size_t n = r.c.oracle.n_entities;
        for (int i = 0; i < 6; i++) {
            acq_ent head = (acq_ent)acq_random_below(&random, n);
            acq_rel relation = (acq_rel)acq_random_below(&random, r.c.oracle.n_relations);
            ask(&r, (acq_row_request){relation, &head, 1, NULL, n, NULL, {0}}, scores);
            oracle_score(r.c.model, &r.c.oracle, head, relation, ORACLE_TAIL_TO_HEAD, expected);
            assert_near(scores, expected, n);
        }
        close_rows(&r);
    }
}

/* On graphs with a fact that is not its own inverse. */
static void test_messages_the_other_way_give_other_scores(void **state)
{
    (void)state;
    for (uint64_t seed = 3; seed < 9; seed++) {
        rows r;
        float scores[MOST];
        double expected[MOST], difference = 0;
        open_rows(&r, seed);
        size_t n = r.c.oracle.n_entities;
        acq_ent head = r.c.oracle.facts[0].head;
        ask(&r, (acq_row_request){0, &head, 1, NULL, n, NULL, {0}}, scores);
        oracle_score(r.c.model, &r.c.oracle, head, 0, ORACLE_HEAD_TO_TAIL, expected);
        for (size_t i = 0; i < n; i++)
            difference = fmax(difference, fabs(scores[i] - expected[i]));
        assert_true(difference > 1e-2 * find_largest(expected, n));
        close_rows(&r);
    }
}

static size_t draw_tails(acq_random *random, size_t n, acq_ent *tails)
{
    size_t n_tails = 0;
    uint64_t share = 1 + acq_random_below(random, 6);
    for (acq_ent e = 0; e < n; e++)
        if (acq_random_below(random, share) == 0)
            tails[n_tails++] = e;
    return n_tails;
}

static void test_a_score_has_the_same_bits_whatever_else_is_asked(void **state)
{
    (void)state;
    static float all[MOST * MOST], some[MOST * MOST];
    for (uint64_t seed = 0; seed < CASES; seed++) {
        rows r;
        acq_ent heads[MOST], tails[MOST];
        acq_random random = acq_random_start(seed, 2);
        open_rows(&r, seed);
        size_t n = r.c.oracle.n_entities, n_tails = draw_tails(&random, n, tails);
        acq_rel relation = (acq_rel)acq_random_below(&random, r.c.oracle.n_relations);
        for (acq_ent e = 0; e < n; e++)
            heads[e] = e;
        ask(&r, (acq_row_request){relation, heads, n, NULL, n, NULL, {0}}, all);
        ask(&r, (acq_row_request){acq_inverse(relation), heads, n, tails, n_tails, NULL, {0}},
            some);
        for (size_t h = 0; h < n; h++) {
            ask(&r, (acq_row_request){relation, heads + h, 1, tails, n_tails, NULL, {0}}, some);
            for (size_t i = 0; i < n_tails; i++)
                assert_memory_equal(&some[i], &all[h * n + tails[i]], sizeof *some);
        }
        close_rows(&r);
    }
}

/* ---- rows on the entities around the head ---- */

static void open_near(rows *r, uint64_t seed, uint32_t most_nodes)
{
    acq_around_params params = {.most_nodes = most_nodes};
    start(&r->c, seed);
    assert_int_equal(acq_ultra_new_near_row_model(r->c.model, r->c.graph, &params, &r->model, NULL),
                     ACQ_OK);
    assert_int_equal(r->model->ops->open_scratch(r->model, &r->scratch, NULL), ACQ_OK);
}

static void test_near_rows_equal_those_in_double(void **state)
{
    enum { DRAWN_OF_RELATION = 16 };
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        rows r;
        float scores[MOST];
        double expected[MOST];
        open_near(&r, seed, 1 + (uint32_t)(seed % 4) * 12);
        uint32_t n_entities = r.c.oracle.n_entities;
        for (acq_rel relation = 0; relation < r.c.oracle.n_relations && r.model->is_sparse;
             relation++) {
            const acq_ent *tails = NULL;
            acq_ent head = (acq_ent)((seed + relation) % n_entities);
            size_t n = 0;
            float found[MOST];
            assert_int_equal(r.model->ops->score_few(r.model, r.scratch, relation, head, scores,
                                                     &tails, &n, NULL),
                             ACQ_OK);
            oracle_score_near(r.c.model, &r.c.oracle, tails, n, DRAWN_OF_RELATION, head, relation,
                              expected);
            for (size_t i = 0; i < n; i++)
                found[i] = scores[tails[i]];
            assert_near(found, expected, n);
        }
        close_rows(&r);
    }
}

static void test_near_rows_of_all_entities_are_whole_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        rows near, whole;
        float one[MOST], other[MOST];
        open_near(&near, seed, 0);
        open_rows(&whole, seed);
        uint32_t n = whole.c.oracle.n_entities;
        for (acq_ent head = 0; head < n; head += 1 + n / 4) {
            acq_row_request request = {
                .relation = head % 2, .heads = &head, .n_heads = 1, .n_tails = n, .out = one};
            assert_int_equal(near.model->ops->score(near.model, near.scratch, &request, NULL),
                             ACQ_OK);
            request.out = other;
            assert_int_equal(whole.model->ops->score(whole.model, whole.scratch, &request, NULL),
                             ACQ_OK);
            assert_memory_equal(one, other, n * sizeof *one);
        }
        close_rows(&near);
        close_rows(&whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_rows_equal_those_in_double),
        cmocka_unit_test(test_near_rows_of_all_entities_are_whole_rows),
        cmocka_unit_test(test_relation_graph_is_that_of_its_definition),
        cmocka_unit_test(test_relation_vectors_equal_those_in_double),
        cmocka_unit_test(test_rows_equal_those_in_double),
        cmocka_unit_test(test_messages_the_other_way_give_other_scores),
        cmocka_unit_test(test_a_score_has_the_same_bits_whatever_else_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
