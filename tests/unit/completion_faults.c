/* completion_faults.c - writing and reading completions with every allocation failing once:
 * an error, no file left behind, nothing leaked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "unit/completion_case.h"

#ifdef ACQ_FAULTS

enum { MOST_ALLOCATIONS = 2000 };

static void test_writing_survives_every_failed_allocation(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(31, 40);
    acq_predictor *scored = case_make_predictor(graph, 31, 40);
    acq_calibrator *calibrator = case_make_calibrator();
    acq_calibrator_lend(calibrator, scored);
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    bool is_hit = true; /* one for a better way is done without */
    for (; is_hit && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        unlink(path);
        acq_faults_fail_at(n);
        status = case_write(path, scored, 0.1, &error);
        is_hit = acq_faults_count() >= n;
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(case_count_files(path), status == ACQ_OK);
    }
    assert_true(n > 10 && status == ACQ_OK);
    acq_calibrator_free(calibrator);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

static acq_status open_all(const acq_graph *graph, const char *path, acq_error *error)
{
    acq_predictor *predictor = NULL;
    acq_status status = acq_calibrator_open_completion(graph, path, &predictor, error);
    for (acq_rel r = 0; status == ACQ_OK && r < CASE_RELATIONS; r++) {
        const acq_links *links = NULL;
        status = acq_predictor_open_links(predictor, r, &links, error);
    }
    acq_predictor_free(predictor);
    return status;
}

static void test_reading_survives_every_failed_allocation(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(32, 40);
    acq_predictor *scored = case_make_predictor(graph, 32, 40);
    acq_calibrator *calibrator = case_make_calibrator();
    acq_calibrator_lend(calibrator, scored);
    assert_int_equal(case_write(path, scored, 0.1, NULL), ACQ_OK);
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = open_all(graph, path, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
    }
    assert_true(n > 10);
    acq_calibrator_free(calibrator);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

static void test_a_relation_can_be_opened_after_a_failure(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(33, 40);
    acq_predictor *scored = case_make_predictor(graph, 33, 40), *back = NULL;
    const acq_links *links = NULL;
    assert_int_equal(case_write(path, scored, 0.1, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_open_completion(graph, path, &back, NULL), ACQ_OK);
    acq_faults_fail_at(2);
    assert_int_equal(acq_predictor_open_links(back, 1, &links, NULL), ACQ_ERR_MEMORY);
    acq_faults_fail_at(0);
    assert_null(links);
    assert_int_equal(acq_predictor_open_links(back, 1, &links, NULL), ACQ_OK);
    assert_non_null(links);
    acq_predictor_free(back);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

static void test_merging_survives_every_failed_allocation(void **state)
{
    (void)state;
    char path[64], parts[2][80];
    const char *paths[2] = {parts[0], parts[1]};
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(34, 40);
    acq_predictor *scored = case_make_predictor(graph, 34, 40);
    acq_calibrator *calibrator = case_make_calibrator();
    acq_calibrator_lend(calibrator, scored);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(parts[i], sizeof parts[i], "shard-%u-%s", i, path);
        assert_int_equal(case_write_shard(parts[i], scored, 0.1, (acq_shard){i, 2}, NULL), ACQ_OK);
    }
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    bool is_hit = true; /* one for a better way is done without */
    for (; is_hit && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        unlink(path);
        acq_faults_fail_at(n);
        status = acq_completion_merge_files(paths, 2, path, NULL, NULL, &error);
        is_hit = acq_faults_count() >= n;
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(case_count_files(path), status == ACQ_OK);
    }
    assert_true(n > 10 && status == ACQ_OK);
    for (int i = 0; i < 2; i++)
        unlink(parts[i]);
    acq_calibrator_free(calibrator);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing_survives_every_failed_allocation),
        cmocka_unit_test(test_reading_survives_every_failed_allocation),
        cmocka_unit_test(test_merging_survives_every_failed_allocation),
        cmocka_unit_test(test_a_relation_can_be_opened_after_a_failure),
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
