/* complex.h - trains ComplEx: cross-entropy of tails, heads and relations, N3, Adagrad.
 *
 * Rows with the same (head, relation) are one row with several true tails, whose losses are summed:
 * the same loss as one row per fact, with fewer products. Both directions of a fact are rows, so
 * heads are predicted as tails of the inverse. The loss of relations is a softmax over all directed
 * relations, given head and tail; N3 is that of head, relation and tail of each fact.
 *
 * `candidates` > 0: a batch has rows of one relation, or of few, and its softmax runs over their
 * true tails and so many other entities: three quarters drawn among the tails of the relation,
 * the rest among all others, each with the weight that makes the sum unbiased. 0: over all. */
#ifndef ACQ_TRAIN_COMPLEX_H
#define ACQ_TRAIN_COMPLEX_H

#include "models/complex/model.h"

typedef struct acq_train_progress {
    const char *phase;
    double done, total; /* epochs, or batches: what the trainer counts in */
    double loss;        /* smoothed */
    double seconds;     /* since the start, resumed runs included */
} acq_train_progress;

/* Of the large products: bfloat16 where the processor has it, or one of the two anywhere. */
typedef enum acq_precision {
    ACQ_PRECISION_AUTO,
    ACQ_PRECISION_F32,
    ACQ_PRECISION_BF16
} acq_precision;

typedef struct acq_train_complex_params {
    uint32_t rank;
    acq_precision precision;
    double rate;            /* Adagrad's, for the first half */
    double last_rate;       /* share of it at the end: linear in the second half; 1: constant */
    uint32_t batch;         /* rows */
    uint32_t candidates;    /* 0: all entities; else at least 2 */
    double n3;              /* weight of the N3 norm */
    double relation_weight; /* of the loss of relations; negative: .3 where entities have 10 facts
                               or more on average, both directions counted, else 0 */
    double scale;           /* of the initial values */
    double epochs;
    double seconds; /* most; 0: no limit. Epochs then shrink: the schedule follows the time */
    uint64_t seed;
    unsigned n_threads;
    /* Start from these vectors, of this graph or a smaller one; NULL: from random ones. The first
     * of the epochs then only prepares Adagrad, so two or three are the least that helps. */
    const acq_complex *warm;
    const char *checkpoint; /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    bool (*progress)(void *context,
                     const acq_train_progress *now); /* false: stop, with a checkpoint */
    void *context;
} acq_train_complex_params;

void acq_train_complex_params_init(acq_train_complex_params *params);

/* Whether large products are of bfloat16 on this processor. */
bool acq_train_complex_is_half(const acq_train_complex_params *params);

/* ACQ_ERR_INTERRUPTED when progress said so: --resume goes on. The same seed gives the same bits at
 * any number of threads. */
acq_status acq_train_complex(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_complex **out, acq_error *error);

#endif
