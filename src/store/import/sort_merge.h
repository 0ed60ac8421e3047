/* sort_merge.h - links in order from runs on disk, when the facts do not fit in memory.
 *
 * The runs are merged in the even direction. Meanwhile the links of a pair are turned around and
 * collected; when the pair ends they are sorted and handed out, from memory if they fit, else
 * from runs of their own. */
#ifndef ACQ_STORE_IMPORT_SORT_MERGE_H
#define ACQ_STORE_IMPORT_SORT_MERGE_H

#include "store/import/sort.h"
#include "store/import/sort_runs.h"

typedef struct acq_merge_order acq_merge_order;

typedef struct acq_merge_params {
    acq_runs *runs; /* written; the caller's */
    const char *folder;
    size_t memory_bytes;
    unsigned id_bits;
    acq_sort_counts *counts; /* added to; the caller's */
} acq_merge_params;

acq_status acq_merge_order_new(const acq_merge_params *params, acq_merge_order **out,
                               acq_error *error);
void acq_merge_order_free(acq_merge_order *order);

acq_status acq_merge_order_next(acq_merge_order *order, acq_sorted *out, acq_error *error);

#endif
