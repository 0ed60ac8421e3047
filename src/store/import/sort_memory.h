/* sort_memory.h - links in order from buckets, when all facts fit in memory.
 *
 * Pairs of relations are taken in batches: all threads sort a batch, each pair both ways, then
 * its links are handed out one direction after the other. */
#ifndef ACQ_STORE_IMPORT_SORT_MEMORY_H
#define ACQ_STORE_IMPORT_SORT_MEMORY_H

#include "store/import/sort.h"
#include "store/import/sort_buckets.h"

typedef struct acq_memory_order acq_memory_order;

/* The buckets are filled, not sorted, and stay the caller's; so do the counts, which are added
 * to. NULL: out of memory. */
acq_memory_order *acq_memory_order_new(acq_buckets *buckets, unsigned threads,
                                       acq_sort_counts *counts);
void acq_memory_order_free(acq_memory_order *order);

void acq_memory_order_next(acq_memory_order *order, acq_sorted *out);

#endif
