/* twins.h - entities that only their names tell apart: the same links to the same entities.
 *
 * Exchanging two twins changes nothing in the graph, so they have the same state in every layer,
 * unless one of them is the head. Two nodes are enough for any number of twins: the first stands
 * for the head when it is among them, the second for all others.
 *
 *   entities  a b c d e      c, d, e: only a link to b
 *   nodes     0 1 2 3 3      partners of the nodes: 0 1 3 2
 *
 * With c as head, c is 2 and d, e are 3; with d as head, d is 2 and c, e are 3. With another head 2
 * and 3 have the same state. Of NELL's entities two fifths are leaves like these. Entities with a
 * link to themselves are left alone, which also means that no two twins are linked. */
#ifndef ACQ_MODELS_ULTRA_TWINS_H
#define ACQ_MODELS_ULTRA_TWINS_H

#include "models/edges.h"

typedef struct acq_twins {
    uint32_t n_entities, n_nodes;
    uint32_t *nodes;    /* [entities] */
    uint32_t *partners; /* [nodes]: the other node of the same twins, or the node itself */
    uint32_t *counts;   /* [nodes]: entities that it stands for */
    acq_edges edges;    /* into the nodes: a source comes as often as it counts */
} acq_twins;

/* O(edges + entities log entities). Opens all relations. */
acq_status acq_twins_init(acq_twins *twins, const acq_graph *graph, acq_error *error);
void acq_twins_deinit(acq_twins *twins); /* a zeroed one is legal */

/* The first of two partners stands for the head. */
static inline uint32_t acq_twins_get_head(const acq_twins *twins, acq_ent head)
{
    uint32_t node = twins->nodes[head], partner = twins->partners[node];
    return partner < node ? partner : node;
}

/* The node of an entity in the row of a head. */
static inline uint32_t acq_twins_get_node(const acq_twins *twins, acq_ent head, acq_ent entity)
{
    uint32_t node = twins->nodes[entity], taken = acq_twins_get_head(twins, head);
    if (entity == head)
        return taken;
    return node == taken ? twins->partners[node] : node;
}

#endif
