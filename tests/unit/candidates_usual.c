/* candidates_usual.c - what holding facts out did to the odds of an entity without a tail: counted
 * in the rest, by what kind of entity it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "calibrate/candidates.h"
#include "calibrate/candidates_parts.h"
#include "graph/build.h"

/* Nouns have a gender, most have a hypernym; adjectives have a degree and never a hypernym. */
enum { HYPERNYM = 0, GENDER = 2, DEGREE = 4, N_RELATIONS = 6 };
enum { N_NOUNS = 200, N_BARE = 20, N_HELD = 20, N_ADJECTIVES = 300, TAIL = N_NOUNS + N_ADJECTIVES };

/* without: so many of the nouns that have a hypernym lose it. */
static acq_graph *build(acq_ent without)
{
    acq_graph *graph;
    acq_graph_builder *builder = acq_graph_builder_new();
    char name[16];
    acq_ent id;
    acq_rel relation;
    for (acq_ent e = 0; e < TAIL + 3; e++) {
        int n = snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, (size_t)n, &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < N_RELATIONS; r += 2) {
        int n = snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, (size_t)n, &relation),
                         ACQ_OK);
    }
    for (acq_ent e = 0; e < TAIL; e++) {
        acq_rel own = e < N_NOUNS ? GENDER : DEGREE;
        assert_int_equal(acq_graph_builder_add_fact(builder, e, own, TAIL + own / 2), ACQ_OK);
        if (e < N_NOUNS && e >= N_BARE + without)
            assert_int_equal(acq_graph_builder_add_fact(builder, e, HYPERNYM, TAIL), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static acq_candidates_maker *open_maker(const acq_graph *whole, const acq_graph *rest)
{
    acq_candidates_maker *maker;
    acq_candidates_params params = {.rows = ACQ_ROWS_LARGER,
                                    .top = 5,
                                    .is_thorough = true,
                                    .is_pruned = true,
                                    .held_share = .1,
                                    .rest = rest,
                                    .n_threads = 1};
    assert_int_equal(acq_candidates_maker_new(whole, &params, &maker, NULL), ACQ_OK);
    return maker;
}

/* There are twice as many nouns without a hypernym in the rest as in the whole graph, where one of
 * them lacks it just as likely; adjectives are as many, and half as likely there. */
static void test_an_entity_without_a_tail_is_compared_with_its_kind(void **state)
{
    (void)state;
    acq_graph *whole = build(0), *rest = build(N_HELD);
    acq_candidates_maker *maker = open_maker(whole, rest);
    float noun = acq_usual_get_moved(maker->usual, HYPERNYM, 0);
    float adjective = acq_usual_get_moved(maker->usual, HYPERNYM, N_NOUNS + 1);
    assert_true(fabsf(noun - logf(2)) < .08F); /* of the odds, which are halved besides */
    assert_true(fabsf(adjective) < .08F);
    acq_candidates_maker_free(maker);
    acq_graph_free(whole);
    acq_graph_free(rest);
}

static void test_a_rest_that_is_the_whole_moves_nothing(void **state)
{
    (void)state;
    acq_graph *whole = build(0);
    acq_candidates_maker *maker = open_maker(whole, whole);
    for (acq_ent e = 0; e < TAIL; e++)
        for (acq_rel r = 0; r < N_RELATIONS; r++)
            assert_true(fabsf(acq_usual_get_moved(maker->usual, r, e)) < 1e-5F);
    acq_candidates_maker_free(maker);
    acq_graph_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entity_without_a_tail_is_compared_with_its_kind),
        cmocka_unit_test(test_a_rest_that_is_the_whole_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
