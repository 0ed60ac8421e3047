/* history.h - a seeded sequence of changes to a store, and the facts that each leaves behind.
 *
 * A child performs the steps and acknowledges each; its parent, with the same seed, knows what
 * must then be in the store. The universe of facts is small enough for a bitmap. */
#ifndef TEST_DURABILITY_HISTORY_H
#define TEST_DURABILITY_HISTORY_H

#include "base/hash.h"
#include "store/store.h"

enum {
    HISTORY_ENTITIES = 200,
    HISTORY_RELATIONS = 4,
    HISTORY_FACTS = HISTORY_ENTITIES * HISTORY_RELATIONS * HISTORY_ENTITIES,
    HISTORY_MOST_CHANGED = 600, /* facts per step: enough for a compaction after a few */
};

typedef struct fact_set {
    bool exists; /* is there a store at all? */
    uint64_t bits[(HISTORY_FACTS + 63) / 64];
} fact_set;

typedef enum step_kind { STEP_IMPORT, STEP_ADD, STEP_REMOVE, STEP_COMPACT } step_kind;

typedef struct test_step {
    step_kind kind;
    uint32_t list[HISTORY_MOST_CHANGED]; /* facts to add or remove */
    size_t n;
    uint64_t n_changed; /* of those, facts that are not there, or are */
} test_step;

typedef struct test_history {
    acq_random random;
    size_t most_changed;    /* per step, at most HISTORY_MOST_CHANGED */
    uint64_t most_imported; /* about */
    size_t memory_bytes;    /* of imports; 0: their default */
    fact_set facts;         /* after the steps drawn so far */
    test_step step;         /* the last one */
} test_history;

/* Begins with no store; the first step is an import. */
void history_start(test_history *history, uint64_t seed);

/* Draws the next step and applies it to the facts. */
void history_advance(test_history *history);
void history_advance_by(test_history *history, size_t n);

/* Draws a step of this kind, which must make sense. */
void history_advance_with(test_history *history, step_kind kind);

/* Names of the fact with this number. */
typedef struct fact_text {
    char head[16], relation[8], tail[16];
} fact_text;
fact_text fact_spell(uint32_t fact);

bool facts_has(const fact_set *facts, uint32_t fact);
size_t facts_count(const fact_set *facts);
bool facts_equal(const fact_set *a, const fact_set *b);

/* As triples, for an import. */
void facts_write(const fact_set *facts, const char *path);

/* Reads a store, which need not exist. false: *error says why it cannot be read, or what in it
 * is outside the universe. */
bool facts_read(const char *path, fact_set *out, acq_error *error);
bool facts_read_graph(const acq_graph *graph, fact_set *out, acq_error *error);

/* Performs the last step with the library. writer NULL: opened for this step. */
acq_status history_perform(const test_history *history, const char *store, const char *source,
                           acq_store_writer *writer, acq_error *error);

#endif
