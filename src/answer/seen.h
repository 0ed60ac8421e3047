/* seen.h - which tuples are seen: each entity of the tuple has a fact of the same relation, with
 * whomever, at its end of every positive atom. Lists of candidates hold seen tuples. */
#ifndef ACQ_ANSWER_SEEN_H
#define ACQ_ANSWER_SEEN_H

#include "graph/graph.h"
#include "query/query.h"

/* values: those of the free variables. */
bool acq_answer_is_seen(const acq_query *query, const acq_graph *graph, const acq_ent *values);

#endif
