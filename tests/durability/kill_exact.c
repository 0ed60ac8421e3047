/* kill_exact.c - the process is killed at the N-th operation on the disk, for every N or for as
 * many random ones as asked for: what was acknowledged is there, what was in flight is there whole
 * or not at all, and the next attempt works, whoever opens the store first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "durability/child.h"
#include "durability/fixture.h"
#include "durability/options.h"
#include "durability/plain.h"
#include "support/disk.h"
#include "support/vfs.h"

typedef struct deed {
    const fixture *fixture;
    const test_history *after; /* its last step is performed */
    uint64_t at;
} deed;

static void perform(void *context, int reports)
{
    const deed *d = context;
    acq_error error = {0};
    vfs_install();
    disk_set_plan(&(disk_plan){.mishap = DISK_KILL, .operations = DISK_CHANGES, .at = d->at});
    if (history_perform(d->after, d->fixture->store, d->fixture->source, NULL, &error) != ACQ_OK)
        child_give_up("a step", &error);
    child_acknowledge(reports);
}

/* Is the store as before or as after? Sometimes SQLite alone has a look first. */
static void check(const deed *d, bool is_acknowledged, bool plain_first)
{
    const fixture *f = d->fixture;
    fact_set found;
    if (plain_first)
        plain_check(f->store);
    fixture_read(f, &found, "after the kill");
    if (!facts_equal(&found, &d->after->facts) &&
        (is_acknowledged || !facts_equal(&found, &f->history.facts)))
        fail_msg("killed at operation %llu: the facts are not those before, nor those after",
                 (unsigned long long)d->at);
    plain_check(f->store);
}

/* The same again, after a kill, is refused by nobody; a change that is there already is none. */
static void repeat(const deed *d)
{
    test_history again = *d->after;
    fact_set found;
    fixture_read(d->fixture, &found, "before the second attempt");
    if (facts_equal(&found, &d->after->facts))
        again.step.n_changed = 0;
    fixture_perform(d->fixture, &again);
    fixture_check(d->fixture, &d->after->facts, "after the second attempt");
    assert_int_equal(scratch_count(&d->fixture->scratch, ".partial"), 0);
}

/* Kills at the at-th operation. false: there are not so many. */
static bool try_kill(const fixture *f, const test_history *after, uint64_t at)
{
    deed d = {.fixture = f, .after = after, .at = at};
    size_t acknowledged;
    fixture_restore(f);
    test_child child = child_start(perform, &d);
    child_end end = child_wait(&child, &acknowledged);
    if (end == CHILD_WRONG)
        fail_msg("a step failed before operation %llu", (unsigned long long)at);
    check(&d, acknowledged > 0, at % 2 == 0);
    repeat(&d);
    return end == CHILD_KILLED;
}

static uint64_t count_operations(const fixture *f, const test_history *after)
{
    vfs_install();
    fixture_restore(f);
    disk_set_plan(&(disk_plan){.mishap = DISK_NONE, .operations = DISK_CHANGES});
    fixture_perform(f, after);
    uint64_t n = disk_get_count();
    vfs_remove();
    return n;
}

static void kill_step(const test_options *options, const fixture *f, step_kind kind,
                      const char *name)
{
    acq_random random = acq_random_start(options->seed, (uint64_t)kind);
    test_history after = f->history;
    history_advance_with(&after, kind);
    uint64_t n = count_operations(f, &after), killed = 0;
    bool is_thorough = n <= options->rounds;
    for (uint64_t i = 0; i < (is_thorough ? n : options->rounds); i++)
        killed += try_kill(f, &after, 1 + (is_thorough ? i : acq_random_below(&random, n)));
    print_message("%s: %llu kills at %s of %llu operations\n", name, (unsigned long long)killed,
                  is_thorough ? "each" : "some", (unsigned long long)n);
    assert_true(killed > 0);
}

static void test_kills_lose_nothing(void **state)
{
    const test_options *options = *state;
    fixture f;
    fixture_make(&f, options->seed);
    kill_step(options, &f, STEP_ADD, "add");
    kill_step(options, &f, STEP_REMOVE, "remove");
    kill_step(options, &f, STEP_COMPACT, "compact");
    kill_step(options, &f, STEP_IMPORT, "import over a store");
    fixture_forget(&f);
    kill_step(options, &f, STEP_IMPORT, "import");
    fixture_remove(&f);
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_kills_lose_nothing, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
