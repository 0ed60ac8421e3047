/* cover.c - sets that cover: bounds against sorted scores, coverage of drawn ones, the order of
 * entities against a count of the facts. */
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
#include "calibrate/cover.h"
#include "graph/build.h"

enum { N_ENTITIES = 60, N_RELATIONS = 4 };

/* Facts of both relations between the entities, few heads and skewed tails; every `hidden`-th is
 * left out. */
static acq_graph *make_graph(uint64_t seed, uint32_t hidden)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_random random = acq_random_start(seed, 3);
    acq_graph *graph = NULL;
    char name[16];
    uint32_t id, n = 0;
    for (acq_ent e = 0; e < N_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < N_RELATIONS; r += 2) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        for (uint32_t i = 0; i < 400; i++) {
            acq_ent head = (acq_ent)acq_random_below(&random, N_ENTITIES);
            double u = acq_random_unit(&random);
            acq_ent tail = (acq_ent)(u * u * N_ENTITIES);
            if (hidden == 0 || n++ % hidden != 0)
                assert_int_equal(acq_graph_builder_add_fact(builder, head, r, tail), ACQ_OK);
        }
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static uint32_t count_heads(const acq_graph *graph, acq_rel relation, acq_ent tail)
{
    uint32_t n = 0;
    for (acq_ent h = 0; h < N_ENTITIES; h++)
        n += acq_graph_has_fact(graph, h, relation, tail);
    return n;
}

/* Facts first, then seen tails by how often, then the others. */
static void test_likelier_entities_score_less(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(1, 0);
    acq_predictor *predictor = NULL;
    acq_cover_scorer *scorer = NULL;
    assert_int_equal(acq_predictor_new_observed(graph, &predictor, NULL), ACQ_OK);
    assert_int_equal(acq_cover_scorer_new(predictor, &scorer, NULL), ACQ_OK);
    for (acq_rel r = 0; r < N_RELATIONS; r++) {
        assert_int_equal(acq_cover_scorer_choose(scorer, r, NULL), ACQ_OK);
        for (acq_ent t = 0; t < N_ENTITIES; t++) {
            double score = acq_cover_scorer_score(scorer, 7, t);
            uint32_t n = count_heads(graph, r, t);
            bool is_fact = acq_graph_has_fact(graph, 7, r, t);
            assert_true(is_fact ? score == 0 : score >= (n > 0 ? 1 : 2) && score < (n > 0 ? 2 : 3));
            for (acq_ent u = 0; u < N_ENTITIES && !is_fact && n > 0; u++)
                if (count_heads(graph, r, u) > n)
                    assert_true(acq_cover_scorer_score(scorer, 7, u) < score);
        }
    }
    acq_cover_scorer_free(scorer);
    acq_cover_scorer_free(NULL);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* What is learnt: every hidden link's score, of its relation and in its pool. */
static void test_bounds_are_order_statistics_of_hidden_links(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(2, 0), *rest = make_graph(2, 4);
    acq_predictor *predictor = NULL;
    acq_cover_scorer *scorer = NULL;
    acq_cover cover = {0};
    const acq_cover_list *list;
    assert_int_equal(acq_predictor_new_observed(rest, &predictor, NULL), ACQ_OK);
    assert_int_equal(acq_cover_scorer_new(predictor, &scorer, NULL), ACQ_OK);
    assert_int_equal(acq_cover_learn(predictor, whole, &cover, NULL), ACQ_OK);
    for (acq_rel r = 0; r < N_RELATIONS; r++) {
        float scores[1000];
        uint32_t n = 0;
        assert_int_equal(acq_cover_scorer_choose(scorer, r, NULL), ACQ_OK);
        for (acq_ent h = 0; h < N_ENTITIES; h++)
            for (acq_ent t = 0; t < N_ENTITIES; t++)
                if (acq_graph_has_fact(whole, h, r, t) && !acq_graph_has_fact(rest, h, r, t))
                    scores[n++] = (float)acq_cover_scorer_score(scorer, h, t);
        qsort(scores, n, sizeof *scores, compare);
        assert_int_equal(cover.lists[r].n, n);
        assert_true(n >= ACQ_COVER_LEAST_OWN && n <= ACQ_COVER_MOST_KEPT);
        for (double level = .5; level < .99; level += .07) {
            size_t k = (size_t)ceil((n + 1) * level - 1e-9);
            double bound = acq_cover_get_bound(&cover, r, level, &list);
            assert_true(k > n ? isinf(bound) : bound == (double)scores[k - 1]);
            assert_ptr_equal(list, &cover.lists[r]);
        }
    }
    assert_true(isinf(acq_cover_get_bound(&cover, 0, .9999, &list)));
    (void)acq_cover_get_bound(&cover, 7, .9, &list); /* a relation that came later */
    assert_ptr_equal(list, &cover.lists[N_RELATIONS + 1]);
    acq_cover_deinit(&cover);
    acq_cover_scorer_free(scorer);
    acq_predictor_free(predictor);
    acq_graph_free(whole);
    acq_graph_free(rest);
}

/* Of scores drawn like the learnt ones, the share within the bound is the level; thinned lists err
 * on the side of more. */
static void test_drawn_scores_are_covered(void **state)
{
    (void)state;
    static float kept[ACQ_COVER_MOST_KEPT];
    acq_random random = acq_random_start(5, 5);
    const uint32_t sizes[] = {60, 256};
    for (size_t s = 0; s < 2; s++) {
        double covered = 0;
        enum { TRIES = 4000 };
        for (int i = 0; i < TRIES; i++) {
            acq_cover_list lists[3] = {{.n = sizes[s], .n_kept = sizes[s], .scores = kept}};
            acq_cover cover = {.n_relations = 1, .lists = lists};
            const acq_cover_list *list;
            for (uint32_t k = 0; k < sizes[s]; k++)
                kept[k] = (float)acq_random_unit(&random);
            qsort(kept, sizes[s], sizeof *kept, compare);
            covered += acq_random_unit(&random) <= acq_cover_get_bound(&cover, 0, .9, &list);
        }
        assert_true(fabs(covered / TRIES - .9) < .02); /* four standard deviations */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likelier_entities_score_less),
        cmocka_unit_test(test_bounds_are_order_statistics_of_hidden_links),
        cmocka_unit_test(test_drawn_scores_are_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
