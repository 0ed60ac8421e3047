/* shown.h - is a tuple one that a sensible list of candidates has: does the graph show each of its
 * entities, in some fact, at its ends of all positive atoms? */
#ifndef ACQ_ANSWER_SHOWN_H
#define ACQ_ANSWER_SHOWN_H

#include "graph/graph.h"
#include "query/query.h"

/* values: those of the free variables. */
bool acq_answer_is_shown(const acq_query *query, const acq_graph *graph, const acq_ent *values);

#endif
