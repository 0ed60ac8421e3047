/* Query files: good ones become structs, each bad one an error that names its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "eval/files.h"

#define DATA ACQ_SOURCE_DIR "/tests/data/bench/"

static const acq_bench_limits limits = {.n_entities = 8, .n_relations = 4};

static acq_bench_file *read_good(const char *path, acq_bench_task task)
{
    acq_bench_file *file = NULL;
    acq_error error = {0};
    acq_status status = acq_bench_file_read(path, task, limits, &file, &error);
    if (status != ACQ_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, ACQ_OK);
    return file;
}

static uint32_t id_of(const acq_bench_file *file, size_t instance, const char *name)
{
    const acq_bench_instance *one = &file->instances[instance];
    const acq_bench_formula *formula = &file->formulas[one->formula];
    for (size_t i = 0; i < formula->n_names; i++)
        if (strcmp(formula->names[i], name) == 0)
            return one->ids[i];
    return ACQ_NO_ID;
}

static void test_qac_file_keeps_formulas_and_instances_in_order(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qac_small.json", ACQ_TASK_QAC);
    assert_int_equal(file->n_formulas, 2);
    assert_int_equal(file->n_instances, 3);
    assert_string_equal(file->formulas[0].text, "(r1(s1,e1))&(r2(e1,f1))");
    assert_int_equal(file->formulas[0].n, 2);
    assert_int_equal(file->formulas[1].first, 2);
    assert_int_equal(file->instances[2].formula, 1);
    assert_string_equal(acq_bench_file_get_name(file), "qac_small.json");
    acq_bench_file_free(file);
}

static void test_groundings_are_found_by_name(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qac_small.json", ACQ_TASK_QAC);
    assert_int_equal(id_of(file, 0, "s1"), 4);
    assert_int_equal(id_of(file, 1, "s1"), 5);
    assert_int_equal(id_of(file, 1, "r1"), 1);
    assert_int_equal(id_of(file, 1, "r2"), 2);
    assert_int_equal(id_of(file, 2, "s2"), 4);
    assert_int_equal(id_of(file, 2, "r2"), 3);
    acq_bench_file_free(file);
}

static void test_qac_candidates_are_split_into_correct_and_wrong(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qac_small.json", ACQ_TASK_QAC);
    const acq_bench_instance *first = &file->instances[0];
    assert_int_equal(first->correct.n, 2);
    assert_int_equal(first->correct.values[1], 2);
    assert_int_equal(first->wrong.n, 1);
    assert_int_equal(first->wrong.values[0], 3);
    assert_int_equal(file->instances[1].wrong.n, 0);
    acq_bench_file_free(file);
}

static void test_qar_tuples_follow_the_querys_variables_not_the_keys_order(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qar_pairs.json", ACQ_TASK_QAR);
    const acq_bench_instance *first = &file->instances[0];
    assert_int_equal(first->type, 'e');
    assert_int_equal(first->correct.n, 2);
    assert_int_equal(first->correct.values[0], 2); /* f1 */
    assert_int_equal(first->correct.values[1], 1); /* f2 */
    assert_true(acq_bench_tuples_contain(&first->correct, (acq_ent[]){4, 3}, 2));
    assert_false(acq_bench_tuples_contain(&first->correct, (acq_ent[]){3, 4}, 2));
    assert_int_equal(file->instances[1].type, 'n');
    acq_bench_file_free(file);
}

static void test_reading_is_the_files_own_else_by_task_and_name(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qar_pairs.json", ACQ_TASK_QAR);
    assert_int_equal(acq_bench_file_get_atoms(file), ACQ_ATOMS_ORDERED_PAIR);
    file->has_atoms = false;
    assert_int_equal(acq_bench_file_get_atoms(file), ACQ_ATOMS_WRITTEN);
    acq_bench_file_free(file);
    file = read_good(DATA "qac_small.json", ACQ_TASK_QAC);
    assert_int_equal(acq_bench_file_get_atoms(file), ACQ_ATOMS_WRITTEN);
    file->path = "hub/qac_3hub.json";
    assert_int_equal(acq_bench_file_get_atoms(file), ACQ_ATOMS_PAIR);
    file->path = "hub/qac.json";
    assert_int_equal(acq_bench_file_get_atoms(file), ACQ_ATOMS_WRITTEN);
    acq_bench_file_free(file);
}

/* What published files have, and what is made of it. */
static void test_dirt_is_taken_and_counted(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qar_dirty.json", ACQ_TASK_QAR);
    assert_int_equal(file->n_formulas, 2);
    assert_int_equal(file->n_instances, 6);
    assert_int_equal(file->dirt.n_extra, 2);
    assert_int_equal(file->dirt.n_unlisted, 2);
    assert_int_equal(file->dirt.n_denied, 2);
    assert_int_equal(file->dirt.n_repeated, 1);
    assert_int_equal(file->dirt.n_replaced, 1);
    assert_int_equal(id_of(file, 0, "s1"), 5); /* the last one of the name counts */
    assert_int_equal(file->instances[1].type, 'h');
    assert_int_equal(file->instances[1].correct.n, 0);
    assert_int_equal(file->instances[3].type, 'n');
    acq_bench_file_free(file);
}

static void test_instances_without_a_meaning_go_alone(void **state)
{
    (void)state;
    acq_bench_file *file = read_good(DATA "qar_dirty.json", ACQ_TASK_QAR);
    assert_int_equal(file->dirt.n_left_out, 5);
    assert_non_null(strstr(file->dirt.why_out, "formula 1, instance 5: member 1 (grounding) does"));
    assert_int_equal(file->formulas[0].first, 0);
    assert_int_equal(file->formulas[0].n, 5);
    assert_int_equal(file->formulas[1].first, 5);
    assert_int_equal(file->formulas[1].number, 3);
    assert_int_equal(file->instances[5].formula, 1);
    acq_bench_file_free(file);
}

/* A formula with "or" has no meaning where one atom per pair of terms counts. */
static void test_formulas_without_a_reading_go_alone(void **state)
{
    (void)state;
    static const char text[] = "{\"(r1(s1,f1))|(r2(s1,f1))\": [[{\"r1\": 0, \"r2\": 1, \"s1\": 1},"
                               "{\"f1\": [[1]]}, {\"f1\": [[2]]}]],"
                               "\"r1(s1,f1)\": [[{\"r1\": 0, \"s1\": 1}, {\"f1\": [[1]]}, {}]]}";
    acq_bench_file *file = NULL;
    acq_error error = {0};
    assert_int_equal(acq_bench_file_parse(text, strlen(text), "x.json", ACQ_TASK_QAC, limits, &file,
                                          &error),
                     ACQ_OK);
    assert_int_equal(acq_bench_file_keep_readable(file, ACQ_ATOMS_WRITTEN, &error), ACQ_OK);
    assert_int_equal(file->n_instances, 2);
    assert_int_equal(acq_bench_file_keep_readable(file, ACQ_ATOMS_PAIR, &error), ACQ_OK);
    assert_int_equal(file->n_instances, 1);
    assert_int_equal(file->instances[0].formula, 1);
    assert_int_equal(file->formulas[1].first, 0);
    assert_int_equal(file->dirt.n_left_out, 1);
    assert_non_null(strstr(file->dirt.why_out, "formula 1, character"));
    acq_bench_file_free(file);
}

typedef struct bad_case {
    const char *file;
    acq_bench_task task;
    const char *message; /* part of it */
} bad_case;

static const bad_case bad_cases[] = {
    {"not_json", ACQ_TASK_QAC, "not valid JSON: expected"},
    {"not_object", ACQ_TASK_QAC, "maps formulas to lists of instances"},
    {"empty", ACQ_TASK_QAC, "no instance"},
    {"formula", ACQ_TASK_QAC, "formula 1, character "},
    {"no_free", ACQ_TASK_QAC, "formula 1 has no free variable; name one f1"},
    {"not_list", ACQ_TASK_QAC, "formula 1: its value must be a list of instances"},
    {"two_members", ACQ_TASK_QAC,
     "formula 1, instance 1: an instance is a list of three members: [grounding, correct, wrong]"},
    {"two_members", ACQ_TASK_QAR, "[grounding, answers, type]"},
    {"grounding_list", ACQ_TASK_QAC, "instance 1: member 1 must be the grounding"},
    {"grounding_misses", ACQ_TASK_QAC,
     "formula 1, instance 1: member 1 (grounding) does not say which entity s1 is; add \"s1\": ID"},
    {"grounding_text", ACQ_TASK_QAC,
     "member 1 (grounding): r1 has a string where an id must be; give an integer"},
    {"relation_id", ACQ_TASK_QAC,
     "r1 has id 4, but the graph's relation ids run from 0 to 3; check that the queries belong"},
    {"entity_id", ACQ_TASK_QAC, "s1 has id -1, but the graph's entity ids run from 0 to 7"},
    {"tuples_list", ACQ_TASK_QAC, "member 2 (correct) must be an object with one key"},
    {"tuples_two_keys", ACQ_TASK_QAC, "it is an object with several"},
    {"key", ACQ_TASK_QAC, "member 2 (correct): the key \"f2\" must name each"},
    {"key_twice", ACQ_TASK_QAC, "the key \"f1&f1\" must name each of the formula's 2 free"},
    {"key_long", ACQ_TASK_QAC, "the key \"f1&f2\" must name each of the formula's 1 free"},
    {"tuple_width", ACQ_TASK_QAC, "member 2 (correct): tuple 2 must be a list of 1 entity ids"},
    {"tuple_real", ACQ_TASK_QAC, "tuple 1 has a number with a fraction where an id must be"},
    {"tuple_id", ACQ_TASK_QAC, "instance 1: member 3 (wrong): tuple 2 has id 8"},
    {"qar_as_qac", ACQ_TASK_QAC, "member 3 is a string, as in a qar file"},
    {"atoms", ACQ_TASK_QAC, "member \"atoms\" must be"},
    {"qar_type", ACQ_TASK_QAR, "member 3 must be the type"},
    {"qar_qac", ACQ_TASK_QAR, "member 3 is an object, as in a qac file"},
    {"no_such_file", ACQ_TASK_QAC, "there is no such file"},
};

static void test_bad_files_are_refused_with_place_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
        char path[1024];
        acq_bench_file *file = NULL;
        acq_error error = {0};
        snprintf(path, sizeof path, DATA "bad/%s.json", bad_cases[i].file);
        assert_int_not_equal(acq_bench_file_read(path, bad_cases[i].task, limits, &file, &error),
                             ACQ_OK);
        if (strstr(error.message, bad_cases[i].message) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", bad_cases[i].file, error.message,
                     bad_cases[i].message);
        assert_true(error.file[0] != '\0');
        assert_null(file);
    }
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK; n++) {
        acq_bench_file *file = NULL;
        acq_faults_fail_at(n);
        status = acq_bench_file_read(DATA "qar_dirty.json", ACQ_TASK_QAR, limits, &file, NULL);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && file == NULL));
        acq_bench_file_free(file);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qac_file_keeps_formulas_and_instances_in_order),
        cmocka_unit_test(test_groundings_are_found_by_name),
        cmocka_unit_test(test_qac_candidates_are_split_into_correct_and_wrong),
        cmocka_unit_test(test_qar_tuples_follow_the_querys_variables_not_the_keys_order),
        cmocka_unit_test(test_reading_is_the_files_own_else_by_task_and_name),
        cmocka_unit_test(test_dirt_is_taken_and_counted),
        cmocka_unit_test(test_instances_without_a_meaning_go_alone),
        cmocka_unit_test(test_formulas_without_a_reading_go_alone),
        cmocka_unit_test(test_bad_files_are_refused_with_place_and_remedy),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported_and_leaks_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
