/* prepare.h - questions to a predictor that makes rows: the rows in the order the query needs
 * them, facts first.
 *
 *   view = observed facts
 *   repeat  search the view; rows that negated atoms of its answers hang on: add them, again
 *           stop when the answers score at least the bound of every row not made (then they are
 *           the best there are), or when time is up
 *           add the most promising rows (prepare_walk.h)
 *
 * So a question that facts answer costs no row at all. Half the time limit goes into rows at most,
 * and a thirtieth of it once there are answers: more rows could only better them. The last view is
 * then asked like any predictor. Where rows were left out, "none" is no proof: the outcome is
 * undecided, with a note of how many. */
#ifndef ACQ_ENGINE_PREPARE_H
#define ACQ_ENGINE_PREPARE_H

#include "engine/engine.h"

/* acq_engine_ask (values NULL) or acq_engine_check for such a predictor, with its problem and
 * settled params. The view stays with the result: result->prepared. */
acq_status acq_engine_ask_by_rows(const acq_query *query, const acq_predictor *predictor,
                                  const acq_ent *values, const acq_problem *problem,
                                  const acq_engine_params *params, acq_search_result *result,
                                  acq_error *error);

#endif
