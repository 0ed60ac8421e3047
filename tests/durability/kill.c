/* kill.c - the command itself, killed (SIGKILL) after a random time while it imports, adds,
 * removes or compacts. Usage: PROGRAM ANYCQ [ROUNDS [SEED]]; a round is one kill.
 *
 * One history goes on through all kills: a step that was killed is repeated until it is
 * acknowledged, and in between the facts are those before it or those after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "durability/command.h"
#include "durability/history.h"
#include "durability/options.h"
#include "durability/plain.h"
#include "durability/scratch.h"

enum { MOST_FACTS = 30, N_KINDS = STEP_COMPACT + 1, PATIENCE = 4 };

typedef struct killer {
    const char *program;
    test_scratch scratch;
    scratch_name store, source;
    test_history history;
    acq_random random;
    int64_t duration[N_KINDS]; /* of the last run that was left alone; 0: none yet */
    uint64_t kills, killed[N_KINDS];
    uint64_t done; /* kills after which the facts were seen to have changed */
} killer;

/* The arguments of one call, their text in `texts`. */
typedef struct call {
    const char *arguments[MOST_FACTS + 8];
    char texts[MOST_FACTS][64];
} call;

static void spell_call(const killer *k, call *out)
{
    static const char *const names[] = {"import", "add", "remove", "compact"};
    const test_step *step = &k->history.step;
    size_t n = 0;
    out->arguments[n++] = k->program;
    out->arguments[n++] = names[step->kind];
    if (step->kind == STEP_IMPORT) {
        facts_write(&k->history.facts, k->source);
        out->arguments[n++] = k->source;
        out->arguments[n++] = "--replace";
        out->arguments[n++] = "-o";
    }
    out->arguments[n++] = k->store;
    for (size_t i = 0; i < step->n; i++) {
        fact_text text = fact_spell(step->list[i]);
        snprintf(out->texts[i], sizeof out->texts[i], "%s(\"%s\", \"%s\")", text.relation,
                 text.head, text.tail);
        out->arguments[n++] = out->texts[i];
    }
    out->arguments[n] = NULL;
}

static void sleep_ns(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&time, NULL);
}

/* Runs the last step; killed somewhere in the time that it took before, unless that is unknown
 * or `spare`. true: it was acknowledged. */
static bool run_step(killer *k, bool spare)
{
    call words;
    command c;
    int64_t *duration = &k->duration[k->history.step.kind];
    spell_call(k, &words);
    int64_t begin = acq_clock_ns();
    command_start(&c, words.arguments);
    if (!spare && *duration > 0) {
        sleep_ns((int64_t)(acq_random_unit(&k->random) * 1.1 * (double)*duration));
        kill(c.pid, SIGKILL);
    }
    command_wait(&c);
    if (c.code != 0 && c.code != -SIGKILL)
        fail_msg("%s ended with %d: %s", words.arguments[1], c.code, c.complained);
    if (c.code == 0 && (spare || *duration == 0))
        *duration = acq_clock_ns() - begin;
    bool is_acknowledged = c.code == 0;
    command_deinit(&c);
    return is_acknowledged;
}

static void verify_by_command(const killer *k)
{
    const char *const arguments[] = {k->program, "info", k->store, "--verify", NULL};
    command c;
    if (access(k->store, F_OK) != 0)
        return;
    command_start(&c, arguments);
    command_wait(&c);
    if (c.code != 0)
        fail_msg("info --verify ended with %d: %s", c.code, c.complained);
    command_deinit(&c);
}

/* Whoever comes first recovers: SQLite alone, the command, the library or the next attempt. */
static void check_facts(killer *k, const fact_set *before, bool is_acknowledged)
{
    acq_error error = {0};
    fact_set found;
    uint64_t first = acq_random_below(&k->random, 4);
    if (first == 0 && !is_acknowledged)
        return;
    if (first == 1)
        plain_check(k->store);
    if (first == 2)
        verify_by_command(k);
    if (!facts_read(k->store, &found, &error))
        fail_msg("cannot be read: %s", error.message);
    bool is_done = facts_equal(&found, &k->history.facts);
    if (!is_done && (is_acknowledged || !facts_equal(&found, before)))
        fail_msg("the facts are not those before the step, nor those after it");
    k->done += is_done && !is_acknowledged && k->history.step.kind != STEP_COMPACT;
    verify_by_command(k);
    plain_check(k->store);
}

static void live_through_step(killer *k)
{
    fact_set before = k->history.facts;
    bool is_acknowledged = false;
    history_advance(&k->history);
    for (int attempt = 0; !is_acknowledged; attempt++) {
        is_acknowledged = run_step(k, attempt == PATIENCE);
        k->kills += !is_acknowledged;
        k->killed[k->history.step.kind] += !is_acknowledged;
        check_facts(k, &before, is_acknowledged);
    }
}

static void test_killed_commands_lose_nothing(void **state)
{
    const test_options *options = ((void **)*state)[0];
    killer k = {.program = ((void **)*state)[1], .random = acq_random_start(options->seed, 3)};
    size_t steps = 0;
    scratch_make(&k.scratch);
    scratch_path(&k.scratch, "store", k.store);
    scratch_path(&k.scratch, "source.tsv", k.source);
    history_start(&k.history, options->seed);
    k.history.most_changed = MOST_FACTS;
    for (; k.kills < options->rounds; steps++)
        live_through_step(&k);
    history_advance_with(&k.history, STEP_IMPORT);
    assert_true(run_step(&k, true));
    assert_int_equal(scratch_count(&k.scratch, ".partial"), 0);
    print_message("%llu kills (import %llu, add %llu, remove %llu, compact %llu) in %zu steps; "
                  "%llu came after the change\n",
                  (unsigned long long)k.kills, (unsigned long long)k.killed[STEP_IMPORT],
                  (unsigned long long)k.killed[STEP_ADD], (unsigned long long)k.killed[STEP_REMOVE],
                  (unsigned long long)k.killed[STEP_COMPACT], steps, (unsigned long long)k.done);
    scratch_remove(&k.scratch);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    test_options options = test_options_read(argc - 1, argv + 1, 12);
    void *both[] = {&options, argv[1]};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_killed_commands_lose_nothing, both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
