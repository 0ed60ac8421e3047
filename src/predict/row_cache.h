/* row_cache.h - rows of scored links that were made one at a time, the last used ones of them
 * within a budget of bytes. Not locked: its owner is. */
#ifndef ACQ_PREDICT_ROW_CACHE_H
#define ACQ_PREDICT_ROW_CACHE_H

#include "predict/predictor.h"

typedef struct acq_row_cache acq_row_cache;

typedef struct acq_row_cache_counts {
    uint64_t hits, misses, evicted;
    size_t n_rows, n_bytes;
} acq_row_cache_counts;

acq_row_cache *acq_row_cache_new(size_t most_bytes); /* NULL: out of memory */
void acq_row_cache_free(acq_row_cache *cache);       /* NULL is legal */

/* Borrowed until the next put; NULL: not there. Counts a hit or a miss. */
const acq_scored_row *acq_row_cache_get(acq_row_cache *cache, acq_rel relation, acq_ent head);

/* Takes a copy; a row that does not fit at all is not kept. Rows are put once. */
acq_status acq_row_cache_put(acq_row_cache *cache, acq_rel relation, acq_ent head,
                             const acq_scored_row *row);

acq_row_cache_counts acq_row_cache_get_counts(const acq_row_cache *cache);

#endif
