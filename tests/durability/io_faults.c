/* io_faults.c - the N-th operation on the disk fails, once or from then on, broken or full: each
 * call reports it or copes with it, the old facts stay or the new ones are there, nothing is left
 * behind, and afterwards the same call works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "durability/fixture.h"
#include "durability/options.h"
#include "store/store.h"
#include "support/disk.h"
#include "support/vfs.h"

typedef struct trials {
    const test_options *options;
    fixture fixture;
    uint64_t operations; /* of the last trial */
    uint64_t reported, coped;
    uint64_t done; /* of the reported: took effect all the same */
} trials;

static const disk_plan PLANS[] = {
    {.mishap = DISK_FAIL_ONCE, .operations = DISK_CHANGES},
    {.mishap = DISK_FAIL_ONCE, .operations = DISK_EVERYTHING},
    {.mishap = DISK_FAIL_FROM, .operations = DISK_CHANGES & ~(1 << DISK_DELETE)},
    {.mishap = DISK_FAIL_FROM, .operations = 1 << DISK_WRITE, .is_full = true},
    {.mishap = DISK_FAIL_FROM, .operations = 1 << DISK_SYNC},
};

enum {
    N_PLANS = sizeof PLANS / sizeof PLANS[0],
    LITTLE_MEMORY = 1 << 20, /* enough for the names, not for the facts */
    LEAST_IMPORTED = 1000,   /* facts */
};

static const disk_plan NO_PLAN = {.mishap = DISK_NONE, .operations = DISK_EVERYTHING};

/* Whatever goes wrong with a disk is an I/O error; a bug or damage it is not. */
static void check_error(acq_status status, const acq_error *error)
{
    if (status != ACQ_ERR_IO || error->message[0] == '\0')
        fail_msg("status %s: %s", acq_status_name(status), error->message);
}

/* After an error the facts are as they were, and the next attempt works. Only where a sync failed
 * may the step have taken effect: its commit is in the log, and nobody could tell whether it
 * would stay there. */
static void check_refusal(trials *t, const test_history *after, unsigned failed)
{
    const fixture *f = &t->fixture;
    test_history again = *after;
    fact_set found;
    fixture_read(f, &found, "after an error");
    bool is_done = facts_equal(&found, &after->facts);
    if (!facts_equal(&found, &f->history.facts) && !(is_done && (failed & 1 << DISK_SYNC) != 0))
        fail_msg("after an error the facts are not as they were");
    if (is_done)
        again.step.n_changed = 0;
    t->reported++;
    t->done += is_done && after->step.kind != STEP_COMPACT;
    fixture_perform(f, &again);
    fixture_check(f, &after->facts, "after the second attempt");
}

/* The last step of `after` is performed with a fault on the fixture's store. */
static void try_change(trials *t, const test_history *after, const disk_plan *plan)
{
    const fixture *f = &t->fixture;
    acq_error error = {0};
    fixture_restore(f);
    disk_set_plan(plan);
    acq_status status = history_perform(after, f->store, f->source, NULL, &error);
    unsigned failed = disk_get_failed();
    t->operations = disk_get_count();
    disk_set_plan(&NO_PLAN);
    if (status == ACQ_OK) {
        t->coped += failed != 0;
        fixture_check(f, &after->facts, "after a fault that was coped with");
        return;
    }
    check_error(status, &error);
    if ((failed & 1 << DISK_DELETE) == 0)
        assert_int_equal(scratch_count(&f->scratch, ".partial"), 0);
    check_refusal(t, after, failed);
}

/* A fault at every operation, or at as many random ones as the options say. */
static void try_plan(trials *t, const test_history *after, disk_plan plan, uint64_t stream)
{
    acq_random random = acq_random_start(t->options->seed, stream);
    plan.at = UINT64_MAX;
    try_change(t, after, &plan);
    uint64_t n = t->operations;
    bool is_thorough = n <= t->options->rounds;
    for (uint64_t i = 0; i < (is_thorough ? n : t->options->rounds); i++) {
        plan.at = 1 + (is_thorough ? i : acq_random_below(&random, n));
        try_change(t, after, &plan);
    }
}

static void try_step(trials *t, step_kind kind, const char *name)
{
    test_history after = t->fixture.history;
    history_advance_with(&after, kind);
    while (kind == STEP_IMPORT && facts_count(&after.facts) < LEAST_IMPORTED)
        history_advance_with(&after, kind);
    t->reported = t->coped = t->done = 0;
    for (size_t i = 0; i < N_PLANS; i++)
        try_plan(t, &after, PLANS[i], i);
    print_message("%s: %llu faults reported (%llu of syncs after which the step had taken effect), "
                  "%llu coped with\n",
                  name, (unsigned long long)t->reported, (unsigned long long)t->done,
                  (unsigned long long)t->coped);
    assert_true(t->reported > 0);
}

static void set_up(trials *t, const test_options *options)
{
    *t = (trials){.options = options};
    vfs_install();
    disk_set_plan(&NO_PLAN);
    fixture_make(&t->fixture, options->seed);
}

static void tear_down(trials *t)
{
    vfs_remove();
    fixture_remove(&t->fixture);
}

static void test_changes_are_whole_or_not_at_all(void **state)
{
    trials t;
    set_up(&t, *state);
    try_step(&t, STEP_ADD, "add");
    try_step(&t, STEP_REMOVE, "remove");
    try_step(&t, STEP_COMPACT, "compact");
    try_step(&t, STEP_IMPORT, "import over a store");
    tear_down(&t);
}

static void test_a_new_store_is_whole_or_not_at_all(void **state)
{
    trials t;
    set_up(&t, *state);
    fixture_forget(&t.fixture);
    try_step(&t, STEP_IMPORT, "import");
    t.fixture.history.memory_bytes = LITTLE_MEMORY;
    try_step(&t, STEP_IMPORT, "import, sorted on disk");
    tear_down(&t);
}

static acq_status read_all(const fixture *f, fact_set *found, acq_error *error)
{
    acq_status status = acq_store_verify(f->store, NULL, NULL, error);
    if (status == ACQ_OK && !facts_read(f->store, found, error))
        status = error->code;
    return status;
}

/* One reading with a fault; false when it came too late to be met. */
static bool try_reading(const fixture *f, uint64_t at)
{
    disk_plan plan = {.mishap = DISK_FAIL_ONCE, .operations = DISK_EVERYTHING, .at = at};
    acq_error error = {0};
    fact_set found = {0};
    fixture_restore(f);
    disk_set_plan(&plan);
    acq_status status = read_all(f, &found, &error);
    bool is_met = disk_get_failed() != 0;
    disk_set_plan(&NO_PLAN);
    if (status == ACQ_OK)
        assert_true(facts_equal(&f->history.facts, &found));
    else
        check_error(status, &error);
    fixture_check(f, &f->history.facts, "after a fault of a reader");
    return is_met;
}

/* At every operation, or at every fourth in a short run. */
static void test_readers_see_the_facts_or_an_error(void **state)
{
    const test_options *options = *state;
    uint64_t step = options->rounds < 10 ? 4 : 1, n = 0;
    trials t;
    set_up(&t, options);
    while (try_reading(&t.fixture, 1 + n * step))
        n++;
    print_message("reading: %llu faults\n", (unsigned long long)n);
    assert_true(n > 5);
    tear_down(&t);
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_changes_are_whole_or_not_at_all, &options),
        cmocka_unit_test_prestate(test_a_new_store_is_whole_or_not_at_all, &options),
        cmocka_unit_test_prestate(test_readers_see_the_facts_or_an_error, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
