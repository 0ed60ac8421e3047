/* sort_runs.h - sorted runs of links in a temporary file, and the merge of all of them.
 *
 *   file   [ run | run | run | ... ]                 no name: gone with its descriptor
 *   run    [ relation pair, n, n links | ... ]       pairs ascending, links ascending in each
 *
 * A run also has a direction, the one in which its facts were given, so that the merge can tell
 * a fact that was given both ways. One pass merges any number of runs: each has a buffer, and
 * all buffers together stay within the memory given, down to one page each. */
#ifndef ACQ_STORE_IMPORT_SORT_RUNS_H
#define ACQ_STORE_IMPORT_SORT_RUNS_H

#include "store/import/sort.h"

typedef struct acq_runs acq_runs;

/* The file lies in `folder`, which the caller keeps; it is made when the first run starts. NULL:
 * out of memory. */
acq_runs *acq_runs_new(const char *folder);
void acq_runs_free(acq_runs *runs);

size_t acq_runs_get_n(const acq_runs *runs);

/* A run, written from start to end. The links of one put are sorted and distinct; a pair may come
 * in several puts that go on where the last one ended. */
acq_status acq_runs_start(acq_runs *runs, unsigned direction, acq_error *error);
acq_status acq_runs_put(acq_runs *runs, uint32_t pair, const acq_fact_key *links, size_t n,
                        acq_error *error);
acq_status acq_runs_end(acq_runs *runs, acq_error *error);

/* A distinct link and the number of runs of each direction that hold it. */
typedef struct acq_run_item {
    acq_fact_key link;
    uint32_t pair;
    uint32_t given[2];
} acq_run_item;

acq_status acq_runs_merge(acq_runs *runs, size_t memory_bytes, acq_error *error);

/* The next item by (pair, link); *found is false behind the last. */
acq_status acq_runs_next(acq_runs *runs, acq_run_item *out, bool *found, acq_error *error);

/* Forgets all runs and keeps the file for new ones. */
void acq_runs_clear(acq_runs *runs);

/* ---- merging ---- */

/* Links in order from runs on disk. The runs are merged in the even direction; meanwhile the links
 * of a pair are turned around and collected; when the pair ends they are sorted and handed out,
 * from memory if they fit, else from runs of their own. */
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
