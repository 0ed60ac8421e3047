/* ultra.h - trains ULTRA on several graphs, mixed in proportion to their facts.
 *
 * A batch consists of groups: queries of one relation of one graph, which share one sampled
 * subgraph (entities around the heads and tails), from which their own links are removed; the
 * relation graph is that of the whole training graph. Loss: binary cross-entropy of the true tails
 * against strict negatives with self-adversarial weights, AdamW. */
#ifndef ACQ_TRAIN_ULTRA_H
#define ACQ_TRAIN_ULTRA_H

#include "models/ultra/ultra.h"
#include "tensor/optimizer.h"
#include "train/complex.h"

typedef struct acq_train_ultra_params {
    uint32_t batch;         /* queries */
    uint32_t group;         /* queries of one relation and one subgraph; batch is a multiple */
    uint32_t tails;         /* most true tails of a head that one query asks for */
    uint32_t negatives;     /* per query */
    double temperature;     /* of the self-adversarial weights; 0: equal weights */
    uint32_t most_entities; /* of the largest subgraphs; 0: the whole graph */
    uint32_t most_edges;    /* of a subgraph, both directions; 0: no limit */
    uint32_t most_near;     /* neighbours of one entity that a subgraph grows by; 0: no limit */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time */
    double seconds;   /* most; 0: no limit */
    uint64_t seed;
    unsigned n_threads;
    const acq_ultra *warm; /* NULL: initial weights */
    const char *checkpoint;
    double checkpoint_seconds;
    bool resume;
    bool (*progress)(void *context, const acq_train_progress *now);
    void *context;
} acq_train_ultra_params;

void acq_train_ultra_params_init(acq_train_ultra_params *params);

acq_status acq_train_ultra(const acq_graph *const *graphs, size_t n_graphs,
                           const acq_train_ultra_params *params, acq_ultra **out, acq_error *error);

#endif
