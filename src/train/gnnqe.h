/* gnnqe.h - inside the training of GNN-QE (Zhu et al. 2022): queries of a batch, run as programs
 * over fuzzy sets, and what they teach NBFNet.
 *
 *   2i    s1 ─▶ project ─┐                 a projection is one pass of the network: its input
 *         s2 ─▶ project ─┴▶ x y ─▶ loss    set is the boundary, sigmoids are its output
 *
 * and = x y, not = 1 - x. Input sets are constants: only projections without another one after them
 * learn. Beside the network a Boolean traversal of the graph goes through the same program: its
 * last set has the positives, and of the edges that a projection would walk along a share is taken
 * away from that projection, each direction for itself, never a node's last edge. Loss: that of
 * NBFNet (models/nbfnet/network.h) on log(p / (1 - p)) over all entities of the subgraph.
 *
 * A query has a subgraph of its own around the assignment that it was read off, with its links.
 * Everything is drawn from (seed, number of the batch, number of the query). */
#ifndef ACQ_TRAIN_GNNQE_H
#define ACQ_TRAIN_GNNQE_H

#include "models/nbfnet/network.h"
#include "query/sets.h"
#include "train/batch.h"
#include "train/train.h"

enum { ACQ_GNNQE_MOST_PASSES = 3, ACQ_GNNQE_MOST_NODES = 16 }; /* of a query */

typedef struct acq_gnnqe_query {
    acq_set_tree *tree;
    acq_query_link near[ACQ_GNNQE_MOST_PASSES]; /* what its subgraph is drawn around */
    size_t n_near;
    uint32_t first_pass; /* of the batch */
    uint64_t key;        /* of its random numbers */
    double loss;
} acq_gnnqe_query;

typedef struct acq_gnnqe_room { /* of one thread, as its last query left it */
    acq_subgraph subgraph;
    float *scales;
    uint8_t *is_source;                     /* by local id: the projection walks from here */
    acq_edges edges[ACQ_GNNQE_MOST_PASSES]; /* of each pass */
    acq_nbfnet_pass passes[ACQ_GNNQE_MOST_PASSES];
    acq_nbfnet_input inputs[ACQ_GNNQE_MOST_PASSES];
    uint32_t *heads[ACQ_GNNQE_MOST_PASSES];
    float *weights[ACQ_GNNQE_MOST_PASSES];
    uint8_t *truths[ACQ_GNNQE_MOST_NODES]; /* by entity of the world */
    double *degrees[ACQ_GNNQE_MOST_NODES]; /* by local id */
    double *slopes[ACQ_GNNQE_MOST_NODES];
    float *scores, *score_slopes;
    uint32_t *order; /* positives first */
    uint32_t n_passes;
} acq_gnnqe_room;

typedef struct acq_gnnqe_batch {
    const acq_train_nbfnet_params *params;
    const acq_edges *world;
    const float *scales; /* of the world's nodes */
    const acq_sampler *sampler;
    acq_gnnqe_query *queries; /* params->batch */
    acq_rel *relations;       /* of the passes */
    uint32_t n_passes;
    acq_gnnqe_room **rooms;
} acq_gnnqe_batch;

acq_status acq_gnnqe_batch_init(acq_gnnqe_batch *batch, const acq_train_nbfnet_params *params,
                                const acq_edges *world, const float *scales,
                                const acq_sampler *sampler, acq_error *error);
void acq_gnnqe_batch_deinit(acq_gnnqe_batch *batch); /* a zeroed one is legal */

acq_status acq_gnnqe_batch_draw(acq_gnnqe_batch *batch, uint64_t number, acq_error *error);

/* Mean loss of the queries drawn, and gradient->values. */
acq_status acq_gnnqe_batch_compute(acq_gnnqe_batch *batch, acq_nbfnet_gradient *gradient,
                                   double *loss, acq_error *error);

#endif
