/* decide.h - decisions by the engine: the candidates of a set, the answer of a query, single links.
 *
 * A worker is the state of one thread: its own copy of the formula it works on, with the reading
 * applied, which grounding fills with the ids of one instance after the other. */
#ifndef ACQ_EVAL_DECIDE_H
#define ACQ_EVAL_DECIDE_H

#include "eval/eval.h"

typedef struct acq_decision {
    bool is_correct;   /* QAC: the label of the candidate */
    bool is_seen;      /* QAC: see acq_explain_is_seen */
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

/* Decisions an instance takes: QAC one per candidate, the correct ones first; QAR one. */
size_t acq_eval_count_decisions(const acq_bench_file *file, const acq_bench_instance *instance);

acq_status acq_eval_decide_qac(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);
acq_status acq_eval_decide_qar(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);

/* Yes or no for single links: true ones that were not observed against false ones that somebody
 * verified. The decision is that of `check` for Q(x) := relation(head, x) and the tail. */
typedef struct acq_links_decide_params {
    const acq_predictor *predictor;
    const acq_predictor *truth, *negatives; /* 0/1 in the observed graph's ids */
    acq_engine_params engine;               /* with its prior */
    uint64_t first;                         /* at most so many of each, drawn by hash; 0: all */
    unsigned n_threads;
    bool (*progress)(void *context, double done); /* share; may be NULL; false: stop */
    void *context;
} acq_links_decide_params;

acq_status acq_links_decide(const acq_links_decide_params *params, acq_links_decisions *out,
                            acq_error *error);

#endif
