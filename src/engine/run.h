/* run.h - one question on its way through the engine: prepare, search, verify, judge (engine.c).
 * Inside engine/ only. */
#ifndef ACQ_ENGINE_RUN_H
#define ACQ_ENGINE_RUN_H

#include "engine/engine.h"
#include "predict/predictor.h"
#include "predict/rows.h"
#include "query/problem.h"

/* ---- wanted ----
 *
 * Which rows of a predictor a problem needs, the most promising first.
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

/* ---- run ---- */

typedef struct acq_engine_run {
    const acq_query *query;
    const acq_ent *values;          /* of a check; NULL: an ask */
    acq_engine_params params;       /* in force; the limit of a check is 1 */
    const acq_predictor *predictor; /* that scores: the one asked, or its rows in the result */
    acq_problem *problem;
    acq_search_result found; /* by the search; values verified */
    int64_t deadline_ns;     /* of the whole question; INT64_MAX: none */
    bool is_stopped;         /* the deadline is due to a stop */
    acq_spent left_out_by;   /* what ended the making of rows: the answers may not be the best, and
                              * none is no proof; nothing: no row could better them */
    acq_wanted_plan *plan;   /* of these rows, and what is there of them; NULL: no rows are made */
    const acq_row_view *view;
    bool is_unlearnt; /* the view has facts only: there was no time to learn from the graph */
    bool is_open;     /* entities were not tried where no constant leads to a variable */
    acq_engine_result *result;
} acq_engine_run;

/* Of the time limit; 0: there is none. Never less than a millisecond. */
double acq_run_get_seconds_left(const acq_engine_run *run);

/* Is the time over? For loops over answers; notes it in run->result, which is then not complete. A
 * stop that is wanted leaves some time, to give what was found. */
bool acq_run_must_end(acq_engine_run *run);

/* prepare.c: the rows of a predictor that makes them, in the order the question needs them, facts
 * first. Afterwards run->predictor is a view of facts and rows, owned by the result.
 *
 *   view = observed facts
 *   repeat  search the view; rows that negated atoms of its answers depend on: add them, again
 *           stop when the answers score at least the bound of every row not made (then they are
 *           the best there are), or when time is up
 *           add the most promising rows (wanted.c)
 *
 * So a question that facts answer costs no row at all. Rows take row_seconds of the parameters at
 * most, and leave the search, the verifier and the judge their time. */
acq_status acq_prepare_rows(acq_engine_run *run, acq_error *error);

/* Of another predictor: what its links have to wait for, as learning from the graph. Where the time
 * ends before, run->predictor becomes a view of the facts. */
acq_status acq_prepare_links(acq_engine_run *run, acq_error *error);

/* Does the assignment deny a link that no row which was made says anything about? Its p is then not
 * known. */
acq_status acq_prepare_denies_unknown(const acq_engine_run *run, const acq_ent *values, bool *out,
                                      acq_error *error);

/* Says in the result what was left out, if anything was: a note, and none becomes undecided. */
acq_status acq_prepare_admit(acq_engine_run *run, acq_error *error);

/* judge.c: gives answers their p (calibrate/worlds.h, with a prior calibrate/answer.h), and the
 * likeliest values of their existential variables; scores are those of the verifier afterwards.
 * Answers that the time does not suffice for get no p, and the result is not complete; nor do those
 * that deny a link which was not looked at. */
acq_status acq_judge_rate(const acq_engine_run *run, acq_engine_answer *answers, size_t n,
                          acq_error *error);

/* Orders rated answers by p, then by score, and keeps at most `limit` (0: all) with p >= min_p.
 * When none is left the outcome is none, or undecided if the search was cut short. */
acq_status acq_judge_decide(const acq_engine_run *run, acq_error *error);

#endif
