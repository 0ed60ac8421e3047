/* solve.h - is the problem satisfiable at the state's cutoff? And-or search over domains. */
#ifndef ACQ_SEARCH_EXACT_SOLVE_H
#define ACQ_SEARCH_EXACT_SOLVE_H

#include "search/exact/state.h"

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
