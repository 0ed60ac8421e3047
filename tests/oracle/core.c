/* core.c - the explanation of "none" against brute force: the conjuncts it names have no common
 * answer, and leaving out any one of them gives one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "graph/build.h"
#include "support/case.h"

/* A graph that has nothing but the right number of entities. */
static acq_graph *entities_only(uint32_t n)
{
    acq_graph *graph = NULL;
    acq_graph_builder *builder = acq_graph_builder_new();
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        acq_ent id;
        int length = snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, (size_t)length, &id), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static bool has_answer(test_case *c, const acq_node **nodes, size_t n, size_t without)
{
    acq_node *kept[64];
    acq_node root = {.kind = ACQ_NODE_AND, .children = kept};
    for (size_t i = 0; i < n; i++)
        if (i != without)
            kept[root.n_children++] = (acq_node *)nodes[i];
    acq_node *whole = c->query->root;
    case_tuple *tuples;
    c->query->root = &root;
    size_t n_tuples = case_brute_force(c, &tuples);
    c->query->root = whole;
    bool found = false;
    for (size_t i = 0; i < n_tuples; i++)
        found |= tuples[i].score >= c->scoring.threshold;
    free(tuples);
    return found;
}

static void test_a_core_has_no_answer_and_every_part_of_it_is_needed(void **unused)
{
    size_t n_cores = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        test_case c;
        acq_arena arena;
        const acq_node **core;
        size_t n;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        case_init(&c, seed);
        params.search.scoring = c.scoring;
        if (c.n_entities <= 9 && !has_answer(&c, (const acq_node **)c.query->root->children,
                                             c.query->root->n_children, SIZE_MAX)) {
            acq_graph *graph = entities_only(c.n_entities);
            c.predictor.graph = graph;
            acq_arena_init(&arena);
            assert_int_equal(acq_engine_find_core(c.query, &c.predictor, NULL, &params, 60, &arena,
                                                  &core, &n, NULL),
                             ACQ_OK);
            if (has_answer(&c, core, n, SIZE_MAX))
                fail_msg("seed %lu: the core has an answer", seed);
            for (size_t i = 0; i < n; i++)
                if (!has_answer(&c, core, n, i))
                    fail_msg("seed %lu: part %zu of the core is not needed", seed, i);
            n_cores++;
            acq_arena_deinit(&arena);
            acq_graph_free(graph);
        }
        case_deinit(&c);
    }
    assert_true(n_cores > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_has_no_answer_and_every_part_of_it_is_needed)};
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
