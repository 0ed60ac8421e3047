/* fixture.c - see fixture.h. */
#include "durability/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void perform(const fixture *f, const test_history *history, acq_store_writer *writer)
{
    acq_error error = {0};
    if (history_perform(history, f->store, f->source, writer, &error) != ACQ_OK)
        fail_msg("a step that must work: %s", error.message);
}

void fixture_perform(const fixture *f, const test_history *history)
{
    perform(f, history, NULL);
}

static void set_paths(fixture *f)
{
    const test_scratch *scratch = &f->scratch;
    scratch_path(scratch, "store", f->store);
    scratch_path(scratch, "store-wal", f->log);
    scratch_path(scratch, "store-shm", f->shared);
    scratch_path(scratch, "source.tsv", f->source);
    scratch_path(scratch, "kept", f->kept);
    scratch_path(scratch, "kept-wal", f->kept_log);
}

/* Four changes stay in the log, because a reader keeps it from being folded in. */
static void fill(fixture *f)
{
    acq_graph *reader;
    acq_store_writer *writer;
    acq_error error = {0};
    while (facts_count(&f->history.facts) < 500)
        history_advance_with(&f->history, STEP_IMPORT);
    perform(f, &f->history, NULL);
    assert_int_equal(acq_store_open(f->store, &reader, &error), ACQ_OK);
    assert_int_equal(acq_store_writer_open(f->store, &writer, &error), ACQ_OK);
    for (int i = 0; i < 4; i++) {
        history_advance_with(&f->history, i % 2 == 0 ? STEP_ADD : STEP_REMOVE);
        perform(f, &f->history, writer);
    }
    scratch_copy(f->store, f->kept);
    scratch_copy(f->log, f->kept_log);
    acq_store_writer_free(writer);
    acq_graph_free(reader);
}

void fixture_make(fixture *f, uint64_t seed)
{
    scratch_make(&f->scratch);
    set_paths(f);
    history_start(&f->history, seed);
    f->history.most_changed = 20;
    f->history.most_imported = 3000;
    fill(f);
}

void fixture_remove(fixture *f)
{
    scratch_remove(&f->scratch);
}

void fixture_forget(fixture *f)
{
    f->history.facts = (fact_set){0};
}

void fixture_restore(const fixture *f)
{
    unlink(f->store);
    unlink(f->log);
    unlink(f->shared);
    if (!f->history.facts.exists)
        return;
    scratch_copy(f->kept, f->store);
    scratch_copy(f->kept_log, f->log);
}

void fixture_read(const fixture *f, fact_set *found, const char *when)
{
    acq_error error = {0};
    if (access(f->store, F_OK) == 0 && acq_store_verify(f->store, NULL, NULL, &error) != ACQ_OK)
        fail_msg("%s: does not verify: %s", when, error.message);
    if (!facts_read(f->store, found, &error))
        fail_msg("%s: cannot be read: %s", when, error.message);
}

void fixture_check(const fixture *f, const fact_set *wanted, const char *when)
{
    fact_set found;
    fixture_read(f, &found, when);
    if (!facts_equal(wanted, &found))
        fail_msg("%s: the facts are not as they should be", when);
}
