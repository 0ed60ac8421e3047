/* store_faults.c - each public function with its N-th allocation failing, for every N until it
 * succeeds: always ACQ_ERR_MEMORY, the store as it was, nothing leaked (the address sanitizer
 * looks). Allocations inside SQLite are not counted here. */
#include "unit/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#ifdef ACQ_FAULTS

enum { MOST_ALLOCATIONS = 3000 };

static char path[1024], copy[1024];

/* Labels, several parts, changes that wait. */
static acq_graph *make_store(void)
{
    case_shape shape = {.n_entities = 40, .n_relations = 3, .n_facts = 200, .is_rdf = true};
    acq_graph *graph = case_make_graph(&shape, 77);
    acq_store_writer *writer = NULL;
    acq_store_fact fact = {.head = "a new one", .relation = "a new relation", .tail = "another"};
    snprintf(path, sizeof path, "%s", case_path("faults.acq"));
    snprintf(copy, sizeof copy, "%s", case_path("copy.acq"));
    case_write_parts(graph, path, 30);
    acq_graph_free(graph);
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    acq_store_writer_free(writer);
    case_copy(path, copy);
    OK(acq_store_open(copy, &graph, e));
    return graph;
}

typedef acq_status (*attempt)(acq_error *error);

/* Runs until nothing fails; what failed says so and changed nothing. */
static void try_all(attempt run, const acq_graph *expected, size_t least)
{
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = run(&error);
        acq_faults_fail_at(0);
        if (status == ACQ_OK)
            break;
        assert_int_equal(status, ACQ_ERR_MEMORY);
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
        if (expected != NULL)
            case_expect_store(path, expected);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n >= least);
}

static bool visit(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)context;
    (void)entity;
    (void)name;
    return length > 0;
}

static acq_status read_everything(acq_error *error)
{
    acq_graph *graph = NULL;
    const acq_links *links = NULL;
    acq_status status = acq_store_open(path, &graph, error);
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(graph); r++)
        status = acq_graph_open_links(graph, r, &links, error);
    if (status == ACQ_OK)
        status = acq_graph_each_name(graph, "", 0, visit, NULL, error);
    if (status == ACQ_OK)
        status = acq_graph_each_name(graph, "The", 3, visit, NULL, error);
    if (status == ACQ_OK) {
        acq_graph_get_entity_name(graph, 3);
        acq_graph_find_entity(graph, "another", 7);
        status = acq_graph_get_failure(graph, error);
    }
    acq_graph_free(graph);
    return status;
}

static acq_status verify(acq_error *error)
{
    return acq_store_verify(path, NULL, NULL, error);
}

static acq_status read_info(acq_error *error)
{
    acq_store_info info;
    return acq_store_read_info(path, &info, error);
}

static acq_status open_path(acq_error *error)
{
    acq_graph *graph = NULL;
    acq_read_params params = {0};
    acq_status status = acq_graph_open_path(path, &params, &graph, NULL, error);
    acq_graph_free(graph);
    return status;
}

static void test_reading_survives_every_failed_allocation(void **state)
{
    (void)state;
    acq_graph *expected = make_store();
    try_all(read_everything, NULL, 30);
    try_all(verify, NULL, 20);
    try_all(read_info, NULL, 5);
    try_all(open_path, NULL, 10);
    acq_graph_free(expected);
}

static acq_status add(acq_error *error)
{
    acq_store_fact facts[] = {
        {.head = "one more", .relation = "one more relation", .tail = "a new one"},
        {.head = "http://example.org/thing/1",
         .relation = "http://example.org/rel/0",
         .tail = "http://example.org/thing/2"},
    };
    acq_store_writer *writer = NULL;
    acq_status status = acq_store_writer_open(path, &writer, error);
    if (status == ACQ_OK)
        status = acq_store_add(writer, facts, 2, NULL, NULL, error);
    acq_store_writer_free(writer);
    return status;
}

static acq_status remove_fact(acq_error *error)
{
    acq_store_fact fact = {.head = "a new one", .relation = "a new relation", .tail = "another"};
    acq_store_writer *writer = NULL;
    acq_status status = acq_store_writer_open(path, &writer, error);
    if (status == ACQ_OK)
        status = acq_store_remove(writer, &fact, 1, NULL, NULL, error);
    acq_store_writer_free(writer);
    return status;
}

static acq_status compact(acq_error *error)
{
    acq_store_writer *writer = NULL;
    acq_status status = acq_store_writer_open(path, &writer, error);
    if (status == ACQ_OK)
        status = acq_store_compact(writer, NULL, error);
    acq_store_writer_free(writer);
    return status;
}

static void test_writing_survives_every_failed_allocation(void **state)
{
    (void)state;
    acq_graph *expected = make_store();
    try_all(add, expected, 10);
    case_copy(copy, path);
    try_all(remove_fact, expected, 10);
    case_copy(copy, path);
    try_all(compact, expected, 10);
    case_expect_store(path, expected);
    acq_graph_free(expected);
}

/* The same handle goes on after a failure. */
static void test_a_writer_goes_on_after_a_failure(void **state)
{
    (void)state;
    acq_graph *expected = make_store();
    acq_store_writer *writer = NULL;
    acq_store_fact fact = {.head = "x", .relation = "a new relation", .tail = "y"};
    acq_status status = ACQ_ERR_MEMORY;
    OK(acq_store_writer_open(path, &writer, e));
    for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_faults_fail_at(n);
        status = acq_store_add(writer, &fact, 1, NULL, NULL, NULL);
        acq_faults_fail_at(0);
        if (status != ACQ_OK)
            case_expect_store(path, expected);
    }
    assert_int_equal(status, ACQ_OK);
    OK(acq_store_remove(writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_compact(writer, NULL, e));
    acq_store_writer_free(writer);
    OK(acq_store_verify(path, NULL, NULL, e));
    acq_graph_free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_survives_every_failed_allocation),
        cmocka_unit_test(test_writing_survives_every_failed_allocation),
        cmocka_unit_test(test_a_writer_goes_on_after_a_failure),
    };
    return cmocka_run_group_tests(tests, case_make_folder, case_remove_folder);
}

#else

int main(void)
{
    puts("skipped: built without ACQ_FAULTS");
    return 0;
}

#endif
