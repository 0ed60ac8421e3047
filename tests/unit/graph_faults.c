/* graph_faults.c - each public function with its N-th allocation failing, for every N until it
 * succeeds: always ACQ_ERR_MEMORY, nothing written, nothing leaked (the address sanitizer looks).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/build.h"
#include "graph/text/reader.h"

#ifdef ACQ_FAULTS

#define GOOD ACQ_SOURCE_DIR "/tests/data/graph/good/"

enum { MOST_ALLOCATIONS = 5000 };

static void test_reading_survives_every_failed_allocation(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {GOOD "two.tsv", NULL},        {GOOD "quoted.csv", NULL},
        {GOOD "splits", "test"},       {GOOD "benchmark", "valid"},
        {GOOD "unicode.tsv", NULL},    {GOOD "benchmark_one_way/train_kg.tsv", NULL},
        {GOOD "labels.nt", NULL},      {GOOD "brackets.ttl", NULL},
        {GOOD "graphs.trig", NULL},    {GOOD "statements.nt", NULL},
        {GOOD "members.tsv.gz", NULL}, {GOOD "prefixes.ttl.gz", NULL},
        {GOOD "plain.csv.gz", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        acq_read_params params = {.split = cases[i][1]};
        acq_status status = ACQ_ERR_MEMORY;
        size_t n = 1;
        for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_graph *graph = NULL;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = acq_graph_read(&cases[i][0], 1, &params, &graph, NULL, &error);
            acq_faults_fail_at(0);
            if (status != ACQ_OK) {
                assert_int_equal(status, ACQ_ERR_MEMORY);
                assert_int_equal(error.code, ACQ_ERR_MEMORY);
                assert_null(graph);
            }
            acq_graph_free(graph);
        }
        assert_int_equal(status, ACQ_OK);
        assert_true(n > 10);
    }
}

/* Several pieces, bad lines, labels and literals, from memory. */
static void test_pieces_survive_every_failed_allocation(void **state)
{
    (void)state;
    const char *text = "<http://e/a> <http://r> <http://e/\\u00E9> .\nbad\n"
                       "<http://e/a> <http://www.w3.org/2000/01/rdf-schema#label> \"A\" .\n"
                       "<b> <http://r> \"text\\n\"^^<http://t> .\n_:x <http://r> \"y\"@en .\n";
    acq_memory_source source = {
        .name = "text.nt", .bytes = text, .length = strlen(text), .piece_bytes = 20};
    for (int i = 0; i < 2; i++) {
        acq_read_params params = {.literals = true, .threads = 1, .base = "http://base/"};
        acq_status status = ACQ_ERR_MEMORY;
        source.syntax = i == 0 ? ACQ_NTRIPLES : ACQ_TURTLE;
        if (i == 1) /* Turtle stops at a bad line */
            source.bytes = strstr(text, "bad\n") + 4, source.length = strlen(source.bytes);
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_graph *graph = NULL;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = acq_graph_read_memory(&source, &params, &graph, NULL, &error);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
            assert_int_equal(error.code, status);
            acq_graph_free(graph);
        }
        assert_int_equal(status, ACQ_OK);
    }
}

/* Adds a fact by names; the first failed step ends it. */
static acq_status add(acq_graph_builder *builder, const char *head, const char *rel,
                      const char *tail)
{
    acq_ent h = 0, t = 0;
    acq_rel r = 0;
    acq_status status = acq_graph_builder_add_entity(builder, head, strlen(head), &h);
    if (status == ACQ_OK)
        status = acq_graph_builder_add_relation(builder, rel, strlen(rel), &r);
    if (status == ACQ_OK)
        status = acq_graph_builder_add_entity(builder, tail, strlen(tail), &t);
    return status == ACQ_OK ? acq_graph_builder_add_fact(builder, h, r, t) : status;
}

static void test_building_goes_on_after_a_failed_allocation(void **state)
{
    (void)state;
    acq_faults_fail_at(1);
    assert_null(acq_graph_builder_new());
    acq_faults_fail_at(0);
    /* Every step is tried again after its failure: the result must be as if none had failed. */
    for (size_t gap = 1; gap < 6; gap++) {
        acq_graph_builder *builder = acq_graph_builder_new();
        acq_graph *graph = NULL;
        char head[16], tail[16], rel[16];
        for (int i = 0; i < 200; i++) {
            snprintf(head, sizeof head, "h%d", i);
            snprintf(rel, sizeof rel, "r%d", i % 7);
            snprintf(tail, sizeof tail, "t%d", i);
            acq_faults_fail_at(gap);
            acq_status status = add(builder, head, rel, tail);
            acq_faults_fail_at(0);
            if (status != ACQ_OK) {
                assert_int_equal(status, ACQ_ERR_MEMORY);
                assert_int_equal(add(builder, head, rel, tail), ACQ_OK);
            }
        }
        acq_status status = ACQ_ERR_MEMORY;
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_faults_fail_at(n);
            status = acq_graph_builder_finish(builder, &graph, NULL);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        }
        assert_int_equal(acq_graph_get_n_facts(graph), 200);
        assert_int_equal(acq_graph_get_n_entities(graph), 400);
        acq_graph_free(graph);
        acq_graph_builder_free(builder);
    }
}

static void test_names_by_id_report_failed_allocations(void **state)
{
    (void)state;
    for (size_t n = 1; n < 4; n++) {
        acq_graph_builder *builder = acq_graph_builder_new();
        acq_error error = {0};
        acq_faults_fail_at(n);
        assert_int_equal(acq_graph_builder_set_entity(builder, 0, "a", 1, &error), ACQ_ERR_MEMORY);
        acq_faults_fail_at(n);
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
        acq_faults_fail_at(0);
        assert_int_equal(acq_graph_builder_set_entity(builder, 0, "a", 1, NULL), ACQ_OK);
        acq_graph_builder_free(builder);
    }
}

static void test_links_report_failed_allocations(void **state)
{
    (void)state;
    acq_link links[] = {{2, 1, 0.5F}, {0, 1, 0.25F}};
    acq_links *made = NULL;
    for (size_t n = 1; n < 3; n++) {
        acq_faults_fail_at(n);
        assert_int_equal(acq_links_new(links, 2, 3, true, &made), ACQ_ERR_MEMORY);
        acq_faults_fail_at(0);
        assert_null(made);
    }
    assert_int_equal(acq_links_new(links, 2, 3, true, &made), ACQ_OK);
    acq_links_free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_survives_every_failed_allocation),
        cmocka_unit_test(test_pieces_survive_every_failed_allocation),
        cmocka_unit_test(test_building_goes_on_after_a_failed_allocation),
        cmocka_unit_test(test_names_by_id_report_failed_allocations),
        cmocka_unit_test(test_links_report_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: built without ACQ_FAULTS");
    return 0;
}

#endif
