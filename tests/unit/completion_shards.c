/* completion_shards.c - calibrators and shards inside completions: what is attached comes back,
 * shards merge to the very bytes of an unsharded run, and everything else is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/completion_case.h"

enum { MOST_SHARDS = 5 };

typedef struct world {
    acq_graph *graph;
    acq_predictor *scored;
    acq_calibrator *calibrator;
    char path[64];               /* the whole */
    char parts[MOST_SHARDS][80]; /* its shards */
    const char *paths[MOST_SHARDS];
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->graph = completion_make_graph(41, 30);
    w->scored = case_make_predictor(w->graph, 41, 60);
    w->calibrator = case_make_calibrator();
    case_name_file(w->path, sizeof w->path);
    for (int i = 0; i < MOST_SHARDS; i++) {
        snprintf(w->parts[i], sizeof w->parts[i], "%s-%d", w->path, i);
        w->paths[i] = w->parts[i];
    }
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    unlink(w->path);
    for (int i = 0; i < MOST_SHARDS; i++)
        unlink(w->parts[i]);
    acq_predictor_free(w->scored);
    acq_calibrator_free(w->calibrator);
    acq_graph_free(w->graph);
    free(w);
    return 0;
}

static void write_shard(const world *w, int file, uint32_t part, uint32_t of)
{
    acq_error error = {0};
    if (case_write_shard(w->parts[file], w->scored, .1, (acq_shard){part, of}, &error) != ACQ_OK)
        fail_msg("%s", error.message);
}

static void write_shards(const world *w, uint32_t of)
{
    for (uint32_t part = 0; part < of; part++)
        write_shard(w, (int)part, part, of);
}

static void expect(const world *w, size_t n, int named, const char *message)
{
    acq_error error = {0};
    assert_int_equal(acq_completion_merge_files(w->paths, n, w->path, NULL, NULL, &error),
                     ACQ_ERR_INPUT);
    if (strstr(error.message, message) == NULL)
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
    assert_string_equal(error.file, named < 0 ? "" : w->parts[named]);
    assert_int_equal(access(w->path, F_OK), -1);
}

/* ---- calibrators ---- */

static void test_a_calibrator_comes_back(void **state)
{
    world *w = *state;
    acq_predictor *back = NULL;
    acq_completion_info info;
    acq_calibrator_lend(w->calibrator, w->scored);
    assert_int_equal(case_write(w->path, w->scored, .25, NULL), ACQ_OK);
    assert_int_equal(acq_completion_read_info(w->path, &info, NULL), ACQ_OK);
    assert_int_equal(info.version, 2);
    assert_true(info.has_calibrator);
    assert_int_equal(info.shard.of, 0);
    assert_int_equal(acq_calibrator_open_completion(w->graph, w->path, &back, NULL), ACQ_OK);
    const acq_calibrator *found = acq_predictor_get_calibrator(back);
    assert_non_null(found);
    assert_string_equal(found->models, "complex");
    for (float x = 0; x < 60; x++)
        assert_true(acq_boost_score(found->balanced, &x) ==
                    acq_boost_score(w->calibrator->balanced, &x));
    assert_true(acq_predictor_get_floor(back) == .25);
    acq_predictor_free(back);
}

static void test_without_a_calibrator_files_stay_as_they_were(void **state)
{
    world *w = *state;
    acq_predictor *back = NULL;
    acq_completion_info info;
    assert_int_equal(case_write(w->path, w->scored, .25, NULL), ACQ_OK);
    assert_int_equal(acq_completion_read_info(w->path, &info, NULL), ACQ_OK);
    assert_int_equal(info.version, 1);
    assert_false(info.has_calibrator);
    assert_int_equal(acq_calibrator_open_completion(w->graph, w->path, &back, NULL), ACQ_OK);
    assert_null(acq_predictor_get_calibrator(back));
    assert_true(acq_predictor_get_floor(back) == .25);
    acq_predictor_free(back);
}

/* ---- shards ---- */

static void test_shards_merge_to_the_bytes_of_one_run(void **state)
{
    world *w = *state;
    for (uint32_t of = 2; of <= MOST_SHARDS; of++) {
        size_t length, merged_length;
        acq_calibrator_lend(of % 2 == 0 ? w->calibrator : NULL, w->scored);
        assert_int_equal(case_write(w->path, w->scored, .1, NULL), ACQ_OK);
        char *whole = case_read_file(w->path, &length);
        unlink(w->path);
        write_shards(w, of);
        const char *first = w->paths[0]; /* in another order */
        w->paths[0] = w->paths[of - 1];
        w->paths[of - 1] = first;
        assert_int_equal(acq_completion_merge_files(w->paths, of, w->path, NULL, NULL, NULL),
                         ACQ_OK);
        w->paths[of - 1] = w->paths[0];
        w->paths[0] = first;
        char *merged = case_read_file(w->path, &merged_length);
        assert_int_equal(length, merged_length);
        assert_memory_equal(whole, merged, length);
        free(whole);
        free(merged);
    }
}

static void test_a_shard_knows_what_it_is_and_is_no_predictor(void **state)
{
    world *w = *state;
    acq_completion_info info;
    acq_predictor *back = NULL;
    acq_error error = {0};
    write_shard(w, 0, 1, 3);
    assert_int_equal(acq_completion_read_info(w->parts[0], &info, NULL), ACQ_OK);
    assert_int_equal(info.shard.part, 1);
    assert_int_equal(info.shard.of, 3);
    assert_int_equal(acq_calibrator_open_completion(w->graph, w->parts[0], &back, &error),
                     ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "shard 2 of 3"));
    assert_non_null(strstr(error.message, "anycq merge"));
    assert_string_equal(error.file, w->parts[0]);
}

static void test_one_shard_of_one_is_the_whole(void **state)
{
    world *w = *state;
    acq_completion_info info;
    write_shard(w, 0, 0, 1);
    assert_int_equal(acq_completion_read_info(w->parts[0], &info, NULL), ACQ_OK);
    assert_int_equal(info.shard.of, 0);
    expect(w, 1, 0, "this completion is whole");
}

static void test_only_relations_of_the_shard_are_taken(void **state)
{
    world *w = *state;
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = "p", .shard = {1, 2}};
    const acq_links *links = NULL;
    acq_error error = {0};
    assert_int_equal(acq_completion_writer_open(w->path, w->graph, &params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_open_links(w->scored, 2, &links, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, 4, links, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "not of shard 2 of 2"));
    assert_int_equal(acq_completion_writer_add(writer, 2, links, NULL), ACQ_OK);
    acq_completion_writer_close(writer);
    params.shard.part = 2;
    assert_int_equal(acq_completion_writer_open(w->path, w->graph, &params, &writer, NULL),
                     ACQ_ERR_USAGE);
}

static void test_missing_and_repeated_shards_are_named(void **state)
{
    world *w = *state;
    write_shards(w, 3);
    expect(w, 2, -1, "shard 3 of 3 is missing; make it with --shard 3/3");
    write_shard(w, 2, 1, 3);
    expect(w, 3, 2, "shard 2 of 3 is there twice");
    assert_int_equal(acq_completion_merge_files(w->paths, 0, w->path, NULL, NULL, NULL),
                     ACQ_ERR_USAGE);
    unlink(w->parts[1]);
    expect(w, 3, 1, "there is no such file");
}

static void replace_shard(world *w, acq_graph *graph, double floor, const char *name)
{
    acq_predictor *other = case_make_predictor(graph, 41, 60);
    other->name = name;
    assert_int_equal(case_write_shard(w->parts[1], other, floor, (acq_shard){1, 2}, NULL), ACQ_OK);
    acq_predictor_free(other);
}

static void test_shards_of_different_runs_are_refused(void **state)
{
    world *w = *state;
    acq_graph *other = completion_make_graph(42, 30);
    write_shards(w, 2);
    replace_shard(w, other, .1, w->scored->name);
    expect(w, 2, 1, "another graph");
    replace_shard(w, w->graph, .2, w->scored->name);
    expect(w, 2, 1, "another floor");
    replace_shard(w, w->graph, .1, "else");
    expect(w, 2, 1, "another predictor");
    write_shard(w, 1, 1, 3);
    expect(w, 2, 1, "another number of shards");
    acq_calibrator_lend(w->calibrator, w->scored);
    write_shard(w, 1, 1, 2);
    expect(w, 2, 1, "another calibrator");
    acq_graph_free(other);
}

static void test_a_damaged_shard_leaves_nothing(void **state)
{
    world *w = *state;
    size_t length;
    acq_calibrator_lend(w->calibrator, w->scored);
    write_shards(w, 2);
    char *bytes = case_read_file(w->parts[1], &length);
    for (size_t i = 0; i < length; i += 7) {
        acq_error error = {0};
        bytes[i] = (char)(bytes[i] ^ 4);
        case_write_file(w->parts[1], bytes, length);
        bytes[i] = (char)(bytes[i] ^ 4);
        acq_status status = acq_completion_merge_files(w->paths, 2, w->path, NULL, NULL, &error);
        if (status == ACQ_OK) /* in a piece that is taken from the other shard */
            unlink(w->path);
        else
            assert_int_equal(status, ACQ_ERR_INPUT);
        assert_int_equal(case_count_files(w->path), 2);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_calibrator_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_a_calibrator_files_stay_as_they_were, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_shards_merge_to_the_bytes_of_one_run, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_shard_knows_what_it_is_and_is_no_predictor, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_one_shard_of_one_is_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_relations_of_the_shard_are_taken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_and_repeated_shards_are_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_shards_of_different_runs_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_damaged_shard_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
