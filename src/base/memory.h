/* memory.h - every heap allocation of the project goes through here; arenas.
 *
 * Sizes are n items of size bytes, checked for overflow. Out of memory is NULL, which
 * callers turn into ACQ_ERR_MEMORY. Built with ACQ_FAULTS, a test can make the N-th
 * allocation of its thread fail; release builds carry no such state. */
#ifndef ACQ_BASE_MEMORY_H
#define ACQ_BASE_MEMORY_H

#include "base/types.h"

void *acq_alloc(size_t n, size_t size);               /* uninitialised; at least one byte */
void *acq_zalloc(size_t n, size_t size);              /* zeroed */
void *acq_resize(void *block, size_t n, size_t size); /* on failure the old block stays valid */
void acq_free(void *block);
char *acq_copy_string(const char *text);

/* Bytes of private memory that this process may have: its limit, or what the machine has. */
uint64_t acq_memory_get_most(void);

/* Makes room for `need` items in a growable array: *block has *capacity items now.
 * Doubles, so appending is amortised O(1). */
acq_status acq_reserve(void **block, size_t *capacity, size_t need, size_t size);

/* Typed form: ACQ_RESERVE(array, capacity, need) where array is a typed pointer. */
#define ACQ_RESERVE(array, capacity, need)                                                         \
    acq_reserve((void **)&(array), &(capacity), (need), sizeof *(array))

#ifdef ACQ_FAULTS
/* The n-th allocation from now in this thread fails (1 = the next); 0 switches off. */
void acq_faults_fail_at(size_t n);
/* Number of allocations attempted in this thread since the last acq_faults_fail_at. */
size_t acq_faults_count(void);
#endif

/* ---- arena ----
 *
 * Memory with the lifetime of a query: many small pieces, freed at once.
 *
 *   first ─▶ [ block | used........|free ] ─▶ [ block | used |free........ ] ─▶ NULL
 *
 * A mark remembers a place; resetting to it gives back everything allocated later and
 * keeps the blocks for reuse, so a search that marks and resets does not call malloc. */

typedef struct acq_arena_block acq_arena_block;

typedef struct acq_arena {
    acq_arena_block *first;
    acq_arena_block *current;
    size_t reserved; /* bytes held from the system */
} acq_arena;

typedef struct acq_arena_mark {
    acq_arena_block *block;
    size_t used;
} acq_arena_mark;

void acq_arena_init(acq_arena *arena); /* never fails: the first block comes with the first use */
void acq_arena_deinit(acq_arena *arena);

/* n items of size bytes, aligned for any type; NULL when memory is out. */
void *acq_arena_alloc(acq_arena *arena, size_t n, size_t size);
void *acq_arena_zalloc(acq_arena *arena, size_t n, size_t size);
char *acq_arena_copy_string(acq_arena *arena, const char *text, size_t length);

/* Gives back the end of `piece`, which must be the latest allocation, so that `bytes` remain. */
void acq_arena_trim(acq_arena *arena, void *piece, size_t bytes);

acq_arena_mark acq_arena_get_mark(const acq_arena *arena);
void acq_arena_reset(acq_arena *arena, acq_arena_mark mark);

#endif
