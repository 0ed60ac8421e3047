/* graph_build.c - graphs from facts in memory: closure, counts, names, fingerprints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "graph/build.h"

static acq_ent entity(acq_graph_builder *builder, const char *name)
{
    acq_ent id = ACQ_NO_ID;
    assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    return id;
}

static acq_rel relation(acq_graph_builder *builder, const char *name)
{
    acq_rel id = ACQ_NO_ID;
    assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
    return id;
}

static void add(acq_graph_builder *builder, const char *head, const char *rel, const char *tail)
{
    acq_ent h = entity(builder, head);
    acq_rel r = relation(builder, rel);
    acq_ent t = entity(builder, tail);
    assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
}

static acq_graph *finish(acq_graph_builder *builder)
{
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static void test_facts_hold_both_ways_and_names_are_found(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    add(builder, "Paris", "capital_of", "France");
    add(builder, "Lyon", "in", "France");
    acq_graph *graph = finish(builder);
    acq_ent paris = acq_graph_find_entity(graph, "Paris", 5);
    acq_ent france = acq_graph_find_entity(graph, "France", 6);
    acq_rel capital = acq_graph_find_relation(graph, "capital_of", 10);
    assert_int_equal(acq_graph_get_n_entities(graph), 3);
    assert_int_equal(acq_graph_get_n_relations(graph), 4);
    assert_int_equal(acq_graph_get_n_facts(graph), 2);
    assert_int_equal(capital % 2, 0);
    assert_true(acq_graph_has_fact(graph, paris, capital, france));
    assert_true(acq_graph_has_fact(graph, france, acq_inverse(capital), paris));
    assert_false(acq_graph_has_fact(graph, france, capital, paris));
    assert_true(acq_graph_is_named(graph, capital));
    assert_false(acq_graph_is_named(graph, acq_inverse(capital)));
    assert_string_equal(acq_graph_get_relation_name(graph, acq_inverse(capital)), "capital_of");
    assert_string_equal(acq_graph_get_entity_name(graph, france), "France");
    assert_int_equal(acq_graph_find_entity(graph, "Rome", 4), ACQ_NO_ID);
    acq_graph_free(graph);
}

static void test_ids_out_of_range_are_no_facts(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    add(builder, "a", "r", "b");
    assert_int_equal(acq_graph_builder_add_fact(builder, 2, 0, 0), ACQ_ERR_USAGE);
    assert_int_equal(acq_graph_builder_add_fact(builder, 0, 2, 0), ACQ_ERR_USAGE);
    assert_int_equal(acq_graph_builder_add_fact(builder, 0, 0, ACQ_NO_ID), ACQ_ERR_USAGE);
    acq_graph *graph = finish(builder);
    const acq_links *links = NULL;
    acq_error error = {0};
    assert_false(acq_graph_has_fact(graph, 2, 0, 0));
    assert_false(acq_graph_has_fact(graph, 0, 2, 0));
    assert_false(acq_graph_has_fact(graph, 0, 0, ACQ_NO_ID));
    assert_int_equal(acq_graph_open_links(graph, 2, &links, &error), ACQ_ERR_USAGE);
    assert_null(links);
    assert_string_equal(error.message, "relation id 2 is unknown: the graph has 2");
    acq_graph_free(graph);
    acq_graph_free(NULL);
}

static void test_names_by_id_refuse_a_second_owner(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_error error = {0};
    assert_int_equal(acq_graph_builder_set_entity(builder, 1, "b", 1, NULL), ACQ_OK);
    assert_int_equal(acq_graph_builder_set_entity(builder, 1, "b", 1, NULL), ACQ_OK);
    assert_int_equal(acq_graph_builder_set_entity(builder, 1, "c", 1, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message, "entity id 1 has two names, \"b\" and \"c\"; keep one");
    error = (acq_error){0};
    assert_int_equal(acq_graph_builder_set_entity(builder, 2, "b", 1, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message, "entity \"b\" has two ids, 1 and 2; give it one");
    error = (acq_error){0};
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_builder_finish(builder, &graph, &error), ACQ_ERR_INPUT);
    assert_null(graph);
    assert_string_equal(error.message,
                        "entity id 0 has no name; ids must run from 0 without a gap");
    assert_int_equal(acq_graph_builder_set_entity(builder, 0, "a", 1, NULL), ACQ_OK);
    assert_int_equal(acq_graph_builder_set_relation(builder, 3, "-s", 2, NULL), ACQ_OK);
    error = (acq_error){0};
    assert_int_equal(acq_graph_builder_finish(builder, &graph, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message,
                        "relation ids 0 and 1 have no name; ids must run without a gap");
    acq_graph_builder_free(builder);
    acq_graph_builder_free(NULL);
}

static void test_odd_facts_join_their_pair(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_build_counts counts;
    acq_graph *graph;
    entity(builder, "a");
    entity(builder, "b");
    assert_int_equal(acq_graph_builder_set_relation(builder, 0, "+r", 2, NULL), ACQ_OK);
    assert_int_equal(acq_graph_builder_set_relation(builder, 1, "-r", 2, NULL), ACQ_OK);
    const acq_ent facts[][3] = {{0, 0, 1}, {1, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 0}};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(acq_graph_builder_add_fact(builder, facts[i][0], facts[i][1], facts[i][2]),
                         ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_get_counts(builder, &counts);
    assert_int_equal(counts.duplicates, 2);
    assert_int_equal(counts.one_way, 1);
    assert_int_equal(acq_graph_get_n_facts(graph), 2);
    assert_true(acq_graph_is_named(graph, 1));
    assert_string_equal(acq_graph_get_relation_name(graph, 1), "-r");
    assert_true(acq_graph_has_fact(graph, 0, 0, 0));
    acq_graph_free(graph);
    acq_graph_builder_free(builder);
}

static acq_graph *make_random(uint64_t seed, bool backwards, size_t n_facts)
{
    enum { ENTITIES = 50, RELATIONS = 5 };
    acq_graph_builder *builder = acq_graph_builder_new();
    char name[16];
    for (int i = 0; i < ENTITIES; i++) {
        snprintf(name, sizeof name, "e%d", i);
        entity(builder, name);
    }
    for (int i = 0; i < RELATIONS; i++) {
        snprintf(name, sizeof name, "r%d", i);
        relation(builder, name);
    }
    for (size_t k = 0; k < n_facts; k++) {
        acq_random random = acq_random_start(seed, backwards ? n_facts - 1 - k : k);
        acq_ent h = (acq_ent)acq_random_below(&random, ENTITIES);
        acq_rel r = 2 * (acq_rel)acq_random_below(&random, RELATIONS);
        acq_ent t = (acq_ent)acq_random_below(&random, ENTITIES);
        acq_status status = backwards ? acq_graph_builder_add_fact(builder, t, acq_inverse(r), h)
                                      : acq_graph_builder_add_fact(builder, h, r, t);
        assert_int_equal(status, ACQ_OK);
    }
    return finish(builder);
}

static void test_fingerprints_follow_facts_not_their_order(void **state)
{
    (void)state;
    acq_graph *a = make_random(1, false, 500), *b = make_random(1, true, 500);
    acq_graph *fewer = make_random(1, false, 499), *other = make_random(2, false, 500);
    assert_true(acq_graph_get_fingerprint(a) == acq_graph_get_fingerprint(b));
    assert_true(acq_graph_get_fingerprint(a) != acq_graph_get_fingerprint(fewer));
    assert_true(acq_graph_get_fingerprint(a) != acq_graph_get_fingerprint(other));
    uint64_t dictionary = acq_graph_get_dictionary_fingerprint(a);
    assert_true(dictionary == acq_graph_get_dictionary_fingerprint(other));
    assert_true(dictionary != acq_graph_get_fingerprint(a));
    acq_graph_free(a);
    acq_graph_free(b);
    acq_graph_free(fewer);
    acq_graph_free(other);
}

static void test_directions_are_inverse_of_each_other(void **state)
{
    (void)state;
    acq_graph *graph = make_random(7, false, 3000);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        assert_true(acq_links_check(links, &reason));
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++)
                assert_true(
                    acq_graph_has_fact(graph, row.tails[j], acq_inverse(r), links->heads[i]));
        }
    }
    acq_graph_free(graph);
}

static void test_a_graph_without_facts_is_legal(void **state)
{
    (void)state;
    acq_graph *nothing = finish(acq_graph_builder_new());
    assert_int_equal(acq_graph_get_n_entities(nothing), 0);
    acq_graph_free(nothing);
    acq_graph_builder *builder = acq_graph_builder_new();
    entity(builder, "a");
    relation(builder, "r");
    acq_graph *graph = finish(builder);
    assert_false(acq_graph_has_fact(graph, 0, 0, 0));
    acq_graph_free(graph);
}

/* e with an accent as one character and as two: whichever the file has, both are found. */
static void test_names_are_found_in_any_normal_form(void **state)
{
    (void)state;
    static const char *const forms[2] = {"caf\xc3\xa9", "cafe\xcc\x81"};
    for (int i = 0; i < 2; i++) {
        acq_graph_builder *builder = acq_graph_builder_new();
        add(builder, forms[i], forms[i], "b");
        acq_graph *graph = finish(builder);
        for (int j = 0; j < 2; j++) {
            assert_int_equal(acq_graph_find_entity(graph, forms[j], strlen(forms[j])), 0);
            assert_int_equal(acq_graph_find_relation(graph, forms[j], strlen(forms[j])), 0);
        }
        assert_string_equal(acq_graph_get_entity_name(graph, 0), forms[i]);
        assert_int_equal(acq_graph_find_entity(graph, "cafe", 4), ACQ_NO_ID);
        assert_int_equal(acq_graph_find_entity(graph, "caf\xc3", 4), ACQ_NO_ID);
        acq_graph_free(graph);
    }
    acq_graph_builder *both = acq_graph_builder_new();
    add(both, forms[0], "r", forms[1]);
    acq_graph *graph = finish(both);
    assert_int_equal(acq_graph_find_entity(graph, forms[0], strlen(forms[0])), 0);
    assert_int_equal(acq_graph_find_entity(graph, forms[1], strlen(forms[1])), 1);
    acq_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_hold_both_ways_and_names_are_found),
        cmocka_unit_test(test_ids_out_of_range_are_no_facts),
        cmocka_unit_test(test_names_by_id_refuse_a_second_owner),
        cmocka_unit_test(test_odd_facts_join_their_pair),
        cmocka_unit_test(test_fingerprints_follow_facts_not_their_order),
        cmocka_unit_test(test_directions_are_inverse_of_each_other),
        cmocka_unit_test(test_a_graph_without_facts_is_legal),
        cmocka_unit_test(test_names_are_found_in_any_normal_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
