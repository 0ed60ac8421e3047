/* score.h - the score of a problem under a full assignment (predict/scoring.h), for searches. */
#ifndef ACQ_SEARCH_SCORE_H
#define ACQ_SEARCH_SCORE_H

#include "search/search.h"

double acq_search_score(const acq_problem *problem, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values);

/* The same for one literal: 0 to 1. */
double acq_search_score_literal(const acq_literal *literal, const acq_predictor *predictor,
                                const acq_scoring *scoring, const acq_ent *values);

/* ACQ_ERR_USAGE when a threshold is outside its range. */
acq_status acq_search_check_scoring(const acq_scoring *scoring, acq_error *error);

#endif
