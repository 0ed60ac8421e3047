/* ultra_relations.h - relation vectors for one query relation, forward and backward.
 *
 * The relation net on the relation graph of the whole training graph gives vectors [R x 64]; every
 * entity layer projects them by its own MLP. All queries of one relation share this work. */
#ifndef ACQ_TRAIN_ULTRA_RELATIONS_H
#define ACQ_TRAIN_ULTRA_RELATIONS_H

#include "train/ultra_stack.h"

/* The relation graph as edges: the relation of an edge is its kind. */
acq_status acq_ultra_relation_edges_init(acq_edges *edges, const acq_graph *graph,
                                         acq_error *error);

typedef struct acq_ultra_relations {
    acq_ultra_stack stack;
    uint32_t most;                      /* relations there is room for */
    float *vectors, *dvectors;          /* [R x 64], of the relation net */
    float *hidden[ACQ_ULTRA_LAYERS];    /* [R x 64], ReLU(project.0) */
    float *projected[ACQ_ULTRA_LAYERS]; /* [R x 64] */
    float *dprojected[ACQ_ULTRA_LAYERS];
    float *dhidden; /* [R x 64] */
    uint32_t *all;  /* 0, 1, ..: every relation's vector is wanted */
    float *block;
} acq_ultra_relations;

acq_status acq_ultra_relations_init(acq_ultra_relations *relations, const acq_ultra *model,
                                    const acq_ultra_packed *packed, uint32_t most,
                                    acq_error *error);
void acq_ultra_relations_deinit(acq_ultra_relations *relations);

/* Fills vectors and projected; clears dvectors and dprojected, for queries to add to. */
void acq_ultra_relations_forward(acq_ultra_relations *relations, const acq_edges *edges,
                                 acq_rel relation);
void acq_ultra_relations_backward(acq_ultra_relations *relations, const acq_edges *edges,
                                  acq_rel relation, float *gradient);

#endif
