/* completion_merge.h - inside the predict module: one stored block becomes links. */
#ifndef ACQ_PREDICT_COMPLETION_MERGE_H
#define ACQ_PREDICT_COMPLETION_MERGE_H

#include "graph/links.h"
#include "predict/completion_format.h"

/* A block as it lies in memory, 4-aligned. */
typedef struct acq_completion_block {
    acq_links rows; /* heads, offsets, tails; no scores, no bitmap */
    const uint16_t *codes;
} acq_completion_block;

acq_completion_block acq_completion_view_block(const void *bytes, const acq_completion_entry *entry,
                                               uint32_t n_entities);

/* NULL, or which invariant the block breaks. O(links). */
const char *acq_completion_check_block(const acq_completion_block *block);

/* The same value for the two directions of a relation and for no two other blocks. O(links). */
uint64_t acq_completion_hash_block(const acq_completion_block *block, bool inverse);

/* Stored links and observed ones: a fact scores 1; unless `certain`, any other link scores at
 * most 0.9999. decode has ACQ_CODES scores. Result freed with acq_links_free. */
acq_status acq_completion_merge(const acq_completion_block *block, const acq_links *observed,
                                const float *decode, bool certain, acq_links **out);

#endif
