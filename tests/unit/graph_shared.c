/* graph_shared.c - the published benchmark graphs, where they are present: $ACQ_SHARED/data or
 * ../shared/data beside the sources. Prints the time to load each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "graph/build.h"
#include "graph/text/read.h"

typedef struct expected {
    const char *folder, *split;
    uint32_t n_entities, n_relations;
    uint64_t lines, n_facts;
} expected;

static bool find(const char *folder, char *path, size_t room)
{
    const char *shared = getenv("ACQ_SHARED");
    if (shared != NULL)
        snprintf(path, room, "%s/data/%s", shared, folder);
    else
        snprintf(path, room, ACQ_SOURCE_DIR "/../shared/data/%s", folder);
    return access(path, R_OK) == 0;
}

static acq_graph *load(const char *path, const char *split, acq_read_report *report)
{
    const char *const paths[] = {path};
    acq_read_params params = {.split = split, .strict = true};
    acq_graph *graph = NULL;
    acq_error error = {0};
    int64_t start = acq_clock_ns();
    if (acq_graph_read(paths, 1, &params, &graph, report, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", error.file, error.line, error.message);
    print_message("%s, %s: %.0f ms\n", path, split, (double)(acq_clock_ns() - start) / 1e6);
    return graph;
}

static void check(const expected *want)
{
    char path[4096];
    if (!find(want->folder, path, sizeof path)) {
        print_message("skipped: %s is not there\n", path);
        return;
    }
    acq_read_report report;
    acq_graph *graph = load(path, want->split, &report);
    assert_int_equal(acq_graph_get_n_entities(graph), want->n_entities);
    assert_int_equal(acq_graph_get_n_relations(graph), want->n_relations);
    assert_int_equal(report.lines, want->lines);
    assert_int_equal(acq_graph_get_n_facts(graph), want->n_facts);
    assert_int_equal(report.bad + report.duplicates + report.completed, 0);
    for (acq_rel r = 0; r < want->n_relations; r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        assert_true(acq_links_check(links, &reason));
    }
    acq_graph_free(graph);
}

static void test_benchmark_graphs_have_their_published_size(void **state)
{
    (void)state;
    const expected all[] = {{"FB15k-237", "train", 14505, 474, 544230, 272115},
                            {"FB15k-237", "valid", 14505, 474, 579282, 289641},
                            {"NELL", "train", 63361, 400, 228426, 114213},
                            {"NELL", "valid", 63361, 400, 257074, 128537},
                            {"WN18RR", "test", 40943, 22, 93003, 93003},
                            {"CoDEx-M", "test", 17050, 102, 206205, 206205}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        check(&all[i]);
}

static void test_valid_holds_every_fact_of_train(void **state)
{
    (void)state;
    char path[4096];
    if (!find("NELL", path, sizeof path)) {
        print_message("skipped: %s is not there\n", path);
        return;
    }
    acq_graph *train = load(path, "train", NULL), *valid = load(path, "valid", NULL);
    assert_true(acq_graph_get_dictionary_fingerprint(train) ==
                acq_graph_get_dictionary_fingerprint(valid));
    assert_true(acq_graph_get_fingerprint(train) != acq_graph_get_fingerprint(valid));
    for (acq_rel r = 0; r < acq_graph_get_n_relations(train); r++) {
        const acq_links *links = NULL;
        assert_int_equal(acq_graph_open_links(train, r, &links, NULL), ACQ_OK);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++)
                assert_true(acq_graph_has_fact(valid, links->heads[i], r, row.tails[j]));
        }
    }
    acq_graph_free(train);
    acq_graph_free(valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_benchmark_graphs_have_their_published_size),
        cmocka_unit_test(test_valid_holds_every_fact_of_train),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
