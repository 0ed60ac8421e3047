/* judge.h - what a calibrator makes of verified answers: their probabilities, and the decision by
 * them. */
#ifndef ACQ_ENGINE_JUDGE_H
#define ACQ_ENGINE_JUDGE_H

#include "engine/engine.h"

/* Fails when the predictor's calibrator reads other features than this program has. */
acq_status acq_judge_check(const acq_predictor *predictor, acq_error *error);

/* Gives every answer its p, and the likeliest of its witnesses; scores are those of the verifier
 * afterwards. An answer of observed facts alone that denies nothing has p = 1. */
acq_status acq_judge_rate(const acq_query *query, const acq_predictor *predictor,
                          const acq_engine_params *params, acq_assignment *answers, size_t n,
                          acq_error *error);

/* Orders rated answers by p, then by score, and keeps at most `limit` (0: all) with p >= min_p.
 * When none is left the outcome is none, or undecided if the search was cut short. */
void acq_judge_decide(const acq_engine_params *params, uint32_t n_variables, uint64_t limit,
                      acq_search_result *result);

#endif
