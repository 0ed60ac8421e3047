/* memory.c - checked allocation and the injected failures of test builds. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

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
