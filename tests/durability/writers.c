/* writers.c - two processes write to one store at the same time: both succeed, in turn; and a
 * graph that is open keeps its facts while its own process opens and closes the file again and
 * other processes change, compact and replace it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "durability/child.h"
#include "durability/fixture.h"
#include "durability/options.h"

typedef struct half {
    const fixture *fixture;
    uint32_t first, step; /* facts first, first + step, ... */
    uint64_t n;
} half;

static void add_half(void *context, int reports)
{
    const half *h = context;
    acq_store_writer *writer = NULL;
    acq_store_report report = {.size = sizeof report};
    acq_error error = {0};
    uint64_t n_folded;
    for (uint64_t i = 0; i < h->n; i++) {
        fact_text text = fact_spell((uint32_t)(h->first + i * h->step));
        acq_store_fact fact = {.head = text.head, .relation = text.relation, .tail = text.tail};
        if (writer == NULL && acq_store_writer_open(h->fixture->store, &writer, &error) != ACQ_OK)
            child_give_up("opening a writer", &error);
        if (acq_store_add(writer, &fact, 1, &report, NULL, &error) != ACQ_OK)
            child_give_up("adding", &error);
        child_acknowledge(reports);
        if (i % 16 == 5 && acq_store_compact(writer, &n_folded, &error) != ACQ_OK)
            child_give_up("compacting", &error);
        if (i % 3 != 0) { /* reopened most of the time, as commands do */
            acq_store_writer_free(writer);
            writer = NULL;
        }
    }
    acq_store_writer_free(writer);
}

static void test_two_writers_take_turns(void **state)
{
    const test_options *options = *state;
    fixture f;
    fact_set found;
    test_child children[2];
    size_t acknowledged;
    fixture_make(&f, options->seed);
    for (uint32_t i = 0; i < 2; i++) {
        half h = {.fixture = &f, .first = i, .step = 2, .n = options->rounds};
        children[i] = child_start(add_half, &h);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(child_wait(&children[i], &acknowledged), CHILD_FINISHED);
        assert_int_equal(acknowledged, options->rounds);
    }
    fixture_read(&f, &found, "after two writers");
    for (uint32_t i = 0; i < HISTORY_FACTS; i++)
        if (facts_has(&found, i) != (facts_has(&f.history.facts, i) || i < 2 * options->rounds))
            fail_msg("fact %u is wrong", i);
    fixture_remove(&f);
}

static void import_anew(void *context, int reports)
{
    const fixture *f = context;
    test_history history = f->history;
    acq_error error = {0};
    history_advance_with(&history, STEP_IMPORT);
    if (history_perform(&history, f->store, f->source, NULL, &error) != ACQ_OK)
        child_give_up("importing", &error);
    child_acknowledge(reports);
}

static void run_child(child_fn work, void *context)
{
    size_t acknowledged;
    test_child child = child_start(work, context);
    assert_int_equal(child_wait(&child, &acknowledged), CHILD_FINISHED);
    assert_true(acknowledged > 0);
}

/* Opens and closes the store in all ways that there are. */
static void look_at(const fixture *f)
{
    acq_graph *graph;
    acq_store_info info;
    acq_error error = {0};
    assert_true(acq_store_is_database(f->store));
    assert_int_equal(acq_store_read_info(f->store, &info, &error), ACQ_OK);
    assert_int_equal(acq_graph_open_path(f->store, NULL, &graph, NULL, &error), ACQ_OK);
    acq_graph_free(graph);
}

/* Whatever closes a descriptor of a file drops all of its process's locks on it, and SQLite would
 * then take the log away under the graph. */
static void test_a_graph_keeps_its_facts_whatever_its_process_opens(void **state)
{
    const test_options *options = *state;
    fixture f;
    acq_graph *old;
    acq_error error = {0};
    fact_set before, found;
    fixture_make(&f, options->seed);
    fixture_read(&f, &before, "at first");
    assert_int_equal(acq_store_open(f.store, &old, &error), ACQ_OK);
    for (uint32_t round = 0; round < 4; round++) {
        half h = {.fixture = &f, .first = round * 20, .step = 1, .n = 20};
        look_at(&f);
        run_child(add_half, &h);
        look_at(&f);
        run_child(import_anew, &f);
    }
    if (!facts_read_graph(old, &found, &error))
        fail_msg("the old graph: %s", error.message);
    assert_true(facts_equal(&before, &found));
    acq_graph_free(old);
    fixture_remove(&f);
}

/* There is always somebody who reads: the next graph is open before the last one is closed. */
static void read_without_a_break(void *context, int reports)
{
    const fixture *f = context;
    acq_graph *last = NULL, *next;
    acq_error error = {0};
    child_acknowledge(reports);
    for (;;) {
        if (acq_store_open(f->store, &next, &error) != ACQ_OK)
            child_give_up("opening", &error);
        usleep(2000);
        acq_graph_free(last);
        last = next;
    }
}

/* Facts of long new names: several hundred kilobytes of log. */
static void add_long_names(acq_store_writer *writer, unsigned round)
{
    enum { NAMES = 40, LENGTH = 8000 };
    static char names[NAMES][LENGTH + 1];
    acq_store_fact facts[NAMES];
    acq_error error = {0};
    for (unsigned i = 0; i < NAMES; i++) {
        memset(names[i], 'x', LENGTH);
        snprintf(names[i], 32, "name %u of round %u", i, round);
        names[i][strlen(names[i])] = ' ';
        facts[i] = (acq_store_fact){.head = names[i], .relation = "r0", .tail = "entity 0"};
    }
    if (acq_store_add(writer, facts, NAMES, NULL, NULL, &error) != ACQ_OK)
        fail_msg("adding: %s", error.message);
}

static void test_readers_do_not_make_the_log_grow_for_ever(void **state)
{
    enum { READERS = 2, ROUNDS = 100, MOST_BYTES = 200 << 20 };
    const test_options *options = *state;
    fixture f;
    test_child readers[READERS];
    acq_store_writer *writer;
    acq_store_info info;
    acq_error error = {0};
    uint64_t most = 0;
    size_t acknowledged;
    fixture_make(&f, options->seed);
    for (int i = 0; i < READERS; i++)
        readers[i] = child_start(read_without_a_break, &f);
    assert_int_equal(acq_store_writer_open(f.store, &writer, &error), ACQ_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        add_long_names(writer, round);
        assert_int_equal(acq_store_read_info(f.store, &info, &error), ACQ_OK);
        most = info.wal_bytes > most ? info.wal_bytes : most;
    }
    acq_store_writer_free(writer);
    for (int i = 0; i < READERS; i++) {
        kill(readers[i].pid, SIGKILL);
        assert_int_equal(child_wait(&readers[i], &acknowledged), CHILD_KILLED);
    }
    print_message("a file of %llu MB, a log of at most %llu MB\n",
                  (unsigned long long)info.file_bytes >> 20, (unsigned long long)most >> 20);
    assert_true(most < MOST_BYTES);
    fixture_remove(&f);
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_two_writers_take_turns, &options),
        cmocka_unit_test_prestate(test_a_graph_keeps_its_facts_whatever_its_process_opens,
                                  &options),
        cmocka_unit_test_prestate(test_readers_do_not_make_the_log_grow_for_ever, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
