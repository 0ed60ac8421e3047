/* prepared.h - what all rows of one relation share.
 *
 * A node that the head has not reached yet has the state that it would have without any head: its
 * background, which depends on the node and the query relation only. It is computed once per
 * relation for every layer; rows then compute what differs from it. */
#ifndef ACQ_MODELS_ULTRA_PREPARED_H
#define ACQ_MODELS_ULTRA_PREPARED_H

#include "models/edges.h"
#include "models/ultra/network.h"

typedef struct acq_ultra_prepared {
    acq_rel relation;                   /* ACQ_NO_ID: none yet */
    float *vectors;                     /* [relations x 64] */
    float *projected[ACQ_ULTRA_LAYERS]; /* [relations x 64]: as layer l uses them */
    /* [nodes x 64]: background states before layer l, and the messages it gets. All are 0 for the
     * first layer and are not kept. */
    float *states[ACQ_ULTRA_LAYERS], *messages[ACQ_ULTRA_LAYERS];
    float *scores;     /* [nodes] of the background */
    float *score_bias; /* [128] */
    float *work;
    void *block;
} acq_ultra_prepared;

acq_status acq_ultra_prepared_init(acq_ultra_prepared *prepared, uint32_t n_nodes,
                                   uint32_t n_relations);
void acq_ultra_prepared_deinit(acq_ultra_prepared *prepared); /* a zeroed one is legal */

/* relations and entities: the edges of the two networks. */
void acq_ultra_prepare(acq_ultra_prepared *prepared, const acq_ultra_network *network,
                       const acq_edges *relations, const acq_edges *entities, acq_rel relation);

#endif
