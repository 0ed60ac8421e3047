/* values.h - the tuple of a check, from names to entities. */
#ifndef ACQ_ENGINE_VALUES_H
#define ACQ_ENGINE_VALUES_H

#include "query/query.h"

/* One name per free variable, as it stands or in < >, into out[0..n_free). A wrong number of names
 * is ACQ_ERR_USAGE and lists the free variables; an unknown name is ACQ_ERR_NAME with the nearest
 * known one. */
acq_status acq_values_find(const acq_query *query, const acq_graph *graph, const char *const *names,
                           size_t n_names, acq_ent *out, acq_error *error);

#endif
