/* literal.h - what a literal is worth: the one place for all searches, in two forms that agree.
 * predict/predictor.h has the meaning; the verifier has an implementation of its own
 * (answer/verify.c), so that one can catch the other.
 *
 *   score    of a literal over a link, 0 to 1
 *   cutoff   at a threshold T every literal is true or false: its score is at least T. A link that
 *            is absent (score 0) never makes a positive literal true and never makes a negated one
 *            false. */
#ifndef ACQ_SEARCH_LITERAL_H
#define ACQ_SEARCH_LITERAL_H

#include "search/search.h"

static inline double acq_search_score_link(const acq_scoring *scoring, bool is_negated, double link)
{
    if (scoring->binarize > 0)
        link = link >= scoring->binarize ? 1.0 : 0.0;
    if (!is_negated)
        return link;
    if (scoring->negation_threshold > 0)
        return link < scoring->negation_threshold ? 1.0 : 0.0;
    return acq_scoring_round_one(1.0 - link);
}

typedef struct acq_cutoff {
    double positive; /* least link score of a positive literal */
    double negated;
    bool is_bound; /* negated literal: link score < negated; else 1 - score >= negated */
} acq_cutoff;

static inline acq_cutoff acq_cutoff_at(const acq_scoring *scoring, double threshold)
{
    acq_cutoff cut = {.positive = threshold, .negated = threshold, .is_bound = false};
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

static inline bool acq_cutoff_holds(const acq_cutoff *cut, float score)
{
    return (double)score >= cut->positive;
}

static inline bool acq_cutoff_holds_negated(const acq_cutoff *cut, float score)
{
    return cut->is_bound ? (double)score < cut->negated
                         : acq_scoring_round_one(1.0 - (double)score) >= cut->negated;
}

/* ---- under a full assignment: one look-up per literal ---- */

double acq_search_score(const acq_problem *problem, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values);

/* The same for a literal or a clause. */
double acq_search_score_branch(const acq_branch *branch, const acq_predictor *predictor,
                               const acq_scoring *scoring, const acq_ent *values);

/* ACQ_ERR_USAGE when a threshold is outside its range. */
acq_status acq_search_check_scoring(const acq_scoring *scoring, acq_error *error);

#endif
