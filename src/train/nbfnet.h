/* nbfnet.h - trains NBFNet on one-hop queries of one graph.
 *
 * A query is drawn as a fact in one of its two directions: (head, relation), and every tail of that
 * row is hidden with the chance `edge_dropout`, that of the fact always (at most
 * ACQ_NBFNET_MOST_POSITIVES of them). The hidden tails are the positives; their links are taken out
 * of the graph for all queries of the batch. Loss: binary cross-entropy, half of it the mean over
 * the positives and half over strict negatives with self-adversarial weights, which are
 * softmax(score / temperature). Adam. A batch's queries share one sampled subgraph when
 * most_entities says so; degrees are then still those of the whole graph. */
#ifndef ACQ_TRAIN_NBFNET_H
#define ACQ_TRAIN_NBFNET_H

#include "models/nbfnet/nbfnet.h"
#include "tensor/optimizer.h"
#include "train/complex.h"

enum { ACQ_NBFNET_MOST_POSITIVES = 32 };

typedef struct acq_train_nbfnet_params {
    uint32_t batch;
    uint32_t negatives; /* per query */
    double temperature;
    double edge_dropout;
    bool drops_pairs;       /* hides all links between the head and a positive */
    uint32_t most_entities; /* of a subgraph; 0: the whole graph */
    uint32_t most_edges;    /* of a subgraph, both directions; 0: no limit */
    uint32_t most_near;     /* neighbours taken of one entity; 0: no limit */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time alone */
    double seconds;   /* most; 0: no limit. The schedule then follows it */
    uint64_t seed;
    unsigned n_threads;
    const acq_nbfnet *warm; /* start from these weights; NULL: from random ones */
    const char *checkpoint; /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    bool (*progress)(void *context, const acq_train_progress *now);
    void *context;
} acq_train_nbfnet_params;

void acq_train_nbfnet_params_init(acq_train_nbfnet_params *params);

/* ACQ_ERR_INTERRUPTED when progress said so: resume goes on. The same seed gives the same bits at
 * any number of threads, when no time limit shapes the schedule. */
acq_status acq_train_nbfnet(const acq_graph *graph, const acq_train_nbfnet_params *params,
                            acq_nbfnet **out, acq_error *error);

#endif
