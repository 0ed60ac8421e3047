/* supports.h - what else speaks for an answer: other values of single existential variables.
 *
 * All other values stay as they are. A value does when every used literal that touches its
 * variable reaches half the answer's least score with it. On the way each variable takes the
 * likeliest value that does not lower the least score: searches maximise the least score alone,
 * so whatever else they chose is arbitrary. */
#ifndef ACQ_CALIBRATE_SUPPORTS_H
#define ACQ_CALIBRATE_SUPPORTS_H

#include "answer/explain.h"

typedef struct acq_supports {
    uint64_t n;       /* other values that would do, all existential variables together */
    double least_sum; /* of the least scores of their literals */
    double gain;      /* sum over the variables of the log of: the chance that one of the values
                         does, over that of the present one, were literals independent */
} acq_supports;

/* evidence: of the answer at `values` (acq_explain); values: one per variable, those of
 * existential ones may be exchanged, *changed says whether. Cost: at most a few thousand look-ups,
 * a few hundred for each variable; scratch in `arena`. */
acq_status acq_supports_find(const acq_query *query, const acq_predictor *predictor,
                             const acq_scoring *scoring, const acq_evidence *evidence, size_t n,
                             acq_ent *values, acq_arena *arena, acq_supports *out, bool *changed,
                             acq_error *error);

#endif
