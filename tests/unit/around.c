/* around.c - the part of a graph around an entity (models/edges.h) against its definition: which
 * edges lie between the nodes, what is counted outside, and what the bounds promise. */
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
#include "models/edges.h"
#include "support/scale.h"
#include "support/ultra_case.h"

enum { CASES = SCALE(40, 10) };

typedef struct world {
    ultra_case c;
    acq_around_index index;
    acq_edges edges; /* of all entities */
} world;

/* Sparse and dense ones in turn, and some with hubs. */
static void open_world(world *w, uint64_t seed)
{
    uint32_t n = 20 + (uint32_t)(seed * 37 % 400);
    size_t facts = seed % 3 == 0 ? (size_t)n / 2 : (size_t)n * 6;
    if (seed % 4 == 3)
        ultra_case_init_hubs(&w->c, seed, n, 3, 3, facts);
    else
        ultra_case_init(&w->c, seed, n, 4, facts);
    assert_int_equal(acq_around_index_init(&w->index, w->c.graph, NULL), ACQ_OK);
    assert_int_equal(acq_edges_init(&w->edges, w->c.graph, NULL), ACQ_OK);
}

static void close_world(world *w)
{
    acq_around_index_deinit(&w->index);
    acq_edges_deinit(&w->edges);
    ultra_case_deinit(&w->c);
}

static void test_with_room_for_all_edges_are_those_of_the_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        world w;
        acq_around around;
        acq_around_params all = {0};
        open_world(&w, seed);
        assert_int_equal(acq_around_init(&around, &w.index, &all, NULL), ACQ_OK);
        for (acq_ent head = 0; head < 3; head++) {
            const acq_edges *e = &around.edges;
            assert_int_equal(acq_around_find(&around, head, NULL, 0, NULL), ACQ_OK);
            assert_int_equal(around.n, w.edges.n_nodes);
            assert_int_equal(around.outside.n, 0);
            assert_int_equal(e->n_edges, w.edges.n_edges);
            assert_int_equal(e->n_groups, w.edges.n_groups);
            assert_memory_equal(e->rows, w.edges.rows, (e->n_nodes + 1) * sizeof *e->rows);
            assert_memory_equal(e->begins, w.edges.begins, (e->n_groups + 1) * sizeof *e->begins);
            assert_memory_equal(e->relations, w.edges.relations, e->n_groups * sizeof(acq_rel));
            assert_memory_equal(e->reversed, w.edges.reversed, e->n_groups * sizeof(acq_rel));
            assert_memory_equal(e->sources, w.edges.sources, e->n_edges * sizeof *e->sources);
        }
        acq_around_deinit(&around);
        close_world(&w);
    }
}

static uint32_t count_outside(const acq_around *around, uint32_t node, acq_rel relation)
{
    for (uint32_t i = around->outside.begins[node]; i < around->outside.begins[node + 1]; i++)
        if (around->outside.relations[i] == relation)
            return around->outside.counts[i];
    return 0;
}

/* Every link of every node is an edge, or counted outside. */
static void check_edges(const world *w, const acq_around *around)
{
    uint32_t n_edges = 0;
    for (uint32_t node = 0; node < around->n; node++) {
        acq_ent entity = around->entities[node];
        assert_true(node == 0 || around->entities[node - 1] < entity);
        assert_int_equal(acq_around_get_node(around, entity), node);
        for (acq_rel r = 0; r < w->edges.n_relations; r++) {
            size_t n, outside = 0;
            const uint32_t *tails = acq_edges_find(&w->edges, entity, r, &n);
            for (size_t i = 0; i < n; i++) {
                uint32_t source = acq_around_get_node(around, tails[i]);
                outside += source == ACQ_NO_ID;
                if (source != ACQ_NO_ID)
                    assert_true(acq_edges_has(&around->edges, node, r, source));
                n_edges += source != ACQ_NO_ID;
            }
            assert_int_equal(count_outside(around, node, r), outside);
        }
    }
    assert_int_equal(around->edges.n_edges, n_edges);
}

static void test_edges_are_all_links_between_the_nodes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        world w;
        acq_around around;
        open_world(&w, seed);
        acq_around_params params = {.most_nodes = 1 + (uint32_t)(seed % 17), .most_edges = 200};
        assert_int_equal(acq_around_init(&around, &w.index, &params, NULL), ACQ_OK);
        for (acq_ent head = 0; head < 10; head++) {
            acq_ent also[] = {w.index.n_entities - 1, head / 2};
            assert_int_equal(acq_around_find(&around, head, also, 2, NULL), ACQ_OK);
            assert_true(around.n <= params.most_nodes + 3);
            assert_true(around.edges.n_edges <= params.most_edges || around.n <= 16);
            assert_true(acq_around_get_node(&around, head) != ACQ_NO_ID);
            check_edges(&w, &around);
        }
        acq_around_deinit(&around);
        close_world(&w);
    }
}

/* Whatever was asked before. */
static void test_nodes_depend_on_the_head_alone(void **state)
{
    (void)state;
    world w;
    acq_around one, other;
    acq_around_params params = {.most_nodes = 12};
    open_world(&w, 1);
    assert_int_equal(acq_around_init(&one, &w.index, &params, NULL), ACQ_OK);
    assert_int_equal(acq_around_init(&other, &w.index, &params, NULL), ACQ_OK);
    for (acq_ent i = 0; i < 20; i++) {
        acq_ent head = 19 - i;
        assert_int_equal(acq_around_find(&one, i, NULL, 0, NULL), ACQ_OK);
        assert_int_equal(acq_around_find(&one, head, NULL, 0, NULL), ACQ_OK);
        assert_int_equal(acq_around_find(&other, head, NULL, 0, NULL), ACQ_OK);
        assert_int_equal(one.n, other.n);
        assert_memory_equal(one.entities, other.entities, one.n * sizeof *one.entities);
    }
    acq_around_deinit(&one);
    acq_around_deinit(&other);
    close_world(&w);
}

/* 0 -r-> 1, and 0 -s-> 2 .. 30. */
static acq_graph *make_star(void)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    char name[8];
    uint32_t id;
    for (uint32_t e = 0; e <= 30; e++)
        acq_graph_builder_add_entity(builder, name, (size_t)snprintf(name, 8, "e%u", e), &id);
    assert_int_equal(acq_graph_builder_add_relation(builder, "r", 1, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "s", 1, &id), ACQ_OK);
    for (uint32_t e = 1; e <= 30; e++)
        assert_int_equal(acq_graph_builder_add_fact(builder, 0, e == 1 ? 0 : 2, e), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* It gets as much as all those of s. */
static void test_the_only_tail_of_a_relation_comes_first(void **state)
{
    (void)state;
    acq_graph *graph = make_star();
    acq_around_index index;
    acq_around around;
    acq_around_params params = {.most_nodes = 2};
    assert_int_equal(acq_around_index_init(&index, graph, NULL), ACQ_OK);
    assert_int_equal(acq_around_init(&around, &index, &params, NULL), ACQ_OK);
    assert_int_equal(acq_around_find(&around, 0, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(around.n, 2);
    assert_int_equal(around.entities[0], 0);
    assert_int_equal(around.entities[1], 1);
    assert_int_equal(count_outside(&around, 0, 2), 29);
    acq_around_deinit(&around);
    acq_around_index_deinit(&index);
    acq_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_room_for_all_edges_are_those_of_the_graph),
        cmocka_unit_test(test_edges_are_all_links_between_the_nodes),
        cmocka_unit_test(test_nodes_depend_on_the_head_alone),
        cmocka_unit_test(test_the_only_tail_of_a_relation_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
