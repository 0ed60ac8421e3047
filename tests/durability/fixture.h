/* fixture.h - a store with changes that wait to be folded in, some of them in its log, that can be
 * had again and again as it was. */
#ifndef TEST_DURABILITY_FIXTURE_H
#define TEST_DURABILITY_FIXTURE_H

#include "durability/history.h"
#include "durability/scratch.h"

typedef struct fixture {
    test_scratch scratch;
    scratch_name store, log, shared, source;
    scratch_name kept, kept_log;
    test_history history; /* its facts are those of the store */
} fixture;

/* These are for cmocka: what goes wrong is a failed assertion. */
void fixture_make(fixture *f, uint64_t seed);
void fixture_remove(fixture *f);

/* From now on it is a fixture without a store. */
void fixture_forget(fixture *f);

/* The store and its log as they were made, or nothing. */
void fixture_restore(const fixture *f);

/* Performs the last step of a history, which must work. */
void fixture_perform(const fixture *f, const test_history *history);

/* Reads and verifies the store. `when` is for the message. */
void fixture_read(const fixture *f, fact_set *found, const char *when);
void fixture_check(const fixture *f, const fact_set *wanted, const char *when);

#endif
