/* reach.h - which nodes are near: distances from a set of nodes, up to the number of layers.
 *
 *   order  [ sources | distance 1 | distance 2 | ... ]     ends[d] closes distance d
 *
 * A state can differ from what it is without the head only where the head is within as many steps
 * as layers were run, and is needed only where an asked tail is within as many as are to come. */
#ifndef ACQ_MODELS_ULTRA_REACH_H
#define ACQ_MODELS_ULTRA_REACH_H

#include "models/edges.h"
#include "models/ultra/ultra.h"

enum { ACQ_REACH_MOST = ACQ_ULTRA_LAYERS, ACQ_REACH_NEVER = ACQ_REACH_MOST + 1 };

typedef struct acq_reach {
    uint32_t n_nodes;
    uint8_t *distances; /* ACQ_REACH_NEVER: farther than ACQ_REACH_MOST */
    uint32_t *order;
    uint32_t ends[ACQ_REACH_MOST + 1];
    uint64_t edges[ACQ_REACH_MOST + 1]; /* of the nodes within that distance */
} acq_reach;

acq_status acq_reach_init(acq_reach *reach, uint32_t n_nodes);
void acq_reach_deinit(acq_reach *reach); /* a zeroed one is legal */

/* sources NULL: all nodes. Those are distinct. */
void acq_reach_run(acq_reach *reach, const acq_edges *edges, const uint32_t *sources,
                   size_t n_sources);

static inline uint32_t acq_edges_get_degree(const acq_edges *edges, uint32_t node)
{
    return edges->begins[edges->rows[node + 1]] - edges->begins[edges->rows[node]];
}

#endif
