/* decide.h - one instance of either task decided by the engine. Used by eval.c; qac.c and qar.c
 * implement it.
 *
 * A worker is the state of one thread: its own copy of the formula it works on, with the reading
 * applied, which grounding fills with the ids of one instance after the other. */
#ifndef ACQ_EVAL_DECIDE_H
#define ACQ_EVAL_DECIDE_H

#include "eval/eval.h"

typedef struct acq_decision {
    bool is_correct;   /* QAC: the label of the candidate */
    bool is_seen;      /* QAC: the observed graph shows it at its ends of all positive atoms */
    bool is_yes;       /* QAC */
    bool is_undecided; /* the budget ran out */
    bool is_unlisted;  /* QAR: not in a list that may be cut off, and no truth graph to ask */
    acq_qar_item item; /* QAR */
    double rank;       /* of the answer: its score, or with a calibrator the p of the likeliest
                          candidate; 0 without one */
    double ms;
    uint64_t nodes, revisions;
    uint64_t classes; /* policy, like flops */
    double flops;
} acq_decision;

typedef struct acq_eval_worker {
    const acq_eval_params *params;
    const acq_bench_file *file;
    acq_atoms_reading atoms;
    size_t i_formula; /* of `query`; SIZE_MAX: none yet */
    acq_query *query;
    uint64_t stream; /* number in the file of the instance's first decision: seeds its search */
} acq_eval_worker;

void acq_eval_worker_init(acq_eval_worker *worker, const acq_eval_params *params,
                          const acq_bench_file *file);
void acq_eval_worker_deinit(acq_eval_worker *worker);

/* worker->query becomes this instance's; *ms is the time of the grounding alone. */
acq_status acq_eval_worker_ground(acq_eval_worker *worker, const acq_bench_instance *instance,
                                  double *ms, acq_error *error);

/* Decisions an instance takes: QAC one per candidate, the correct ones first; QAR one. */
size_t acq_eval_count_decisions(const acq_bench_file *file, const acq_bench_instance *instance);

acq_status acq_eval_decide_qac(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);
acq_status acq_eval_decide_qar(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);

/* Copies what a search result says of itself. */
void acq_eval_note_result(acq_decision *decision, const acq_engine_result *result, double ms);

#endif
