/* cutoff.h - at a threshold T every literal is simply true or false.
 *
 * A positive literal reads "score >= T", a negated one "1 - score >= T"; binarize and
 * negation_threshold (predict/scoring.h) replace these bounds. A link that is absent (score 0)
 * never makes a positive literal true and never makes a negated one false. */
#ifndef ACQ_SEARCH_EXACT_CUTOFF_H
#define ACQ_SEARCH_EXACT_CUTOFF_H

#include "predict/scoring.h"
#include "base/types.h"

typedef struct cutoff {
    double positive; /* least link score of a positive literal */
    double negated;
    bool is_bound; /* negated literal: link score < negated; else 1 - score >= negated */
} cutoff;

static inline cutoff cutoff_at(const acq_scoring *scoring, double threshold)
{
    cutoff cut = {.positive = threshold, .negated = threshold, .is_bound = false};
    if (scoring->negation_threshold > 0) {
        cut.negated = scoring->negation_threshold;
        cut.is_bound = true;
    }
    if (scoring->binarize > 0) {
        cut.positive = scoring->binarize;
        cut.negated = scoring->binarize;
        cut.is_bound = true;
    }
    return cut;
}

static inline bool positive_holds(const cutoff *cut, float score)
{
    return (double)score >= cut->positive;
}

static inline bool negated_holds(const cutoff *cut, float score)
{
    return cut->is_bound ? (double)score < cut->negated
                         : acq_scoring_round_one(1.0 - (double)score) >= cut->negated;
}

#endif
