/* nbfnet.h - inside the training of NBFNet: the queries of one batch, with the links that they
 * hide, their subgraph and the targets to score.
 *
 * Everything is drawn from (seed, number of the batch). Targets of a query are its positives, then
 * its negatives, as local ids of the subgraph. */
#ifndef ACQ_TRAIN_NBFNET_H
#define ACQ_TRAIN_NBFNET_H

#include "models/nbfnet/gradient.h"
#include "train/subgraph.h"
#include "train/train.h"

typedef struct acq_nbfnet_batch {
    const acq_train_nbfnet_params *params;
    const acq_edges *world;
    const float *world_scales;
    acq_subgraph subgraph;
    float *scales;             /* by local id */
    acq_nbfnet_query *queries; /* with room for most positives and negatives */
    acq_ent *heads;            /* of the queries, in the whole graph */
    size_t *first_links;       /* of the queries: n_positives of `links` are theirs */
    uint32_t *targets;
    acq_query_link *links;
    size_t n_links, links_room;
} acq_nbfnet_batch;

acq_status acq_nbfnet_batch_init(acq_nbfnet_batch *batch, const acq_train_nbfnet_params *params,
                                 const acq_edges *world, const float *scales, acq_error *error);
void acq_nbfnet_batch_deinit(acq_nbfnet_batch *batch); /* a zeroed one is legal */

acq_status acq_nbfnet_batch_draw(acq_nbfnet_batch *batch, uint64_t number, acq_error *error);

#endif
