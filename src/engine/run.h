/* run.h - one question on its way through the engine: prepare, search, verify, judge (engine.c).
 * Inside engine/ only. */
#ifndef ACQ_ENGINE_RUN_H
#define ACQ_ENGINE_RUN_H

#include "engine/engine.h"
#include "engine/wanted.h"

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
    bool is_open; /* entities were not tried where no constant leads to a variable */
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
 *           add the most promising rows (wanted.h)
 *
 * So a question that facts answer costs no row at all. Rows take row_seconds of the parameters at
 * most, and leave the search, the verifier and the judge their time. */
acq_status acq_prepare_rows(acq_engine_run *run, acq_error *error);

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
