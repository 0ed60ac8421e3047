/* ultra_nodes.c - entities that only their names tell apart, on random sparse graphs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/ultra/pass.h"
#include "support/scale.h"
#include "support/ultra_case.h"

enum { CASES = SCALE(12, 6), MOST = 90 };

typedef struct nodes_case {
    ultra_case c;
    acq_ultra_nodes nodes;
} nodes_case;

static void start(nodes_case *t, uint64_t seed)
{
    ultra_case_init_hubs(&t->c, seed, 30 + (uint32_t)(seed * 5), 2 + (uint32_t)seed, 1 + seed % 2,
                         30 + seed * 4);
    assert_int_equal(acq_ultra_nodes_init(&t->nodes, t->c.graph, NULL), ACQ_OK);
}

static void stop(nodes_case *t)
{
    acq_ultra_nodes_deinit(&t->nodes);
    ultra_case_deinit(&t->c);
}

static bool has_fact(const oracle_graph *graph, acq_ent head, acq_rel relation, acq_ent tail)
{
    for (size_t i = 0; i < graph->n_facts; i++) {
        const acq_triple *fact = &graph->facts[i];
        if (fact->head == head && fact->relation == relation && fact->tail == tail)
            return true;
    }
    return false;
}

/* Every fact of a is one of b, and a has none with itself. */
static bool is_within(const oracle_graph *graph, acq_ent a, acq_ent b)
{
    for (size_t i = 0; i < graph->n_facts; i++) {
        const acq_triple *fact = &graph->facts[i];
        if (fact->head == a && (fact->tail == a || !has_fact(graph, b, fact->relation, fact->tail)))
            return false;
    }
    return true;
}

static bool are_equal(const oracle_graph *graph, acq_ent a, acq_ent b)
{
    return is_within(graph, a, b) && is_within(graph, b, a);
}

static void test_equal_entities_have_the_same_links_and_share_two_nodes(void **state)
{
    (void)state;
    size_t n_shared = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        nodes_case t;
        start(&t, seed);
        const uint32_t *nodes = t.nodes.nodes, *partners = t.nodes.partners;
        for (acq_ent a = 0; a < t.nodes.n_entities; a++)
            for (acq_ent b = 0; b < a; b++) {
                bool together = nodes[a] == nodes[b] || partners[nodes[a]] == nodes[b];
                assert_int_equal(together, are_equal(&t.c.oracle, a, b));
                n_shared += nodes[a] == nodes[b] && acq_edges_get_degree(&t.nodes.edges, nodes[a]);
            }
        stop(&t);
    }
    assert_true(n_shared > 10); /* the cases are no empty ones */
}

static void test_nodes_count_their_entities_and_the_first_of_two_is_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        nodes_case t;
        uint32_t counts[MOST] = {0};
        start(&t, seed);
        for (acq_ent e = 0; e < t.nodes.n_entities; e++)
            counts[t.nodes.nodes[e]]++;
        for (uint32_t v = 0; v < t.nodes.n_nodes; v++) {
            uint32_t partner = t.nodes.partners[v];
            assert_int_equal(t.nodes.counts[v], counts[v]);
            assert_int_equal(t.nodes.partners[partner], v);
            assert_true(counts[v] == 1 || partner < v);
        }
        stop(&t);
    }
}

static void test_a_head_has_a_node_of_its_own(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        nodes_case t;
        start(&t, seed);
        for (acq_ent head = 0; head < t.nodes.n_entities; head++) {
            uint32_t own = acq_ultra_nodes_get_head(&t.nodes, head), n = 0;
            assert_int_equal(acq_ultra_nodes_get_node(&t.nodes, head, head), own);
            assert_int_equal(t.nodes.counts[own], 1);
            for (acq_ent e = 0; e < t.nodes.n_entities; e++)
                n += acq_ultra_nodes_get_node(&t.nodes, head, e) == own;
            assert_int_equal(n, 1);
        }
        stop(&t);
    }
}

/* Twins have the same score, to the last bit, but for a head among them. */
static void check_ties(const nodes_case *t, acq_ent head, const float *scores)
{
    for (acq_ent a = 0; a < t->nodes.n_entities; a++)
        for (acq_ent b = 0; b < a; b++)
            if (a != head && b != head && are_equal(&t->c.oracle, a, b))
                assert_true(scores[a] == scores[b]);
}

/* A tail has the same score whatever others are asked for. */
static void check_single_tails(const acq_row_model *model, void *scratch, acq_ent head,
                               const float *scores, size_t n)
{
    for (acq_ent tail = head % 3; tail < n; tail += 3) {
        const acq_ent twice[] = {tail, tail};
        float out[2];
        acq_row_request request = {head % 2, &head, 1, twice, 2, out, {0}};
        assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
        assert_true(out[0] == scores[tail] && out[1] == scores[tail]);
    }
}

/* Every entity as head: where equal entities are, the head is one of them sooner or later. */
static void check_rows(const nodes_case *t, const acq_row_model *model, void *scratch)
{
    size_t n = t->c.oracle.n_entities;
    for (acq_ent head = 0; head < n; head++) {
        float scores[MOST];
        double expected[MOST], largest = 1e-3;
        acq_row_request request = {head % 2, &head, 1, NULL, n, scores, {0}};
        assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
        oracle_score(t->c.model, &t->c.oracle, head, head % 2, ORACLE_TAIL_TO_HEAD, expected);
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(expected[i]));
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(scores[i] - expected[i]) <= 1e-4 * largest);
        check_ties(t, head, scores);
        check_single_tails(model, scratch, head, scores, n);
    }
}

static void test_rows_of_every_head_are_those_without_sharing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES / 2; seed++) {
        nodes_case t;
        acq_row_model *model;
        void *scratch;
        start(&t, seed);
        assert_int_equal(acq_ultra_new_row_model(t.c.model, t.c.graph, &model, NULL), ACQ_OK);
        assert_int_equal(model->ops->open_scratch(model, &scratch, NULL), ACQ_OK);
        check_rows(&t, model, scratch);
        model->ops->free_scratch(model, scratch);
        acq_row_model_free(model);
        stop(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_entities_have_the_same_links_and_share_two_nodes),
        cmocka_unit_test(test_nodes_count_their_entities_and_the_first_of_two_is_alone),
        cmocka_unit_test(test_a_head_has_a_node_of_its_own),
        cmocka_unit_test(test_rows_of_every_head_are_those_without_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
