/* ultra_unit.h - a few queries of one relation of one graph, drawn at random, with their gradient.
 *
 * A unit's queries share the relation vectors and one subgraph, from which all their own links are
 * taken out in both directions. A batch is several units, of different graphs. Everything drawn
 * follows from the unit's random key. */
#ifndef ACQ_TRAIN_ULTRA_UNIT_H
#define ACQ_TRAIN_ULTRA_UNIT_H

#include "train/subgraph.h"
#include "train/ultra.h"
#include "train/ultra_query.h"

/* A graph to learn from; shared by threads. */
typedef struct acq_ultra_world {
    const acq_graph *graph; /* borrowed */
    acq_edges edges;
    acq_edges relation_edges;
} acq_ultra_world;

acq_status acq_ultra_world_init(acq_ultra_world *world, const acq_graph *graph, acq_error *error);
void acq_ultra_world_deinit(acq_ultra_world *world); /* a zeroed one is legal */

typedef struct acq_ultra_room acq_ultra_room; /* what one thread works in */

acq_status acq_ultra_room_new(const acq_ultra_world *worlds, size_t n_worlds,
                              const acq_train_ultra_params *params, const acq_ultra *model,
                              const acq_ultra_packed *packed, acq_ultra_room **out,
                              acq_error *error);
void acq_ultra_room_free(acq_ultra_room *room);

/* Draws the unit of this key and adds its gradient, each query weighing 1 / params->batch; *loss is
 * the sum over its queries. */
acq_status acq_ultra_room_run(acq_ultra_room *room, uint64_t key, float *gradient, double *loss,
                              acq_error *error);

#endif
