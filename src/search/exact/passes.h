/* passes.h - what is done with a state: starting domains, arc consistency, clauses, branching. */
#ifndef ACQ_SEARCH_EXACT_PASSES_H
#define ACQ_SEARCH_EXACT_PASSES_H

#include "search/exact/state.h"

/* ---- start.c, revise.c: arc consistency, a node's domain by what its neighbour still allows ----
 */

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

/* ---- clause.c: disjunctions as constraints, without multiplying them out ----
 *
 * A branch is possible while no fixed node contradicts it. A clause filters each open node by
 * "would it still be possible with this value", and gives a node that ranges over all entities
 * the union of what its disjuncts allow, where each of them allows a list (constructive
 * disjunction); so anchored disjunctions cost what their rows cost. */

bool acq_exact_revise_clause(state *s, const model_clause *clause);

/* True whatever the open nodes become. */
bool acq_exact_clause_is_certain(const state *s, const model_clause *clause);

/* Ground literals hold, and no clause is impossible from the start. */
bool acq_exact_start_clauses(state *s);

/* ---- solve.c: is the problem satisfiable at the state's cutoff? And-or search over domains ----
 */

/* From a propagated state: fixes nodes[0..n), true with every one of them fixed; or false with
 * the state to be undone by the caller. The list is reordered. */
bool acq_exact_solve(state *s, uint32_t *nodes, uint32_t n);

/* All nodes that take part in the search, in the state's arena; NULL: memory is out. */
uint32_t *acq_exact_list_nodes(state *s, uint32_t *n);

/* The values of node in turn: a cursor over a list or over all entities. */
typedef struct value_cursor {
    uint32_t node;
    domain values;
    uint32_t next;
} value_cursor;

value_cursor acq_exact_values(const state *s, uint32_t node);
bool acq_exact_next_value(const state *s, value_cursor *cursor, acq_ent *value);

#endif
