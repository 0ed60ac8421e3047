/* links_decide.h - yes or no for single links: true ones that were not observed against false ones
 * that somebody verified. The decision is that of `check` for Q(x) := relation(head, x) and the
 * tail. */
#ifndef ACQ_EVAL_LINKS_DECIDE_H
#define ACQ_EVAL_LINKS_DECIDE_H

#include "engine/engine.h"

typedef struct acq_links_decide_params {
    const acq_predictor *predictor;
    const acq_predictor *truth, *negatives; /* 0/1 in the observed graph's ids */
    acq_engine_params engine;               /* with its prior */
    uint64_t first;                         /* at most so many of each, drawn by hash; 0: all */
    unsigned n_threads;
} acq_links_decide_params;

typedef struct acq_links_decisions {
    uint64_t n_true, n_false;     /* one direction of each; observed ones are left out */
    uint64_t true_yes, false_yes; /* said yes to */
    uint64_t n_undecided;         /* counted as no */
    double accuracy;              /* share of right decisions */
} acq_links_decisions;

acq_status acq_links_decide(const acq_links_decide_params *params, acq_links_decisions *out,
                            acq_error *error);

#endif
