/* memory.h - every heap allocation of the project goes through here.
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

#endif
