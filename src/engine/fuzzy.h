/* fuzzy.h - inside engine/ and for rankings: the engines qto, fit, gnnqe and ultraquery. */
#ifndef ACQ_ENGINE_FUZZY_H
#define ACQ_ENGINE_FUZZY_H

#include "engine/engine.h"
#include "search/fuzzy/fuzzy.h"

/* The threshold in force: the one that was set, or the one of the AnyCQ paper for this engine. */
double acq_engine_get_fuzzy_threshold(const acq_engine_params *params);

/* How the engine projects and joins over this predictor. *network: NULL, or what `out` refers to,
 * freed by the caller; for one thread. */
acq_status acq_engine_fuzzy_open(acq_engine_id engine, const acq_predictor *predictor,
                                 const acq_search_params *search, acq_fuzzy_params *out,
                                 acq_fuzzy_network **network, acq_error *error);

/* As acq_engine_ask and acq_engine_check_many, whose results these fill. */
acq_status acq_engine_fuzzy_ask(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, acq_engine_result *result,
                                acq_error *error);
acq_status acq_engine_fuzzy_check(const acq_query *query, const acq_predictor *predictor,
                                  const acq_ent *const *tuples, size_t n,
                                  const acq_engine_params *params, acq_engine_result *results,
                                  acq_error *error);

#endif
