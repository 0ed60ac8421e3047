/* wanted.h - which rows of a predictor a problem needs, the most promising first.
 *
 * Positive atoms are directed away from the constants: terms get numbers in the order in which a
 * breadth-first walk from the constants reaches them (a part without constants starts at the
 * entities seen with one of its relations), and an atom leads from the smaller number to the
 * larger, so one row per candidate of its source covers it. Candidates of a variable are what all
 * required atoms that lead to it reach, each with a bound on the score of any answer through it:
 *
 *   bound(t) = min over these atoms of  max over candidates e of the source, whose row is there,
 *              of  min(bound(e), score of the link e to t)
 *
 * A row that is not there yet can only give answers up to the bound of its head. */
#ifndef ACQ_ENGINE_WANTED_H
#define ACQ_ENGINE_WANTED_H

#include "predict/predictor.h"
#include "predict/rows.h"
#include "query/problem.h"

typedef struct acq_wanted_plan acq_wanted_plan;

/* A row that is not in the view. */
typedef struct acq_wanted_row {
    acq_rel relation;
    acq_ent head;
    double bound;
    bool is_seen; /* the head has the relation in the graph */
} acq_wanted_row;

typedef struct acq_wanted_rows {
    acq_wanted_row *rows;
    size_t n, capacity;
} acq_wanted_rows;

/* problem and graph must outlive the plan. */
acq_status acq_wanted_plan_new(const acq_problem *problem, const acq_graph *graph,
                               const acq_scoring *scoring, acq_wanted_plan **out, acq_error *error);
void acq_wanted_plan_free(acq_wanted_plan *plan); /* NULL is legal */

/* Is there a variable with positive atoms that no required one leads to from a constant? Of the
 * entities that it may stand for only those seen with its relations are tried. */
bool acq_wanted_is_open(const acq_wanted_plan *plan);

/* All wanted rows at this moment that can give an answer of the threshold, largest bound first.
 * O(links of the rows that are there). *out is the caller's and used again. */
acq_status acq_wanted_find(const acq_wanted_plan *plan, const acq_row_view *view,
                           acq_wanted_rows *out, acq_error *error);

/* Appends the rows that the negated atoms of an answer depend on: where neither end's row is there,
 * nothing is known about the link. */
acq_status acq_wanted_find_negated(const acq_wanted_plan *plan, const acq_row_view *view,
                                   const acq_ent *values, acq_wanted_rows *out, acq_error *error);

#endif
