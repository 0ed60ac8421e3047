/* relation_net.h - the first of ULTRA's two networks: relation vectors for a query relation. */
#ifndef ACQ_MODELS_ULTRA_RELATION_NET_H
#define ACQ_MODELS_ULTRA_RELATION_NET_H

#include "models/edges.h"
#include "models/ultra/network.h"

/* The relation graph as edges: nodes are relations, the 4 kinds the relations between them. */
acq_status acq_relation_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error);

/* vectors[relations x 64] for one query relation; work is 2 x relations x 64 floats. */
void acq_ultra_compute_vectors(const acq_ultra_network *network, const acq_edges *edges,
                               acq_rel query, float *vectors, float *work);

#endif
