/* complex.h - trains ComplEx: cross-entropy of tails, heads and relations, N3, Adagrad.
 *
 * Rows with the same (head, relation) are one row with several true tails, whose losses are summed:
 * the same loss as one row per fact, with fewer products. Both directions of a fact are rows, so
 * heads are predicted as tails of the inverse. `candidates` > 0: the softmax of a batch runs over
 * the batch's true tails and so many entities drawn at random, whose weight makes the sum
 * unbiased; 0: over all entities. */
#ifndef ACQ_TRAIN_COMPLEX_H
#define ACQ_TRAIN_COMPLEX_H

#include "predict/complex/complex.h"

typedef struct acq_train_progress {
    const char *phase;
    double done, total; /* epochs, or batches: what the trainer counts in */
    double loss;        /* smoothed */
    double seconds;     /* since the start, resumed runs included */
} acq_train_progress;

typedef struct acq_train_complex_params {
    uint32_t rank;
    double rate;            /* Adagrad's, for the first half */
    double last_rate;       /* share of it at the end: linear in the second half; 1: constant */
    uint32_t batch;         /* rows */
    uint32_t candidates;    /* 0: all entities */
    double n3;              /* weight of the N3 norm */
    double relation_weight; /* of the loss of relations */
    double scale;           /* of the initial values */
    double epochs;
    double seconds; /* most; 0: no limit. Epochs then shrink: the schedule follows the time */
    uint64_t seed;
    unsigned n_threads;
    const acq_complex *warm; /* start from these vectors; NULL: from random ones */
    const char *checkpoint;  /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    bool (*progress)(void *context,
                     const acq_train_progress *now); /* false: stop, with a checkpoint */
    void *context;
} acq_train_complex_params;

void acq_train_complex_params_init(acq_train_complex_params *params);

/* ACQ_ERR_INTERRUPTED when progress said so: --resume goes on. The same seed gives the same bits at
 * any number of threads. */
acq_status acq_train_complex(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_complex **out, acq_error *error);

#endif
