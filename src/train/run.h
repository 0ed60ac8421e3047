/* run.h - a training from options to files, of any kind.
 *
 *   MODEL                        the weights, with how they came to be in the metadata
 *   MODEL.checkpoint             while it trains; of the policy MODEL.seedN.checkpoint, one per
 * seed MODEL.csv, MODEL.svg         the curve of a policy
 *
 * Checkpoints are taken away when MODEL is there. A training that was interrupted is not begun anew
 * by accident: without "resume" its checkpoint is in the way. */
#ifndef ACQ_TRAIN_RUN_H
#define ACQ_TRAIN_RUN_H

#include "train/options.h"

typedef struct acq_train_run_params {
    acq_train_kind kind;
    const acq_graph *const *graphs; /* one; several for ultra and policy */
    const char *const *names;       /* of the graphs, for the metadata; NULL: none */
    size_t n_graphs;
    const acq_train_option *options;
    size_t n_options;
    const char *output;  /* MODEL */
    const char *version; /* for the metadata; NULL: none */
    const char *commit;
    int64_t begin_ns;               /* when the option "time" began (acq_clock_ns); 0: now */
    acq_train_progress_fn progress; /* may be NULL; comes from one thread at a time */
    void *context;
} acq_train_run_params;

typedef struct acq_train_report {
    const char *unit;  /* what `done` counts: "epochs" or "batches" */
    double done, loss; /* loss: 0 for a policy */
    double seconds;    /* earlier runs that were resumed included */
    uint64_t seed;     /* of the policy: the best one */
    unsigned n_threads;
    uint64_t n_rules;   /* 0 but for rules */
    acq_text options;   /* "rank=256 rate=0.1 ..." */
    uint64_t episodes;  /* from here on: of a policy */
    double held_solved; /* share of the queries kept aside, of the best seed */
    uint32_t n_seeds;
    uint64_t first_seed;
    double *seeds_held; /* of each seed */
    size_t n_held_hubs; /* hub-like ones of these queries, as many as fit the time */
    uint32_t dim;
    bool uses_pe;
} acq_train_report;

/* Deinit the report also after an error. ACQ_ERR_INTERRUPTED: the message says how far it came. */
acq_status acq_train_run(const acq_train_run_params *params, acq_train_report *report,
                         acq_error *error);
void acq_train_report_deinit(acq_train_report *report);

/* The checkpoint of the i-th seed (0 for what has no seeds) of a model; freed with acq_free, NULL:
 * out of memory. */
char *acq_train_copy_checkpoint(acq_train_kind kind, const char *output, uint64_t seed);

#endif
