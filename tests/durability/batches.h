/* batches.h - a writer whose every state can be told from any other, for share.c.
 *
 * Batch k is a fact made("clock", "batch k") and pairs of facts left(item, slot), right(slot,
 * item), where slot and items follow from k and the seed. The writer adds batch after batch and
 * removes old ones, each in one call: whatever a reader sees must be batches low..high, each whole.
 */
#ifndef TEST_DURABILITY_BATCHES_H
#define TEST_DURABILITY_BATCHES_H

#include <stdatomic.h>

#include "store/store.h"

enum {
    BATCH_SLOTS = 16,
    BATCH_MOST_KEPT = 6, /* in the store, besides those that come and go; below BATCH_SLOTS - 2 */
    BATCH_MOST_PAIRS = 20,
};

/* What writer and readers share. Numbers of batches; each counts up only. */
typedef struct board {
    _Atomic uint64_t begun, added;     /* additions begun and acknowledged */
    _Atomic uint64_t leaving, removed; /* removals */
    _Atomic uint64_t looks, answers;   /* graphs opened, checks made */
    _Atomic bool is_over;
    _Atomic bool is_wrong;
    char what[1024]; /* the first thing that was */
} board;

typedef struct setting {
    board *board;
    const char *store;
    uint64_t seed;
    int64_t end; /* of the test, by acq_clock_ns */
} setting;

/* Ends the test for everybody. */
void board_complain(const setting *s, const char *format, ...) ACQ_PRINTF(2, 3);
bool board_is_over(const setting *s);

typedef struct batch {
    uint64_t number;
    size_t n; /* pairs */
    char name[32], slot[16];
    char items[BATCH_MOST_PAIRS][16];
} batch;

void batch_make(uint64_t seed, uint64_t number, batch *out);

/* Adds one; false when it did not work, which is on the board then. */
bool batch_add(const setting *s, acq_store_writer *writer, uint64_t number);

/* The writer: adds, removes, compacts, closes and opens until it is over. context: a setting. */
void *batch_write_all(void *context);

#endif
