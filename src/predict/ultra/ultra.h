/* ultra.h - ULTRA: a link predictor without entity or relation vectors, for any graph.
 *
 * Relation graph: nodes are relation ids (both directions), edges of 4 kinds between relations that
 * share entities: head-head, tail-tail, head-tail, tail-head. A 6-layer NBFNet of width 64 on it,
 * with ones at the query relation as boundary, gives every relation a vector that depends on the
 * query relation. A second 6-layer NBFNet on the entities, whose messages are DistMult with these
 * vectors (each layer projects them by its own MLP), boundary the query relation's vector at the
 * head, gives each entity a state; an MLP on [state, query vector] gives the raw score.
 *
 * Tensors (PyTorch's layout, weights are [outputs x inputs]); names in the order of the block:
 *   relation.{l}.relations  [4 x 64]            one vector per kind of edge
 *   relation.{l}.linear.weight [64 x 128] .bias [64]  relation.{l}.norm.weight [64] .bias [64]
 *   entity.{l}.project.0.weight [64 x 64] .bias       entity.{l}.project.2.weight [64 x 64] .bias
 *   entity.{l}.linear.* .norm.*                       as above
 *   score.0.weight [128 x 128] .bias [128]   score.2.weight [1 x 128] .bias [1]
 * Input of linear is [aggregated messages + boundary... see model.c], as the published code has it.
 */
#ifndef ACQ_PREDICT_ULTRA_H
#define ACQ_PREDICT_ULTRA_H

#include "predict/row_model.h"
#include "tensor/safetensors.h"

enum { ACQ_ULTRA_WIDTH = 64, ACQ_ULTRA_LAYERS = 6, ACQ_ULTRA_KINDS = 4 };

typedef struct acq_ultra {
    acq_parameters parameters;
} acq_ultra;

acq_status acq_ultra_new(uint64_t seed, acq_ultra **out, acq_error *error); /* initial weights */
void acq_ultra_free(acq_ultra *model);
acq_status acq_ultra_read(const char *path, acq_ultra **out, acq_error *error);
acq_status acq_ultra_read_memory(const void *bytes, size_t length, const char *name,
                                 acq_ultra **out, acq_error *error);
acq_status acq_ultra_write(const char *path, const acq_ultra *model, const acq_metadata *metadata,
                           size_t n_metadata, acq_error *error);

/* Edges between relation ids, sorted by (kind, row, column), distinct. */
typedef struct acq_relation_graph {
    uint32_t n_relations;
    uint32_t *offsets[ACQ_ULTRA_KINDS]; /* n_relations + 1 each: rows of columns */
    acq_rel *columns[ACQ_ULTRA_KINDS];
} acq_relation_graph;

acq_status acq_relation_graph_init(acq_relation_graph *out, const acq_graph *graph,
                                   acq_error *error);
void acq_relation_graph_deinit(acq_relation_graph *graph);

/* model and graph are borrowed. Opens all relations: memory for the edges of the graph. */
acq_status acq_ultra_new_row_model(const acq_ultra *model, const acq_graph *graph,
                                   acq_row_model **out, acq_error *error);

#endif
