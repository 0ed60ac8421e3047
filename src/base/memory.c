/* memory.c - checked allocation and the injected failures of test builds. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef ACQ_FAULTS
static _Thread_local size_t fail_at;
static _Thread_local size_t attempts;

void acq_faults_fail_at(size_t n)
{
    fail_at = n;
    attempts = 0;
}

size_t acq_faults_count(void)
{
    return attempts;
}

static bool injected(void)
{
    return ++attempts == fail_at;
}
#else
static bool injected(void)
{
    return false;
}
#endif

static bool byte_count(size_t n, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(n, size, bytes))
        return false;
    if (*bytes == 0)
        *bytes = 1;
    return true;
}

void *acq_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (injected() || !byte_count(n, size, &bytes))
        return NULL;
    return malloc(bytes);
}

void *acq_zalloc(size_t n, size_t size)
{
    size_t bytes;
    if (injected() || !byte_count(n, size, &bytes))
        return NULL;
    return calloc(1, bytes);
}

void *acq_resize(void *block, size_t n, size_t size)
{
    size_t bytes;
    if (injected() || !byte_count(n, size, &bytes))
        return NULL;
    return realloc(block, bytes);
}

void acq_free(void *block)
{
    free(block);
}

char *acq_copy_string(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = acq_alloc(n, 1);
    if (copy != NULL)
        memcpy(copy, text, n);
    return copy;
}

uint64_t acq_memory_get_most(void)
{
    struct rlimit limit;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    bool is_limited = getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited && limit.rlim_cur < all ? limit.rlim_cur : all;
}

acq_status acq_reserve(void **block, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return ACQ_OK;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < need) {
        if (__builtin_mul_overflow(grown, (size_t)2, &grown))
            return ACQ_ERR_MEMORY;
    }
    void *moved = acq_resize(*block, grown, size);
    if (moved == NULL)
        return ACQ_ERR_MEMORY;
    *block = moved;
    *capacity = grown;
    return ACQ_OK;
}

/* ---- arena ----
 *
 * A chain of blocks with a bump pointer; O(1) amortised per allocation. */

/* Malloc hands a first block out again at once (glibc: 1,032 bytes at most): small questions have
 * some ten arenas. */
enum { FIRST_BLOCK = 992, LARGEST_STEP = 4 * 1024 * 1024, ALIGNMENT = 16 };

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
