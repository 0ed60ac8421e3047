/* arena.c - a chain of blocks with a bump pointer; O(1) amortised per allocation. */
#include "base/arena.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_BLOCK = 16 * 1024, LARGEST_STEP = 4 * 1024 * 1024, ALIGNMENT = 16 };

struct acq_arena_block {
    acq_arena_block *next;
    size_t capacity;
    size_t used;
    size_t padding; /* keeps bytes aligned to 16 */
    unsigned char bytes[];
};

void acq_arena_init(acq_arena *arena)
{
    *arena = (acq_arena){0};
}

void acq_arena_deinit(acq_arena *arena)
{
    acq_arena_block *block = arena->first;
    while (block != NULL) {
        acq_arena_block *next = block->next;
        acq_free(block);
        block = next;
    }
    *arena = (acq_arena){0};
}

static acq_arena_block *append_block(acq_arena *arena, size_t bytes)
{
    size_t capacity = arena->current == NULL ? FIRST_BLOCK : arena->current->capacity * 2;
    if (capacity > LARGEST_STEP)
        capacity = LARGEST_STEP;
    if (capacity < bytes)
        capacity = bytes;
    acq_arena_block *block = acq_alloc(1, sizeof *block + capacity);
    if (block == NULL)
        return NULL;
    acq_arena_block **link = arena->current == NULL ? &arena->first : &arena->current->next;
    *block = (acq_arena_block){.next = *link, .capacity = capacity};
    *link = block;
    arena->reserved += sizeof *block + capacity;
    return block;
}

/* Blocks after `current` are empty: a reset left them for reuse. */
static acq_arena_block *block_with_room(acq_arena *arena, size_t bytes)
{
    acq_arena_block *block = arena->current;
    if (block != NULL && block->capacity - block->used >= bytes)
        return block;
    acq_arena_block *next = block == NULL ? arena->first : block->next;
    if (next == NULL || next->capacity < bytes)
        next = append_block(arena, bytes);
    if (next != NULL) {
        next->used = 0;
        arena->current = next;
    }
    return next;
}

void *acq_arena_alloc(acq_arena *arena, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes == 0)
        bytes = ALIGNMENT;
    acq_arena_block *block = block_with_room(arena, bytes);
    if (block == NULL)
        return NULL;
    void *piece = block->bytes + block->used;
    block->used += bytes;
    return piece;
}

void *acq_arena_zalloc(acq_arena *arena, size_t n, size_t size)
{
    void *piece = acq_arena_alloc(arena, n, size);
    if (piece != NULL)
        memset(piece, 0, n * size);
    return piece;
}

char *acq_arena_copy_string(acq_arena *arena, const char *text, size_t length)
{
    char *copy = acq_arena_alloc(arena, length + 1, 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void acq_arena_trim(acq_arena *arena, void *piece, size_t bytes)
{
    acq_arena_block *block = arena->current;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    block->used = (size_t)((unsigned char *)piece - block->bytes) + bytes;
}

acq_arena_mark acq_arena_get_mark(const acq_arena *arena)
{
    size_t used = arena->current == NULL ? 0 : arena->current->used;
    return (acq_arena_mark){.block = arena->current, .used = used};
}

void acq_arena_reset(acq_arena *arena, acq_arena_mark mark)
{
    arena->current = mark.block;
    if (mark.block != NULL)
        mark.block->used = mark.used;
}
