/* nodes.h - which nodes ULTRA's rows run over.
 *
 * Equal entities: some entities are told apart by their names only, having the same links to the
 * same entities. Exchanging two of them changes nothing in the graph, so they have the same state
 * in every layer, unless one of them is the head. Two nodes are enough for any number of them: the
 * first stands for the head when it is among them, the second for all others.
 *
 *   entities  a b c d e      c, d, e: only a link to b
 *   nodes     0 1 2 3 3      partners of the nodes: 0 1 3 2
 *
 * With c as head, c is 2 and d, e are 3; with d as head, d is 2 and c, e are 3. With another head 2
 * and 3 have the same state. Of NELL's entities two fifths are leaves like these. Entities with a
 * link to themselves are left alone, which also means that no two equal ones are linked.
 *
 * Reach: distances from a set of nodes, up to the number of layers.
 *
 *   order  [ sources | distance 1 | distance 2 | ... ]     ends[d] closes distance d
 *
 * A state can differ from what it is without the head only where the head is within as many steps
 * as layers were run, and is needed only where an asked tail is within as many as are to come. */
#ifndef ACQ_MODELS_ULTRA_NODES_H
#define ACQ_MODELS_ULTRA_NODES_H

#include "models/edges.h"
#include "models/ultra/ultra.h"

typedef struct acq_ultra_nodes {
    uint32_t n_entities, n_nodes;
    uint32_t *nodes;    /* [entities] */
    uint32_t *partners; /* [nodes]: the other node of the same entities, or the node itself */
    uint32_t *counts;   /* [nodes]: entities that it stands for */
    acq_edges edges;    /* into the nodes: a source comes as often as it counts */
} acq_ultra_nodes;

/* O(edges + entities log entities). Opens all relations. */
acq_status acq_ultra_nodes_init(acq_ultra_nodes *self, const acq_graph *graph, acq_error *error);
void acq_ultra_nodes_deinit(acq_ultra_nodes *self); /* a zeroed one is legal */

/* The first of two partners stands for the head. */
static inline uint32_t acq_ultra_nodes_get_head(const acq_ultra_nodes *self, acq_ent head)
{
    uint32_t node = self->nodes[head], partner = self->partners[node];
    return partner < node ? partner : node;
}

/* The node of an entity in the row of a head. */
static inline uint32_t acq_ultra_nodes_get_node(const acq_ultra_nodes *self, acq_ent head,
                                                acq_ent entity)
{
    uint32_t node = self->nodes[entity], taken = acq_ultra_nodes_get_head(self, head);
    if (entity == head)
        return taken;
    return node == taken ? self->partners[node] : node;
}

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
