/* nbfnet_batch.h - the queries of one batch: hidden links, their subgraph, targets to score.
 *
 * Everything is drawn from (seed, number of the batch). Targets of a query are its positives, then
 * its negatives, as local ids of the subgraph. */
#ifndef ACQ_TRAIN_NBFNET_BATCH_H
#define ACQ_TRAIN_NBFNET_BATCH_H

#include "train/nbfnet.h"
#include "train/subgraph.h"

typedef struct acq_nbfnet_query {
    acq_ent head;
    acq_rel relation;
    size_t first_link, n_positives; /* its hidden links */
    uint32_t *targets;              /* room for most positives and negatives */
    size_t n_targets;
} acq_nbfnet_query;

typedef struct acq_nbfnet_batch {
    const acq_train_nbfnet_params *params;
    const acq_edges *world;
    const float *world_scales;
    acq_subgraph subgraph;
    float *scales; /* by local id */
    acq_nbfnet_query *queries;
    uint32_t *targets;
    acq_query_link *links;
    size_t n_links, links_room;
} acq_nbfnet_batch;

acq_status acq_nbfnet_batch_init(acq_nbfnet_batch *batch, const acq_train_nbfnet_params *params,
                                 const acq_edges *world, const float *scales, acq_error *error);
void acq_nbfnet_batch_deinit(acq_nbfnet_batch *batch); /* a zeroed one is legal */

acq_status acq_nbfnet_batch_draw(acq_nbfnet_batch *batch, uint64_t number, acq_error *error);

#endif
