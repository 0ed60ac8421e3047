/* import_same.c - an imported graph is the graph that reading its source in memory gives, with
 * every number of threads and with memory so small that the facts are sorted on disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/import_case.h"

enum { PLENTY = 1 << 30, TINY = 1 << 22 };

static void test_random_graphs_are_the_same(void **state)
{
    (void)state;
    const import_shape shapes[] = {{1, 1, 1},         {30, 5, 2},      {5000, 40, 3},
                                   {20000, 9000, 50}, {20000, 300, 1}, {6000, 3000, 3000}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        import_case_write("source.tsv", &shapes[i], i + 1);
        for (unsigned threads = 1; threads <= 3; threads++) {
            acq_import_params params = {.read.threads = threads};
            params.memory_bytes = PLENTY;
            assert_int_equal(import_case_check("source.tsv", &params).spilled_runs, 0);
            params.memory_bytes = TINY;
            acq_import_report report = import_case_check("source.tsv", &params);
            assert_int_equal(report.spilled_runs > 10, shapes[i].n_lines >= 5000);
        }
    }
}

static void test_benchmark_graphs_are_the_same(void **state)
{
    (void)state;
    const import_shape shapes[] = {{20, 5, 2}, {8000, 50, 3}, {8000, 4000, 200}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        import_case_write_benchmark("benchmark", &shapes[i], i + 1);
        for (unsigned threads = 1; threads <= 2; threads++) {
            acq_import_params params = {.read.threads = threads, .memory_bytes = PLENTY};
            import_case_check("benchmark", &params);
            params.memory_bytes = TINY;
            import_case_check("benchmark", &params);
        }
    }
}

static const char *const LABELLED =
    "@prefix : <http://example.org/> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    ":a :knows :b, :c, _:d ; rdfs:label \"Ada\", \"Ada von\"@de .\n"
    ":b :knows :a ; :likes :c ; rdfs:label \"Ben\"@en, \"Benoît\"@fr .\n"
    ":c :likes _:d ; rdfs:label \"Ben\"@en .\n"
    "_:d :knows :a ; rdfs:label \"http://example.org/a\" ; :age 7 .\n"
    ":knows rdfs:label \"knows somebody\" .\n"
    ":unused rdfs:label \"never mentioned\" .\n";

static void test_labels_are_the_same(void **state)
{
    (void)state;
    FILE *file = fopen("labelled.ttl", "w");
    fputs(LABELLED, file);
    fclose(file);
    for (int literals = 0; literals <= 1; literals++) {
        acq_import_params params = {.read = {.literals = literals, .threads = 2}};
        acq_import_report report = import_case_check("labelled.ttl", &params);
        assert_int_equal(report.n_facts > 7, literals);
        assert_true(report.read.labels > 0);
    }
}

/* Many labels, some of them shared: more than one statement of SQLite inserts at a time. */
static void test_many_labels_are_the_same(void **state)
{
    (void)state;
    FILE *file = fopen("many.nt", "w");
    for (int i = 0; i < 3000; i++) {
        fprintf(file, "<http://e/%d> <http://r/%d> <http://e/%d> .\n", i, i % 7, i * 31 % 3000);
        if (i % 3 != 0)
            fprintf(file, "<http://e/%d> <http://www.w3.org/2000/01/rdf-schema#label> \"e %d\" .\n",
                    i, i % 1000);
    }
    fclose(file);
    for (unsigned threads = 1; threads <= 2; threads++) {
        acq_import_params params = {.read.threads = threads, .memory_bytes = TINY};
        acq_import_report report = import_case_check("many.nt", &params);
        assert_int_equal(report.n_entities, 3000);
        assert_int_equal(report.read.labels, 2000);
    }
}

static void check_shared(const char *folder, const char *split)
{
    const char *shared = getenv("ACQ_SHARED");
    char path[4096];
    if (shared != NULL)
        snprintf(path, sizeof path, "%s/data/%s", shared, folder);
    else
        snprintf(path, sizeof path, ACQ_SOURCE_DIR "/../shared/data/%s", folder);
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is not there\n", path);
        return;
    }
    acq_import_params params = {.read = {.split = split, .threads = 2}};
    acq_import_report report = import_case_check(path, &params);
    print_message("%s, %s: %.2f s, %llu bytes\n", folder, split, report.seconds,
                  (unsigned long long)report.file_bytes);
}

static void test_published_graphs_are_the_same(void **state)
{
    (void)state;
    check_shared("FB15k-237", "valid");
    check_shared("NELL", "train");
    check_shared("WN18RR", "test");
    check_shared("CoDEx-M", "test");
}

static int enter(void **state)
{
    (void)state;
    import_case_enter();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    import_case_leave();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs_are_the_same),
        cmocka_unit_test(test_benchmark_graphs_are_the_same),
        cmocka_unit_test(test_labels_are_the_same),
        cmocka_unit_test(test_many_labels_are_the_same),
        cmocka_unit_test(test_published_graphs_are_the_same),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
