/* nbfnet.h - NBFNet as in GNN-QE: 4 layers or another number, width 32, DistMult messages with
 * relation vectors that depend on the query relation, PNA or sum aggregation, LayerNorm, ReLU,
 * shortcut, boundary re-added; and as in A*Net: layers that visit a part of the nodes and links.
 * The equations stand in network.h.
 *
 * Tensors, in the order of their block:
 *   query                              [R x 32]      a vector per query relation
 *   score.0.weight .bias               [64 x 64]     columns: state, query vector
 *   score.2.weight .bias               [1 x 64]
 *   layer.{l}.relations.weight .bias   [R*32 x 32]   row r*32 + c: number c of relation r's vector
 *   layer.{l}.linear.weight .bias      [32 x 416]    columns: own state, then the aggregates mean,
 *                                                    max, min, std (32 each) times 1, s and 1/s;
 *                                      [32 x 64]     own state, then the sum
 *   layer.{l}.norm.weight .bias        [32] */
#ifndef ACQ_MODELS_NBFNET_NBFNET_H
#define ACQ_MODELS_NBFNET_NBFNET_H

#include "models/edges.h"
#include "models/model.h"
#include "tensor/safetensors.h"

enum { ACQ_NBFNET_WIDTH = 32, ACQ_NBFNET_LAYERS = 4, ACQ_NBFNET_MOST_LAYERS = 8 };

/* Which nodes and links a layer after the first visits: those of the highest priority, which is
 * what the score's network says of their states. Shares of all nodes and links; nodes 0: all of
 * both, without asking for priorities unless messages are weighted. */
typedef struct acq_nbfnet_visit {
    float nodes, edges;
} acq_nbfnet_visit;

typedef struct acq_nbfnet_shape {
    unsigned layers;
    bool sums;   /* messages are summed; else mean, max, min and standard deviation */
    bool weighs; /* a message is weighted by its source's priority, so that this is learnt */
    acq_nbfnet_visit visit; /* as it was trained */
} acq_nbfnet_shape;

typedef struct acq_nbfnet {
    uint32_t n_relations; /* both directions */
    acq_nbfnet_shape shape;
    acq_parameters parameters;
} acq_nbfnet;

enum {
    ACQ_NBFNET_AGGREGATES = 4 * ACQ_NBFNET_WIDTH, /* mean, max, min, std */
    ACQ_NBFNET_SCALES = 3,                        /* 1, s, 1/s */
    ACQ_NBFNET_HIDDEN = 2 * ACQ_NBFNET_WIDTH,     /* of the score's two products */
};

/* Of a node's aggregates in this model; the two numbers above are the most there are. */
static inline unsigned acq_nbfnet_count_aggregates(const acq_nbfnet *model)
{
    return model->shape.sums ? ACQ_NBFNET_WIDTH : ACQ_NBFNET_AGGREGATES;
}

static inline unsigned acq_nbfnet_count_scales(const acq_nbfnet *model)
{
    return model->shape.sums ? 1 : ACQ_NBFNET_SCALES;
}

static inline unsigned acq_nbfnet_count_inputs(const acq_nbfnet *model)
{
    return ACQ_NBFNET_WIDTH + acq_nbfnet_count_scales(model) * acq_nbfnet_count_aggregates(model);
}

typedef enum acq_nbfnet_part { /* of a layer */
                               ACQ_NBFNET_RELATIONS,
                               ACQ_NBFNET_RELATIONS_BIAS,
                               ACQ_NBFNET_LINEAR,
                               ACQ_NBFNET_LINEAR_BIAS,
                               ACQ_NBFNET_NORM,
                               ACQ_NBFNET_NORM_BIAS,
                               ACQ_NBFNET_LAYER_PARTS,
} acq_nbfnet_part;

enum {
    ACQ_NBFNET_QUERY = 0,
    ACQ_NBFNET_SCORE_0,
    ACQ_NBFNET_SCORE_0_BIAS,
    ACQ_NBFNET_SCORE_2,
    ACQ_NBFNET_SCORE_2_BIAS,
    ACQ_NBFNET_FIRST_LAYER,
    ACQ_NBFNET_MOST_TENSORS =
        ACQ_NBFNET_FIRST_LAYER + ACQ_NBFNET_MOST_LAYERS * ACQ_NBFNET_LAYER_PARTS,
};

static inline unsigned acq_nbfnet_layer_tensor(unsigned layer, acq_nbfnet_part part)
{
    return ACQ_NBFNET_FIRST_LAYER + layer * ACQ_NBFNET_LAYER_PARTS + part;
}

static inline unsigned acq_nbfnet_count_tensors(const acq_nbfnet_shape *shape)
{
    return acq_nbfnet_layer_tensor(shape->layers, ACQ_NBFNET_RELATIONS);
}

static inline float *acq_nbfnet_get(const acq_nbfnet *model, unsigned tensor)
{
    return model->parameters.values + model->parameters.tensors[tensor].offset;
}

/* The gradient of relation vectors is gathered apart (network.h). */
static inline bool acq_nbfnet_is_relational(unsigned tensor)
{
    return tensor == ACQ_NBFNET_QUERY ||
           (tensor >= ACQ_NBFNET_FIRST_LAYER &&
            (tensor - ACQ_NBFNET_FIRST_LAYER) % ACQ_NBFNET_LAYER_PARTS < ACQ_NBFNET_LINEAR);
}

/* 4 layers, PNA, nothing pruned. */
acq_status acq_nbfnet_new(uint32_t n_relations, uint64_t seed, acq_nbfnet **out, acq_error *error);
acq_status acq_nbfnet_new_shaped(uint32_t n_relations, const acq_nbfnet_shape *shape, uint64_t seed,
                                 acq_nbfnet **out, acq_error *error);
void acq_nbfnet_free(acq_nbfnet *model);

/* Metadata name the relations' fingerprint: a graph with other relations is refused. */
acq_status acq_nbfnet_read(const char *path, const acq_graph *graph, acq_nbfnet **out,
                           acq_error *error);
acq_status acq_nbfnet_write(const char *path, const acq_nbfnet *model, const acq_graph *graph,
                            const acq_metadata *metadata, size_t n_metadata, acq_error *error);

acq_status acq_nbfnet_new_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                    acq_row_model **out, acq_error *error);

/* Rows on the entities around their head and the links between them (models/edges.h); what lies
 * outside has no score. With room for all entities these are the rows of acq_nbfnet_new_row_model.
 */
acq_status acq_nbfnet_new_near_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                         const acq_around_params *params, acq_row_model **out,
                                         acq_error *error);

/* A fuzzy set as boundary: entity e starts with weights[e] times the query vector; out gets a
 * raw score per entity. Scratch is the row model's. For query baselines. */
acq_status acq_nbfnet_project(const acq_row_model *model, void *scratch, acq_rel relation,
                              const float *weights, float *out, acq_error *error);

#endif
