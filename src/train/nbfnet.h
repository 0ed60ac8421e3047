/* nbfnet.h - trains NBFNet on one-hop queries of one graph.
 *
 * Binary cross-entropy of the true tails against sampled negatives with self-adversarial weights
 * (temperature 0.2), Adam; directly traversable edges of a batch's own links are dropped with
 * `edge_dropout`. A batch's queries share one sampled subgraph when most_entities says so. */
#ifndef ACQ_TRAIN_NBFNET_H
#define ACQ_TRAIN_NBFNET_H

#include "predict/nbfnet/nbfnet.h"
#include "tensor/optimizer.h"
#include "train/complex.h"

typedef struct acq_train_nbfnet_params {
    uint32_t batch;
    uint32_t negatives; /* per query */
    double temperature;
    double edge_dropout;
    uint32_t most_entities; /* of a subgraph; 0: the whole graph */
    uint32_t most_edges;
    acq_optimizer_params optimizer;
    uint64_t batches;
    double seconds;
    uint64_t seed;
    unsigned n_threads;
    const char *checkpoint;
    double checkpoint_seconds;
    bool resume;
    bool (*progress)(void *context, const acq_train_progress *now);
    void *context;
} acq_train_nbfnet_params;

void acq_train_nbfnet_params_init(acq_train_nbfnet_params *params);

acq_status acq_train_nbfnet(const acq_graph *graph, const acq_train_nbfnet_params *params,
                            acq_nbfnet **out, acq_error *error);

#endif
