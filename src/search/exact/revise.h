/* revise.h - arc consistency: shrink a node's domain by what its neighbour still allows. */
#ifndef ACQ_SEARCH_EXACT_REVISE_H
#define ACQ_SEARCH_EXACT_REVISE_H

#include "search/exact/state.h"

/* The starting domain of every node from constants, supports and loops, arc consistent as far as
 * edges go; false: one is empty. Nodes without a positive literal keep all entities, and nodes
 * that acq_exact_restrict has fixed before keep their value. */
bool acq_exact_start(state *s);

/* Does the node's own part of the query (constants, loops, exclusions) allow the value? */
bool acq_exact_allows(const state *s, uint32_t node, acq_ent value);

/* Fixes the node to a value if its domain still has it; false otherwise. */
bool acq_exact_restrict(state *s, uint32_t node, acq_ent value);

/* Keeps the values of the edge's other node that `source` supports. A fixed source filters by
 * every literal of the edge; an open one only where the edge has a positive atom. */
bool acq_exact_revise(state *s, const model_edge *edge, uint32_t source);

/* Revises until nothing changes. False: some domain became empty, or the budget is spent. */
bool acq_exact_propagate(state *s);

/* The same without clauses. */
bool acq_exact_propagate_edges(state *s);

#endif
