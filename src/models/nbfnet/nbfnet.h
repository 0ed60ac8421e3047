/* nbfnet.h - NBFNet as in GNN-QE: 4 layers, width 32, DistMult messages with relation vectors that
 * depend on the query relation, PNA aggregation, LayerNorm, ReLU, shortcut, boundary re-added.
 * The equations stand in network.h.
 *
 * Tensors: query [R x 32]; layer.{l}.relations.weight [R*32 x 32] .bias [R*32];
 *   layer.{l}.linear.weight [32 x 416] .bias [32]; layer.{l}.norm.weight [32] .bias [32];
 *   score.0.weight [64 x 64] .bias [64]; score.2.weight [1 x 64] .bias [1] */
#ifndef ACQ_PREDICT_NBFNET_H
#define ACQ_PREDICT_NBFNET_H

#include "models/model.h"
#include "tensor/safetensors.h"

enum { ACQ_NBFNET_WIDTH = 32, ACQ_NBFNET_LAYERS = 4 };

typedef struct acq_nbfnet {
    uint32_t n_relations; /* both directions */
    acq_parameters parameters;
} acq_nbfnet;

acq_status acq_nbfnet_new(uint32_t n_relations, uint64_t seed, acq_nbfnet **out, acq_error *error);
void acq_nbfnet_free(acq_nbfnet *model);

/* Metadata name the relations' fingerprint: a graph with other relations is refused. */
acq_status acq_nbfnet_read(const char *path, const acq_graph *graph, acq_nbfnet **out,
                           acq_error *error);
acq_status acq_nbfnet_write(const char *path, const acq_nbfnet *model, const acq_graph *graph,
                            const acq_metadata *metadata, size_t n_metadata, acq_error *error);

acq_status acq_nbfnet_new_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                    acq_row_model **out, acq_error *error);

/* A fuzzy set as boundary: entity e starts with weights[e] times the query vector; out gets a
 * raw score per entity. Scratch is the row model's. For query baselines. */
acq_status acq_nbfnet_project(const acq_row_model *model, void *scratch, acq_rel relation,
                              const float *weights, float *out, acq_error *error);

#endif
