/* core.h - why there is no answer: conjuncts of the query that cannot hold together. */
#ifndef ACQ_ENGINE_CORE_H
#define ACQ_ENGINE_CORE_H

#include "engine/engine.h"

/* Of a query proved to have no answer (or no answer with the free variables at values, if not
 * NULL): top-level conjuncts that already have none, and of which none can be left out. Found by
 * leaving out one after the other, so it costs one exact search per conjunct; a search that runs
 * out of `seconds` counts as "needed", and the set may then be larger than necessary. */
acq_status acq_engine_find_core(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *values, const acq_engine_params *params,
                                double seconds, acq_arena *arena, const acq_node ***out,
                                size_t *n_out, acq_error *error);

#endif
