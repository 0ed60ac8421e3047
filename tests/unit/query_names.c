/* query_names.c - names to ids: binding to a graph, groundings, and the readings of parallel
 * atoms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/build.h"
#include "query/print.h"
#include "query/query.h"

static acq_query *parse(const char *text)
{
    acq_query *query = NULL;
    assert_int_equal(acq_query_parse(text, strlen(text), &query, NULL), ACQ_OK);
    return query;
}

static acq_query *parse_benchmark(const char *text)
{
    acq_query *query = NULL;
    assert_int_equal(acq_query_parse_benchmark(text, strlen(text), &query, NULL), ACQ_OK);
    return query;
}

/* Oppenheimer 0, Nolan 1; directed 0, born_in 2. */
static int make_graph(void **state)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    uint32_t id;
    assert_non_null(builder);
    assert_int_equal(acq_graph_builder_add_entity(builder, "Oppenheimer", 11, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_entity(builder, "Nolan", 5, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "directed", 8, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "born_in", 7, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, 1, 0, 0), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    *state = graph;
    return 0;
}

static int free_graph(void **state)
{
    acq_graph_free(*state);
    return 0;
}

static void test_names_get_the_ids_of_the_graph(void **state)
{
    acq_query *query = parse("directed(x, \"Oppenheimer\") & inverse(directed)(\"Nolan\", x)");
    char hint[100] = "old";
    assert_int_equal(query->constants[0].id, ACQ_NO_ID);
    assert_int_equal(acq_query_bind(query, *state, hint, sizeof hint, NULL), ACQ_OK);
    assert_int_equal(query->constants[0].id, 0);
    assert_int_equal(query->constants[1].id, 1);
    assert_int_equal(query->relations[0].id, 0);
    assert_int_equal(query->relations[1].id, 1);
    assert_string_equal(hint, "");
    assert_int_equal(acq_query_bind(query, *state, NULL, 0, NULL), ACQ_OK);
    acq_query_free(query);
}

static void check_unknown(const acq_graph *graph, const char *text, size_t line, size_t column,
                          const char *message)
{
    acq_query *query = parse(text);
    acq_error error = {0};
    assert_int_equal(acq_query_bind(query, graph, NULL, 0, &error), ACQ_ERR_NAME);
    assert_int_equal(error.code, ACQ_ERR_NAME);
    assert_string_equal(error.message, message);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    for (uint32_t i = 0; i < query->n_constants; i++)
        assert_int_equal(query->constants[i].id, ACQ_NO_ID);
    for (uint32_t i = 0; i < query->n_relations; i++)
        assert_int_equal(query->relations[i].id, ACQ_NO_ID);
    acq_query_free(query);
}

static void test_the_first_unknown_name_is_reported_with_the_nearest_known_one(void **state)
{
    check_unknown(*state, "directed(x, \"Openheimer\")", 1, 13,
                  "the graph has no entity \"Openheimer\"; did you mean \"Oppenheimer\"?");
    check_unknown(*state, "directed(x, \"Oppenheimer\") &\n born(x, y)", 2, 2,
                  "the graph has no relation \"born\"; did you mean \"born_in\"?");
    check_unknown(*state, "directde(x, \"Openheimer\")", 1, 1,
                  "the graph has no relation \"directde\"; did you mean \"directed\"?");
    check_unknown(*state, "directed(x, \"Openheimer\") & brn_in(x, y)", 1, 13,
                  "the graph has no entity \"Openheimer\"; did you mean \"Oppenheimer\"?");
    check_unknown(*state, "directed(x, \"something else entirely\")", 1, 13,
                  "the graph has no entity \"something else entirely\"; check the spelling");
    check_unknown(*state, "exists x. directed(x, somebody_unknown)", 1, 23,
                  "the graph has no entity \"somebody_unknown\"; check the spelling (a bare word "
                  "that neither the head nor exists lists is a name; list it to make it a "
                  "variable)");
    check_unknown(*state, "ASK { ?x <directed> <Nolan> ; <wrote> ?y }", 1, 31,
                  "the graph has no relation \"wrote\"; check the spelling");
}

static void test_a_variable_written_like_an_entity_gets_a_hint(void **state)
{
    acq_query *query = parse("directed(x, Oppenheimer)");
    char hint[200], shortest[8];
    assert_int_equal(acq_query_bind(query, *state, hint, sizeof hint, NULL), ACQ_OK);
    assert_string_equal(hint, "'Oppenheimer' is a variable here, but also the name of an entity; "
                              "write \"Oppenheimer\" in quotes to mean the entity");
    assert_int_equal(acq_query_bind(query, *state, shortest, sizeof shortest, NULL), ACQ_OK);
    assert_string_equal(shortest, "'Oppenh");
    acq_query_free(query);
}

static const char *const NAMES[] = {"s1", "r1", "s2", "r2"};

static void test_a_query_is_grounded_again_and_again(void **state)
{
    acq_query *query = parse_benchmark("(r1(s1,e1))&(r2(e1,f1))&(!(r1(s2,f1)))");
    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t ids[] = {i, i % 2, i, 2};
        assert_int_equal(acq_query_ground_pairs(query, NAMES, ids, 4, NULL), ACQ_OK);
        assert_true(query->constants[0].is_id && query->relations[1].is_id);
        assert_int_equal(query->constants[0].id, i);
        assert_int_equal(query->constants[1].id, i);
        assert_int_equal(query->relations[0].id, i % 2);
        assert_int_equal(query->relations[1].id, 2);
    }
    assert_string_equal(query->constants[0].text, "s1");
    acq_query_free(query);
}

static void test_a_missing_name_is_reported_and_changes_nothing(void **state)
{
    acq_query *query = parse_benchmark("(r1(s1,e1))&(r2(e1,s9))");
    const char *const all[] = {"s1", "r1", "s9", "r2"};
    const uint32_t first[] = {1, 2, 3, 4}, second[] = {5, 6, 7, 8};
    acq_error error = {0};
    (void)state;
    assert_int_equal(acq_query_ground_pairs(query, all, first, 4, NULL), ACQ_OK);
    assert_int_equal(acq_query_ground_pairs(query, NAMES, second, 4, &error), ACQ_ERR_NAME);
    assert_string_equal(error.message, "the grounding has no id for 's9'; add one");
    assert_int_equal(error.column, 20);
    assert_int_equal(query->constants[0].id, 1);
    error = (acq_error){0};
    assert_int_equal(acq_query_ground_pairs(query, NAMES, second, 1, &error), ACQ_ERR_NAME);
    assert_string_equal(error.message, "the grounding has no id for 'r1'; add one");
    acq_query_free(query);
}

static void test_binding_checks_grounded_ids(void **state)
{
    acq_query *query = parse_benchmark("r1(s1,f1)");
    const uint32_t good[] = {1, 3, 0, 0}, entity[] = {2, 0, 0, 0}, relation[] = {0, 4, 0, 0};
    acq_error error = {0};
    assert_int_equal(acq_query_ground_pairs(query, NAMES, good, 4, NULL), ACQ_OK);
    assert_int_equal(acq_query_bind(query, *state, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_query_ground_pairs(query, NAMES, entity, 4, NULL), ACQ_OK);
    assert_int_equal(acq_query_bind(query, *state, NULL, 0, &error), ACQ_ERR_NAME);
    assert_string_equal(error.message, "entity 's1' is grounded to id 2, but the graph has only 2; "
                                       "is this the graph the grounding was made for?");
    error = (acq_error){0};
    assert_int_equal(acq_query_ground_pairs(query, NAMES, relation, 4, NULL), ACQ_OK);
    assert_int_equal(acq_query_bind(query, *state, NULL, 0, &error), ACQ_ERR_NAME);
    assert_string_equal(error.message, "relation 'r1' is grounded to id 4, but the graph has only "
                                       "4; is this the graph the grounding was made for?");
    acq_query_free(query);
}

static void test_free_variables_come_in_the_order_of_their_numbers(void **state)
{
    acq_query *query = parse_benchmark("((r1(f10,e5))&(r2(e5,f2)))&((r3(s2,f1))|(r3(e1,f10)))");
    (void)state;
    assert_int_equal(query->n_free, 3);
    assert_string_equal(query->variables[0].text, "f1");
    assert_string_equal(query->variables[1].text, "f2");
    assert_string_equal(query->variables[2].text, "f10");
    assert_string_equal(query->variables[3].text, "e5");
    assert_string_equal(query->variables[4].text, "e1");
    assert_int_equal(query->root->n_children, 3);
    assert_int_equal(query->root->children[2]->kind, ACQ_NODE_OR);
    acq_query_free(query);
}

static void check_reading(const char *formula, acq_atoms_reading reading, const char *expected)
{
    acq_query *query = parse_benchmark(formula), *reduced = NULL;
    acq_text text;
    acq_text_init(&text);
    assert_int_equal(acq_query_apply_reading(query, reading, &reduced, NULL), ACQ_OK);
    assert_int_equal(acq_query_print(reduced, ACQ_SYNTAX_BENCHMARK, &text, NULL), ACQ_OK);
    assert_string_equal(text.bytes, expected);
    acq_text_deinit(&text);
    acq_query_free(reduced);
    acq_query_free(query);
}

static void test_readings_keep_the_last_atom_of_each_pair(void **state)
{
    static const char FORMULA[] =
        "(r1(f1,e1))&(r2(e1,f1))&(r3(f1,e1))&(r4(s1,e1))&(!(r5(s1,e1)))&(r6(s2,e1))&(r1(f1,f1))";
    (void)state;
    check_reading(FORMULA, ACQ_ATOMS_WRITTEN, FORMULA);
    check_reading(FORMULA, ACQ_ATOMS_PAIR, "(r3(f1,e1))&(!(r5(s1,e1)))&(r6(s2,e1))&(r1(f1,f1))");
    check_reading(FORMULA, ACQ_ATOMS_ORDERED_PAIR,
                  "(r2(e1,f1))&(r3(f1,e1))&(!(r5(s1,e1)))&(r6(s2,e1))&(r1(f1,f1))");
    check_reading("!(r1(s1,f1))", ACQ_ATOMS_PAIR, "!(r1(s1,f1))");
    check_reading("(r1(f1,f2))&(r2(f2,f1))", ACQ_ATOMS_PAIR, "r2(f2,f1)");
    check_reading("(r1(s1,s2))&(r2(s2,s1))&(r3(s1,e1))&(r4(e1,s1))", ACQ_ATOMS_PAIR,
                  "(r2(s2,s1))&(r4(e1,s1))");
}

static void test_a_reading_keeps_the_grounding(void **state)
{
    acq_query *query = parse_benchmark("(r1(s1,f1))&(r2(s1,f1))&(r2(s2,f1))"), *reduced = NULL;
    const uint32_t ids[] = {7, 8, 7, 9};
    (void)state;
    assert_int_equal(acq_query_ground_pairs(query, NAMES, ids, 4, NULL), ACQ_OK);
    assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_PAIR, &reduced, NULL), ACQ_OK);
    assert_int_equal(reduced->n_atoms, 2);
    assert_int_equal(reduced->n_relations, 1);
    assert_int_equal(reduced->n_constants, 2);
    assert_true(reduced->relations[0].is_id && reduced->relations[0].id == 9);
    assert_true(reduced->constants[1].is_id && reduced->constants[1].id == 7);
    acq_query_free(reduced);
    acq_query_free(query);
}

static void test_equalities_are_no_atoms_of_a_pair(void **state)
{
    acq_query *query = parse("r(x, y) & x != y & s(y, x) & x = y"), *reduced = NULL;
    (void)state;
    assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_PAIR, &reduced, NULL), ACQ_OK);
    assert_int_equal(reduced->n_atoms, 3);
    acq_query_free(reduced);
    acq_query_free(query);
}

static void test_readings_other_than_written_want_a_conjunction(void **state)
{
    static const char *const FORMULAS[] = {"(r1(s1,f1))&((r2(s1,f1))|(r3(s1,f1)))",
                                           "(r2(s1,f1))|(r3(s1,f1))", "!((r2(s1,f1))&(r3(s1,f1)))",
                                           "!(!(r2(s1,f1)))"};
    (void)state;
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS; i++) {
        acq_query *query = parse_benchmark(FORMULAS[i]), *reduced = NULL;
        acq_error error = {0};
        assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_ORDERED_PAIR, &reduced, &error),
                         ACQ_ERR_INPUT);
        assert_string_equal(error.message,
                            "the reading 'ordered-pair' is defined for conjunctions of atoms and "
                            "negated atoms only; use 'written'");
        assert_null(reduced);
        assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_WRITTEN, &reduced, NULL), ACQ_OK);
        acq_query_free(reduced);
        acq_query_free(query);
    }
}

static void test_readings_have_names(void **state)
{
    (void)state;
    assert_int_equal(acq_atoms_reading_find("written"), ACQ_ATOMS_WRITTEN);
    assert_int_equal(acq_atoms_reading_find("pair"), ACQ_ATOMS_PAIR);
    assert_int_equal(acq_atoms_reading_find("ordered-pair"), ACQ_ATOMS_ORDERED_PAIR);
    assert_int_equal(acq_atoms_reading_find("both"), ACQ_N_ATOMS_READINGS);
    assert_string_equal(acq_atoms_reading_get_name(ACQ_ATOMS_PAIR), "pair");
    assert_string_equal(acq_atoms_reading_get_name(ACQ_N_ATOMS_READINGS), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_get_the_ids_of_the_graph),
        cmocka_unit_test(test_the_first_unknown_name_is_reported_with_the_nearest_known_one),
        cmocka_unit_test(test_a_variable_written_like_an_entity_gets_a_hint),
        cmocka_unit_test(test_a_query_is_grounded_again_and_again),
        cmocka_unit_test(test_a_missing_name_is_reported_and_changes_nothing),
        cmocka_unit_test(test_binding_checks_grounded_ids),
        cmocka_unit_test(test_free_variables_come_in_the_order_of_their_numbers),
        cmocka_unit_test(test_readings_keep_the_last_atom_of_each_pair),
        cmocka_unit_test(test_a_reading_keeps_the_grounding),
        cmocka_unit_test(test_equalities_are_no_atoms_of_a_pair),
        cmocka_unit_test(test_readings_other_than_written_want_a_conjunction),
        cmocka_unit_test(test_readings_have_names),
    };
    return cmocka_run_group_tests(tests, make_graph, free_graph);
}
