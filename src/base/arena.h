/* arena.h - memory with the lifetime of a query: many small pieces, freed at once.
 *
 *   first ─▶ [ block | used........|free ] ─▶ [ block | used |free........ ] ─▶ NULL
 *
 * A mark remembers a place; resetting to it gives back everything allocated later and
 * keeps the blocks for reuse, so a search that marks and resets does not call malloc. */
#ifndef ACQ_BASE_ARENA_H
#define ACQ_BASE_ARENA_H

#include "base/types.h"

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
