/* fit_split.c - what is held out: the rest has the ids of the whole, facts go by the rule, pairs
 * stay unless all their links go, facts that come both ways go together, whoever has facts keeps
 * one; open questions drawn from the whole need a fact that the rest lacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "calibrate/learn.h"
#include "fit/parts.h"
#include "graph/build.h"

enum { N_ENTITIES = 60, N_PAIRS = 3, N_FACTS = 900 };

static acq_graph *make_graph(uint32_t n_facts)
{
    char name[16];
    acq_graph *graph;
    acq_random random = acq_random_start(11, 0);
    acq_graph_builder *builder = acq_graph_builder_new();
    for (acq_ent e = 0, id; e < N_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0, id; r < N_PAIRS; r++) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (uint32_t i = 0; i < n_facts; i++) {
        acq_ent h = (acq_ent)acq_random_below(&random, N_ENTITIES);
        acq_ent t = (acq_ent)acq_random_below(&random, N_ENTITIES);
        acq_rel r = 2 * (acq_rel)acq_random_below(&random, N_PAIRS);
        assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static void check_subset(const acq_graph *rest, const acq_graph *whole)
{
    assert_int_equal(acq_graph_get_n_entities(rest), acq_graph_get_n_entities(whole));
    assert_int_equal(acq_graph_get_n_relations(rest), acq_graph_get_n_relations(whole));
    for (acq_ent e = 0; e < N_ENTITIES; e++)
        assert_string_equal(acq_graph_get_entity_name(rest, e),
                            acq_graph_get_entity_name(whole, e));
    for (acq_rel r = 0; r < 2 * N_PAIRS; r++)
        for (acq_ent h = 0; h < N_ENTITIES; h++)
            for (acq_ent t = 0; t < N_ENTITIES; t++)
                if (acq_graph_has_fact(rest, h, r, t))
                    assert_true(acq_graph_has_fact(whole, h, r, t));
}

static void test_a_share_is_held_out(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(N_FACTS), *rest;
    assert_int_equal(acq_split_by_share(
                         whole, &(acq_split_params){.share = .2, .hold = ACQ_HOLD_LINKS, .seed = 1},
                         &rest, NULL),
                     ACQ_OK);
    check_subset(rest, whole);
    double kept = (double)acq_graph_get_n_facts(rest) / (double)acq_graph_get_n_facts(whole);
    assert_true(kept > .74 && kept < .86);
    acq_graph_free(rest);
    acq_graph_free(whole);
}

/* 60 entities in a ring, linked to the next ones both ways, but for n_single of the links. */
static acq_graph *make_ring(uint32_t n_single)
{
    enum { NEXT = 4 };
    char name[16];
    acq_graph *graph;
    uint32_t n = 0;
    acq_rel relation;
    acq_graph_builder *builder = acq_graph_builder_new();
    for (acq_ent e = 0, id; e < N_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_add_relation(builder, "beside", 6, &relation), ACQ_OK);
    for (acq_ent e = 0; e < N_ENTITIES; e++) {
        for (acq_ent k = 1; k <= NEXT; k++) {
            acq_ent other = (e + k) % N_ENTITIES;
            assert_int_equal(acq_graph_builder_add_fact(builder, e, relation, other), ACQ_OK);
            if (++n * n_single % (N_ENTITIES * NEXT) >= n_single)
                assert_int_equal(acq_graph_builder_add_fact(builder, other, relation, e), ACQ_OK);
        }
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* Facts whose other way was held out. */
static uint32_t count_halved(uint32_t n_single)
{
    acq_graph *whole = make_ring(n_single), *rest;
    uint32_t n = 0;
    assert_int_equal(acq_graph_get_n_facts(whole), 2 * 4 * N_ENTITIES - n_single);
    assert_int_equal(
        acq_split_by_share(whole, &(acq_split_params){.share = .1, .seed = 3}, &rest, NULL),
        ACQ_OK);
    assert_true((double)acq_graph_get_n_facts(rest) < .93 * (double)acq_graph_get_n_facts(whole));
    for (acq_ent h = 0; h < N_ENTITIES; h++)
        for (acq_ent t = 0; t < N_ENTITIES; t++)
            n += acq_graph_has_fact(rest, h, 0, t) && acq_graph_has_fact(whole, t, 0, h) &&
                 !acq_graph_has_fact(rest, t, 0, h);
    acq_graph_free(rest);
    acq_graph_free(whole);
    return n;
}

static void test_facts_that_come_both_ways_go_together(void **state)
{
    (void)state;
    assert_int_equal(count_halved(0), 0);
    assert_int_equal(count_halved(4), 0);
    assert_true(count_halved(30) > 10); /* here single facts are missing */
}

static bool is_linked(const acq_graph *graph, acq_ent h, acq_ent t)
{
    for (acq_rel r = 0; r < 2 * N_PAIRS; r++)
        if (acq_graph_has_fact(graph, h, r, t))
            return true;
    return false;
}

static void test_held_pairs_are_not_linked_any_more(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(N_FACTS), *rest;
    assert_int_equal(acq_split_by_share(
                         whole, &(acq_split_params){.share = .3, .hold = ACQ_HOLD_PAIRS, .seed = 1},
                         &rest, NULL),
                     ACQ_OK);
    check_subset(rest, whole);
    double kept = (double)acq_graph_get_n_facts(rest) / (double)acq_graph_get_n_facts(whole);
    assert_true(kept > .6 && kept < .75); /* the share that was asked for, though pairs stay */
    for (acq_ent h = 0; h < N_ENTITIES; h++)
        for (acq_ent t = 0; t < N_ENTITIES; t++)
            for (acq_rel r = 0; r < 2 * N_PAIRS && is_linked(rest, h, t); r++)
                assert_int_equal(acq_graph_has_fact(rest, h, r, t),
                                 acq_graph_has_fact(whole, h, r, t));
    acq_graph_free(rest);
    acq_graph_free(whole);
}

static bool has_facts(const acq_graph *graph, acq_ent entity)
{
    for (acq_ent other = 0; other < N_ENTITIES; other++)
        if (is_linked(graph, entity, other))
            return true;
    return false;
}

/* Half of the facts are asked for, of entities that have two each: far fewer can go. */
static void test_whoever_has_facts_keeps_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (acq_hold hold = ACQ_HOLD_LINKS; hold <= ACQ_HOLD_PAIRS; hold++) {
            acq_graph *whole = make_graph(N_ENTITIES), *rest;
            assert_int_equal(
                acq_split_by_share(whole,
                                   &(acq_split_params){.share = .5, .hold = hold, .seed = seed},
                                   &rest, NULL),
                ACQ_OK);
            check_subset(rest, whole);
            assert_true(acq_graph_get_n_facts(rest) < acq_graph_get_n_facts(whole));
            for (acq_ent e = 0; e < N_ENTITIES; e++)
                assert_int_equal(has_facts(rest, e), has_facts(whole, e));
            acq_graph_free(rest);
            acq_graph_free(whole);
        }
}

/* Of a ring's facts at most 4 in 27 can go when they are drawn one by one, with a third drawn. */
static void test_of_what_can_go_most_goes(void **state)
{
    (void)state;
    enum { N = 900 };
    char name[16];
    acq_graph *whole, *rest;
    acq_rel relation;
    acq_graph_builder *builder = acq_graph_builder_new();
    assert_int_equal(acq_graph_builder_add_relation(builder, "r", 1, &relation), ACQ_OK);
    for (acq_ent e = 0, id; e < N; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_ent e = 0; e < N; e++)
        assert_int_equal(acq_graph_builder_add_fact(builder, e, relation, (e + 1) % N), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &whole, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    assert_int_equal(acq_split_by_share(
                         whole, &(acq_split_params){.share = .3, .hold = ACQ_HOLD_LINKS, .seed = 1},
                         &rest, NULL),
                     ACQ_OK);
    assert_true(acq_graph_get_n_facts(rest) < N * 88 / 100);
    acq_graph_free(rest);
    acq_graph_free(whole);
}

static void test_single_facts_cannot_be_held_out(void **state)
{
    (void)state;
    acq_graph *whole, *rest;
    acq_error error = {0};
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_ent id;
    acq_rel relation;
    assert_int_equal(acq_graph_builder_add_relation(builder, "r", 1, &relation), ACQ_OK);
    for (char name = 'a'; name <= 'h'; name++)
        assert_int_equal(acq_graph_builder_add_entity(builder, &name, 1, &id), ACQ_OK);
    for (acq_ent e = 0; e < 8; e += 2)
        assert_int_equal(acq_graph_builder_add_fact(builder, e, relation, e + 1), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &whole, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    assert_int_equal(acq_split_by_share(
                         whole, &(acq_split_params){.share = .5, .hold = ACQ_HOLD_LINKS, .seed = 1},
                         &rest, &error),
                     ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "no fact is left to calibrate with"));
    acq_graph_free(whole);
}

static void test_the_earlier_graph_is_the_rest(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(N_FACTS), *earlier = make_graph(N_FACTS / 2), *rest;
    assert_int_equal(acq_split_by_earlier(whole, earlier, &rest, NULL), ACQ_OK);
    assert_int_equal(acq_graph_get_fingerprint(rest), acq_graph_get_fingerprint(earlier));
    acq_graph_free(rest);
    acq_error error = {0};
    assert_int_equal(acq_split_by_earlier(whole, whole, &rest, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "no fact is left to calibrate with"));
    acq_graph_free(earlier);
    acq_graph_free(whole);
}

static void test_folds_do_not_know_directions(void **state)
{
    (void)state;
    size_t n_second = 0;
    for (acq_ent h = 0; h < 100; h++)
        for (acq_ent t = 0; t < 100; t++) {
            assert_int_equal(acq_link_sample_get_fold(h, t), acq_link_sample_get_fold(t, h));
            n_second += acq_link_sample_get_fold(h, t);
        }
    assert_true(n_second > 4500 && n_second < 5500);
}

static bool term_equals(const acq_query *query, acq_term term, acq_ent entity)
{
    return term.is_variable || query->constants[term.id].id == entity;
}

/* Some fact of the whole that the rest lacks fits a positive atom. */
static bool may_need_held(const acq_query *query, const acq_graph *whole, const acq_graph *rest)
{
    for (uint32_t i = 0; i < query->root->n_children; i++) {
        const acq_node *atom = query->root->children[i];
        if (atom->kind != ACQ_NODE_ATOM)
            continue;
        acq_rel r = query->relations[atom->relation].id;
        for (acq_ent h = 0; h < N_ENTITIES; h++)
            for (acq_ent t = 0; t < N_ENTITIES; t++)
                if (acq_graph_has_fact(whole, h, r, t) && !acq_graph_has_fact(rest, h, r, t) &&
                    term_equals(query, atom->left, h) && term_equals(query, atom->right, t))
                    return true;
    }
    return false;
}

static void test_questions_need_what_is_held_out(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(N_FACTS), *rest;
    acq_sampler *sampler;
    size_t n_drawn = 0;
    assert_int_equal(acq_split_by_share(
                         whole, &(acq_split_params){.share = .1, .hold = ACQ_HOLD_LINKS, .seed = 1},
                         &rest, NULL),
                     ACQ_OK);
    assert_int_equal(acq_sampler_new(whole, &sampler, NULL), ACQ_OK);
    for (uint64_t key = 0; key < 300; key++) {
        bool is_hub = key % 3 == 0, is_open = key % 3 != 1;
        acq_query *query;
        assert_int_equal(acq_question_draw(sampler, rest, is_hub, is_open, 1, key, &query, NULL),
                         ACQ_OK);
        if (query == NULL)
            continue;
        n_drawn++;
        assert_true(query->n_free >= 1 && query->n_free <= 3);
        assert_true(query->n_free <= query->n_variables && query->n_atoms > 0);
        if (is_open && !is_hub)
            assert_true(may_need_held(query, whole, rest));
        if (!is_open) /* the paper's shapes have projections; besides them single links */
            assert_true(query->n_variables > 1 || query->n_atoms == 1);
        acq_query_free(query);
    }
    assert_true(n_drawn > 250);
    acq_sampler_free(sampler);
    acq_graph_free(rest);
    acq_graph_free(whole);
}

/* Facts whose ends another relation joins, one by one. */
static double share_doubles(const acq_graph *graph)
{
    size_t n = 0, n_doubles = 0;
    for (acq_rel r = 0; r < 2 * N_PAIRS; r += 2)
        for (acq_ent h = 0; h < N_ENTITIES; h++)
            for (acq_ent t = 0; t < N_ENTITIES; t++) {
                if (!acq_graph_has_fact(graph, h, r, t))
                    continue;
                bool is_double = false;
                for (acq_rel other = 0; other < 2 * N_PAIRS; other++)
                    is_double = is_double ||
                                (other / 2 != r / 2 && acq_graph_has_fact(graph, h, other, t));
                n++;
                n_doubles += is_double;
            }
    return (double)n_doubles / (double)n;
}

static void test_pairs_are_held_out_where_many_facts_say_another_again(void **state)
{
    (void)state;
    size_t n_pairs = 0, n_all = 0;
    for (uint32_t n = 100; n <= 1600; n += 100, n_all++) {
        acq_graph *graph = make_graph(n);
        acq_hold hold = ACQ_HOLD_AUTO;
        assert_int_equal(acq_split_choose_hold(graph, &hold, NULL), ACQ_OK);
        assert_int_equal(hold, share_doubles(graph) >= .25 ? ACQ_HOLD_PAIRS : ACQ_HOLD_LINKS);
        n_pairs += hold == ACQ_HOLD_PAIRS;
        acq_graph_free(graph);
    }
    assert_in_range(n_pairs, 1, n_all - 1);
}

#ifdef ACQ_FAULTS
static void test_splitting_survives_every_failed_allocation(void **state)
{
    (void)state;
    acq_graph *whole = make_graph(100);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < 5000; n++) {
        acq_graph *rest = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_split_by_share(
            whole, &(acq_split_params){.share = .2, .hold = ACQ_HOLD_LINKS, .seed = 1}, &rest,
            &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK)
            assert_int_equal(error.code, ACQ_ERR_MEMORY);
        acq_graph_free(rest);
    }
    assert_int_equal(status, ACQ_OK);
    acq_graph_free(whole);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_share_is_held_out),
        cmocka_unit_test(test_facts_that_come_both_ways_go_together),
        cmocka_unit_test(test_held_pairs_are_not_linked_any_more),
        cmocka_unit_test(test_whoever_has_facts_keeps_one),
        cmocka_unit_test(test_of_what_can_go_most_goes),
        cmocka_unit_test(test_single_facts_cannot_be_held_out),
        cmocka_unit_test(test_the_earlier_graph_is_the_rest),
        cmocka_unit_test(test_folds_do_not_know_directions),
        cmocka_unit_test(test_questions_need_what_is_held_out),
        cmocka_unit_test(test_pairs_are_held_out_where_many_facts_say_another_again),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_splitting_survives_every_failed_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
