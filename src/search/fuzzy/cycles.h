/* cycles.h - FIT on any conjunction of literals with one free variable, by the algorithm of its
 * paper (Yin et al. 2024): cycles, parallel atoms, loops, atoms between constants, negated atoms
 * between variables.
 *
 *   constant        its literals change the set of the variable at their other end
 *   leaf            a variable with one neighbour v: set(v) = set(v) and max over x of
 *                   carry(set(leaf)[x], what the literals between them say of x and v)
 *   free variable   with one neighbour: the rest is solved for that one, then carried over
 *   cycle           the variable with the fewest candidates takes every value in turn, and is a
 *                   constant then; of the results the largest counts
 *
 * "And" and "carry" are those of fuzzy.h. With one norm for both, a degree is the best value of
 * that norm over all assignments; with FIT's usual two it lies between the product and the minimum.
 * Values that cannot have a degree (no link to any member of a neighbour's set) are left out first.
 *
 * The values that cycles make it try are bounded before it starts: get_bound. */
#ifndef ACQ_SEARCH_FUZZY_CYCLES_H
#define ACQ_SEARCH_FUZZY_CYCLES_H

#include "search/fuzzy/fuzzy.h"

typedef struct acq_fuzzy_cycles acq_fuzzy_cycles;

/* Everything that no cycle needs: constants are used, the bound is known. *is_done false: the time
 * was over. ACQ_ERR_INPUT, which says what is in the way, for a query with another number of free
 * variables than one, equalities, or an "or" over several variables. Borrows all but params; rows
 * of a relation are made as a whole. */
acq_status acq_fuzzy_cycles_new(const acq_problem *problem, const acq_predictor *predictor,
                                const acq_fuzzy_params *params, acq_fuzzy_cycles **out,
                                bool *is_done, acq_error *error);
void acq_fuzzy_cycles_free(acq_fuzzy_cycles *cycles); /* NULL is legal */

/* Most assignments of variables on cycles that a run tries; 1: there is no cycle. */
double acq_fuzzy_cycles_get_bound(const acq_fuzzy_cycles *cycles);

acq_status acq_fuzzy_cycles_run(acq_fuzzy_cycles *cycles, bool *is_done, acq_error *error);

/* Of the free variable, after a run that was done. */
const acq_fuzzy_set *acq_fuzzy_cycles_get_root(const acq_fuzzy_cycles *cycles);

/* Values of all variables for the free one's value in values[0], one after the other the best ones:
 * with one norm they give it its degree. Variables that occur nowhere keep what is there. */
acq_status acq_fuzzy_cycles_trace(acq_fuzzy_cycles *cycles, acq_ent *values, bool *is_done,
                                  acq_error *error);

#endif
