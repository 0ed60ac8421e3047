/* power.c - the power fails at a random operation of a random history; what was acknowledged is
 * there afterwards, what was in flight is there whole or not at all, and every byte verifies.
 * Sometimes it fails again while the store recovers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "durability/child.h"
#include "durability/history.h"
#include "durability/options.h"
#include "durability/scratch.h"
#include "store/store.h"
#include "support/disk.h"
#include "support/vfs.h"

enum { MOST_STEPS = 40, MOST_OPERATIONS = 600, MOST_RECOVERY_OPERATIONS = 40 };

typedef struct round_plan {
    const char *store, *source;
    uint64_t seed; /* of the history */
    disk_plan disk;
} round_plan;

/* One writer for several steps or one each, with or without a reader beside it: what a log holds
 * and when it is emptied depends on who has the store open. */
typedef struct company {
    acq_store_writer *writer;
    acq_graph *reader;
    acq_random random;
} company;

static void part(company *around)
{
    acq_store_writer_free(around->writer);
    acq_graph_free(around->reader);
    around->writer = NULL;
    around->reader = NULL;
}

static void change_company(company *around, const round_plan *plan)
{
    acq_error error = {0};
    if (acq_random_below(&around->random, 3) == 0)
        part(around);
    if (access(plan->store, F_OK) != 0)
        return;
    if (around->writer == NULL && acq_random_below(&around->random, 2) == 0 &&
        acq_store_writer_open(plan->store, &around->writer, &error) != ACQ_OK)
        child_give_up("opening a writer", &error);
    if (around->reader == NULL && acq_random_below(&around->random, 3) == 0 &&
        acq_store_open(plan->store, &around->reader, &error) != ACQ_OK)
        child_give_up("opening a reader", &error);
}

static void live_through(void *context, int reports)
{
    const round_plan *plan = context;
    test_history history;
    company around = {.random = acq_random_start(plan->seed, 2)};
    acq_error error = {0};
    disk_set_plan(&plan->disk);
    vfs_install();
    history_start(&history, plan->seed);
    for (int i = 0; i < MOST_STEPS; i++) {
        history_advance(&history);
        change_company(&around, plan);
        if (history_perform(&history, plan->store, plan->source, around.writer, &error) != ACQ_OK)
            child_give_up("a step", &error);
        child_acknowledge(reports);
    }
    disk_fail_power();
}

/* All that leaves the facts as they are. */
static void recover(void *context, int reports)
{
    const round_plan *plan = context;
    acq_error error = {0};
    acq_store_writer *writer;
    uint64_t n_folded;
    (void)reports;
    disk_set_plan(&plan->disk);
    vfs_install();
    if (access(plan->store, F_OK) == 0 &&
        (acq_store_verify(plan->store, NULL, NULL, &error) != ACQ_OK ||
         acq_store_writer_open(plan->store, &writer, &error) != ACQ_OK ||
         acq_store_compact(writer, &n_folded, &error) != ACQ_OK))
        child_give_up("recovery", &error);
    disk_fail_power();
}

static disk_plan draw_power_failure(acq_random *random, uint64_t within)
{
    return (disk_plan){.mishap = DISK_POWER_FAILURE,
                       .operations = DISK_CHANGES,
                       .at = 1 + acq_random_below(random, within),
                       .seed = acq_random_next(random)};
}

/* The number of steps that leave these facts, or -1. */
static int find_steps(const round_plan *plan, const fact_set *found)
{
    test_history history;
    history_start(&history, plan->seed);
    for (int i = 0; i <= MOST_STEPS; i++) {
        if (facts_equal(&history.facts, found))
            return i;
        history_advance(&history);
    }
    return -1;
}

/* Are the facts those of so many steps, or of one more? */
static void check_facts(const round_plan *plan, size_t acknowledged)
{
    acq_error error = {0};
    test_history history;
    fact_set found;
    if (access(plan->store, F_OK) == 0 &&
        acq_store_verify(plan->store, NULL, NULL, &error) != ACQ_OK)
        fail_msg("does not verify: %s", error.message);
    if (!facts_read(plan->store, &found, &error))
        fail_msg("cannot be read: %s", error.message);
    history_start(&history, plan->seed);
    history_advance_by(&history, acknowledged);
    if (facts_equal(&history.facts, &found))
        return;
    history_advance(&history);
    if (!facts_equal(&history.facts, &found))
        fail_msg("after %zu acknowledged steps the facts are those of %d", acknowledged,
                 find_steps(plan, &found));
}

/* A store that has just recovered takes further steps. */
static void check_use(const round_plan *plan)
{
    acq_error error = {0};
    test_history history;
    fact_set found;
    history_start(&history, plan->seed + 1);
    history_advance(&history);
    if (history_perform(&history, plan->store, plan->source, NULL, &error) != ACQ_OK)
        fail_msg("the next import fails: %s", error.message);
    history_advance(&history);
    if (history_perform(&history, plan->store, plan->source, NULL, &error) != ACQ_OK)
        fail_msg("the next step fails: %s", error.message);
    assert_true(facts_read(plan->store, &found, &error));
    assert_true(facts_equal(&history.facts, &found));
}

static void test_power_failures_lose_nothing(void **state)
{
    const test_options *options = *state;
    test_scratch scratch;
    scratch_name store, source;
    size_t acknowledged, steps = 0, ignored;
    scratch_make(&scratch);
    for (uint64_t round = 0; round < options->rounds; round++) {
        acq_random random = acq_random_start(options->seed, round);
        round_plan plan = {.store = scratch_path(&scratch, "store", store),
                           .source = scratch_path(&scratch, "source.tsv", source),
                           .seed = acq_random_next(&random),
                           .disk = draw_power_failure(&random, MOST_OPERATIONS)};
        test_child child = child_start(live_through, &plan);
        if (child_wait(&child, &acknowledged) != CHILD_KILLED)
            fail_msg("round %llu: a step failed before the power did", (unsigned long long)round);
        while (acq_random_below(&random, 3) == 0) {
            plan.disk = draw_power_failure(&random, MOST_RECOVERY_OPERATIONS);
            child = child_start(recover, &plan);
            if (child_wait(&child, &ignored) != CHILD_KILLED)
                fail_msg("round %llu: recovery failed", (unsigned long long)round);
        }
        print_message("round %llu: %zu steps\n", (unsigned long long)round, acknowledged);
        check_facts(&plan, acknowledged);
        check_use(&plan);
        steps += acknowledged;
        scratch_clear(&scratch);
    }
    print_message("%llu power failures after %zu acknowledged steps\n",
                  (unsigned long long)options->rounds, steps);
    scratch_remove(&scratch);
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_power_failures_lose_nothing, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
