/* neighbours.h - all links of an entity, whatever the relation, grouped by the other end:
 * where two such lists meet are the paths of two hops between two entities. */
#ifndef ACQ_MODELS_RULES_NEIGHBOURS_H
#define ACQ_MODELS_RULES_NEIGHBOURS_H

#include "graph/graph.h"

typedef struct acq_neighbour {
    acq_ent entity;
    acq_rel relation; /* from the list's owner to the entity */
} acq_neighbour;

typedef struct acq_neighbours {
    size_t *offsets;    /* n_entities + 1 */
    acq_neighbour *all; /* lists sorted by entity */
} acq_neighbours;

/* links[0..n_relations) of one graph, closed under inverses. O(links), and so is its memory. */
acq_status acq_neighbours_init(acq_neighbours *neighbours, const acq_links *const *links,
                               uint32_t n_relations, uint32_t n_entities);
void acq_neighbours_deinit(acq_neighbours *neighbours);

/* One entity z that x and y are both linked to: the links of either to it. */
typedef struct acq_meeting {
    const acq_neighbour *of_x, *of_y;
    uint32_t n_x, n_y;
} acq_meeting;

typedef struct acq_meetings {
    acq_meeting *all;
    size_t n, capacity;
    uint64_t n_paths; /* sum of n_x * n_y */
} acq_meetings;

/* All meetings of x and y but x and y themselves. O(shorter list * log) or O(both lists). */
acq_status acq_neighbours_meet(const acq_neighbours *neighbours, acq_ent x, acq_ent y,
                               acq_meetings *out);

/* The links from x to y; how many. */
uint32_t acq_neighbours_between(const acq_neighbours *neighbours, acq_ent x, acq_ent y,
                                const acq_neighbour **out);

#endif
