/* clause.h - disjunctions as constraints, without multiplying them out.
 *
 * A branch is possible while no fixed node contradicts it. A clause filters each open node by
 * "would it still be possible with this value", and gives a node that ranges over all entities
 * the union of what its disjuncts allow, where each of them allows a list (constructive
 * disjunction); so anchored disjunctions cost what their rows cost. */
#ifndef ACQ_SEARCH_EXACT_CLAUSE_H
#define ACQ_SEARCH_EXACT_CLAUSE_H

#include "search/exact/state.h"

bool acq_exact_revise_clause(state *s, const model_clause *clause);

/* True whatever the open nodes become. */
bool acq_exact_clause_is_certain(const state *s, const model_clause *clause);

/* Ground literals hold, and no clause is impossible from the start. */
bool acq_exact_start_clauses(state *s);

#endif
