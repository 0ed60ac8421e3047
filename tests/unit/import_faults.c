/* import_faults.c - an import that is stopped, out of memory or out of room leaves nothing behind,
 * and an output that was there is what it was. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/store.h"
#include "unit/import_case.h"

enum { TINY = 1 << 21 };

static const char *const SOURCE = "source.tsv";

static const import_shape SHAPE = {8000, 6000, 20};
static const import_shape SMALL = {300, 60, 3};

/* The fingerprint of a store. */
static uint64_t fingerprint_of(const char *path)
{
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_store_open(path, &graph, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    uint64_t fingerprint = acq_graph_get_fingerprint(graph);
    acq_graph_free(graph);
    return fingerprint;
}

/* A folder of its own for the output; `had` is the fingerprint of the store there, 0 for none. */
static void check_nothing_changed(uint64_t had)
{
    if (had == 0) {
        assert_int_equal(import_case_count_files("out"), 0);
        return;
    }
    assert_true(fingerprint_of("out/graph") == had);
    assert_int_equal(import_case_count_files("out"), 1);
}

typedef struct stop {
    size_t at, calls; /* the at-th call stops */
    char phase[16];   /* of the last call */
} stop;

static bool count_and_stop(void *context, const acq_progress *now)
{
    stop *s = context;
    snprintf(s->phase, sizeof s->phase, "%s", now->phase);
    assert_true(now->total == 0 || now->done <= now->total);
    return ++s->calls != s->at;
}

/* Stops at each call of progress until the import ends on its own; returns the phases met. */
static void stop_everywhere(const acq_import_params *params, uint64_t had, const char *phases)
{
    acq_status status = ACQ_ERR_INTERRUPTED;
    for (size_t at = 1; status != ACQ_OK; at++) {
        stop s = {.at = at};
        acq_import_params with = *params;
        acq_error error = {0};
        with.read.progress = count_and_stop;
        with.read.context = &s;
        status = acq_import(&SOURCE, 1, "out/graph", &with, NULL, &error);
        if (status == ACQ_OK)
            break;
        assert_int_equal(status, ACQ_ERR_INTERRUPTED);
        assert_int_equal(error.code, ACQ_ERR_INTERRUPTED);
        check_nothing_changed(had);
        if (strncmp(phases, s.phase, strlen(s.phase)) != 0)
            phases += strcspn(phases, " ") + 1;
        assert_memory_equal(phases, s.phase, strlen(s.phase));
    }
    assert_null(strchr(phases, ' '));
}

static void test_an_interrupt_at_any_time_leaves_nothing(void **state)
{
    (void)state;
    import_case_write(SOURCE, &SHAPE, 1);
    for (unsigned threads = 1; threads <= 2; threads++) {
        acq_import_params params = {.read.threads = threads};
        stop_everywhere(&params, 0, "reading sorting links names");
        assert_int_equal(unlink("out/graph"), 0);
        params.memory_bytes = TINY;
        stop_everywhere(&params, 0, "reading sorting links names");
        assert_int_equal(unlink("out/graph"), 0);
    }
}

static void test_an_interrupted_replacement_leaves_the_old_store(void **state)
{
    (void)state;
    import_case_write(SOURCE, &SMALL, 2);
    acq_import_params params = {.read.threads = 2};
    import_case_run(SOURCE, "out/graph", &params);
    uint64_t had = fingerprint_of("out/graph");
    import_case_write(SOURCE, &SHAPE, 3);
    stop_everywhere(&params, had, "reading sorting links names replacing");
    assert_true(fingerprint_of("out/graph") != had);
    assert_int_equal(unlink("out/graph"), 0);
}

#ifdef ACQ_FAULTS
static void fail_every_allocation(const acq_import_params *params, uint64_t had)
{
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK; n++) {
        acq_import_report report = {.n_facts = 77};
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_import(&SOURCE, 1, "out/graph", params, &report, &error);
        acq_faults_fail_at(0);
        if (status == ACQ_OK)
            break;
        assert_int_equal(status, ACQ_ERR_MEMORY);
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
        assert_int_equal(report.n_facts, 77);
        check_nothing_changed(had);
    }
    assert_true(n > 50);
}

static void test_every_failed_allocation_leaves_nothing(void **state)
{
    (void)state;
    import_case_write(SOURCE, &SMALL, 4);
    acq_import_params params = {.read.threads = 1};
    fail_every_allocation(&params, 0);
    uint64_t had = fingerprint_of("out/graph");
    params.memory_bytes = 100000; /* less than the buffers: facts go to disk at once */
    fail_every_allocation(&params, had);
    assert_int_equal(unlink("out/graph"), 0);
}
#endif

/* Imports with files of at most `room` bytes. */
static acq_status import_with_room(rlim_t room, const acq_import_params *params, acq_error *error)
{
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = room, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    acq_status status = acq_import(&SOURCE, 1, "out/graph", params, NULL, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    return status;
}

static void test_no_room_leaves_nothing(void **state)
{
    (void)state;
    struct stat info;
    import_case_write(SOURCE, &SHAPE, 5);
    acq_import_params params = {.read.threads = 2};
    import_case_run(SOURCE, "out/graph", &params);
    assert_int_equal(stat("out/graph", &info), 0);
    assert_int_equal(unlink("out/graph"), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (off_t room = 0; room < info.st_size; room += info.st_size / 9) {
        acq_error error = {0};
        params.memory_bytes = room % 2 == 0 ? TINY : 0;
        assert_int_equal(import_with_room((rlim_t)room, &params, &error), ACQ_ERR_IO);
        assert_non_null(strstr(error.message, "File too large"));
        check_nothing_changed(0);
    }
    /* The log of a replacement is longer than the store. */
    import_case_run(SOURCE, "out/graph", &params);
    uint64_t had = fingerprint_of("out/graph");
    acq_error error = {0};
    assert_int_equal(import_with_room((rlim_t)info.st_size, &params, &error), ACQ_ERR_IO);
    check_nothing_changed(had);
    assert_int_equal(unlink("out/graph"), 0);
}

static void test_names_beyond_the_memory_are_an_error(void **state)
{
    (void)state;
    import_case_write(SOURCE, &SHAPE, 6);
    acq_import_params params = {.memory_bytes = 100000};
    acq_error error = {0};
    assert_int_equal(acq_import(&SOURCE, 1, "out/graph", &params, NULL, &error), ACQ_ERR_LIMIT);
    assert_non_null(strstr(error.message, "--memory"));
    check_nothing_changed(0);
}

/* Without a fact among them. */
static void test_labels_beyond_the_memory_are_an_error(void **state)
{
    (void)state;
    const char *labels = "labels.nt";
    FILE *file = fopen(labels, "w");
    assert_non_null(file);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "<http://e/%d> <http://www.w3.org/2000/01/rdf-schema#label> \"label %d\" .\n",
                i, i);
    fclose(file);
    acq_import_params params = {.memory_bytes = 100000};
    acq_error error = {0};
    assert_int_equal(acq_import(&labels, 1, "out/graph", &params, NULL, &error), ACQ_ERR_LIMIT);
    assert_non_null(strstr(error.message, "the labels alone need"));
    assert_non_null(strstr(error.message, "--memory"));
    check_nothing_changed(0);
    assert_int_equal(unlink(labels), 0);
}

static void test_bad_sources_leave_nothing(void **state)
{
    (void)state;
    const char *nowhere = "nowhere.tsv", *empty = "empty.tsv";
    acq_error error = {0};
    fclose(fopen(empty, "w"));
    assert_int_not_equal(acq_import(&nowhere, 1, "out/graph", NULL, NULL, &error), ACQ_OK);
    assert_string_equal(error.file, nowhere);
    check_nothing_changed(0);
    assert_int_not_equal(acq_import(&empty, 1, "out/graph", NULL, NULL, NULL), ACQ_OK);
    check_nothing_changed(0);
    assert_int_equal(acq_import(NULL, 0, "out/graph", NULL, NULL, NULL), ACQ_ERR_USAGE);
    check_nothing_changed(0);
}

static int enter(void **state)
{
    (void)state;
    import_case_enter();
    return mkdir("out", 0777);
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
        cmocka_unit_test(test_an_interrupt_at_any_time_leaves_nothing),
        cmocka_unit_test(test_an_interrupted_replacement_leaves_the_old_store),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_leaves_nothing),
#endif
        cmocka_unit_test(test_no_room_leaves_nothing),
        cmocka_unit_test(test_names_beyond_the_memory_are_an_error),
        cmocka_unit_test(test_labels_beyond_the_memory_are_an_error),
        cmocka_unit_test(test_bad_sources_leave_nothing),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
