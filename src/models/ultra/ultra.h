/* ultra.h - ULTRA: a link predictor without entity or relation vectors, for any graph.
 *
 * Relation graph: nodes are relation ids (both directions), edges of 4 kinds between relations that
 * share entities: head-head, tail-tail, head-tail, tail-head. A 6-layer NBFNet of width 64 on it,
 * with ones at the query relation as boundary, gives every relation a vector that depends on the
 * query relation. A second 6-layer NBFNet on the entities, whose messages are DistMult with these
 * vectors (each layer projects them by its own MLP), boundary the query relation's vector at the
 * head, gives each entity a state; an MLP on [state, query vector] gives the raw score.
 *
 * One layer of either network, for every node v (published code, sum aggregation, DistMult):
 *
 *   message(v) = boundary(v) + sum over edges (v, r, u) of relation(r) * state(u)
 *   state'(v)  = state(v) + ReLU(norm(linear [state(v), message(v)]))      (128 inputs)
 *
 * The first state is the boundary. Mind the direction: a stored fact (h, r, t) takes the state of
 * t to h, and an edge (row, column) of the relation graph takes that of the column to the row.
 * The relation net's boundary is ones at the query relation, the entity net's the query relation's
 * vector (not projected) at the head. Published weights were trained with ones at the even relation
 * of the query's pair, also where the odd one is asked, and must be run so (queries_pair); the
 * entity net's boundary is always the asked relation's vector. In the relation net relation(r) is a
 * row of `relations`, in the entity net project.2 ReLU project.0 of that relation's vector.
 *
 * Tensors (PyTorch's layout, weights are [outputs x inputs]); names in the order of the block:
 *   relation.{l}.relations  [4 x 64]            one vector per kind of edge
 *   relation.{l}.linear.weight [64 x 128] .bias [64]  relation.{l}.norm.weight [64] .bias [64]
 *   entity.{l}.project.0.weight [64 x 64] .bias       entity.{l}.project.2.weight [64 x 64] .bias
 *   entity.{l}.linear.* .norm.*                       as above
 *   score.0.weight [128 x 128] .bias [128]   score.2.weight [1 x 128] .bias [1]
 * The inputs of linear are [state, message], those of score.0 [state, query vector]. */
#ifndef ACQ_PREDICT_ULTRA_H
#define ACQ_PREDICT_ULTRA_H

#include "models/edges.h"
#include "models/model.h"
#include "tensor/safetensors.h"

enum { ACQ_ULTRA_WIDTH = 64, ACQ_ULTRA_LAYERS = 6, ACQ_ULTRA_KINDS = 4 };

/* Places in acq_parameters.tensors. */
typedef enum acq_ultra_relation_part {
    ACQ_ULTRA_RELATIONS,
    ACQ_ULTRA_RELATION_LINEAR_WEIGHT,
    ACQ_ULTRA_RELATION_LINEAR_BIAS,
    ACQ_ULTRA_RELATION_NORM_WEIGHT,
    ACQ_ULTRA_RELATION_NORM_BIAS,
    ACQ_ULTRA_RELATION_PARTS
} acq_ultra_relation_part;

typedef enum acq_ultra_entity_part {
    ACQ_ULTRA_PROJECT_0_WEIGHT,
    ACQ_ULTRA_PROJECT_0_BIAS,
    ACQ_ULTRA_PROJECT_2_WEIGHT,
    ACQ_ULTRA_PROJECT_2_BIAS,
    ACQ_ULTRA_ENTITY_LINEAR_WEIGHT,
    ACQ_ULTRA_ENTITY_LINEAR_BIAS,
    ACQ_ULTRA_ENTITY_NORM_WEIGHT,
    ACQ_ULTRA_ENTITY_NORM_BIAS,
    ACQ_ULTRA_ENTITY_PARTS
} acq_ultra_entity_part;

enum {
    ACQ_ULTRA_ENTITY_FIRST = ACQ_ULTRA_LAYERS * ACQ_ULTRA_RELATION_PARTS,
    ACQ_ULTRA_SCORE_0_WEIGHT = ACQ_ULTRA_ENTITY_FIRST + ACQ_ULTRA_LAYERS * ACQ_ULTRA_ENTITY_PARTS,
    ACQ_ULTRA_SCORE_0_BIAS,
    ACQ_ULTRA_SCORE_2_WEIGHT,
    ACQ_ULTRA_SCORE_2_BIAS,
    ACQ_ULTRA_TENSORS
};

static inline size_t acq_ultra_relation_tensor(size_t layer, acq_ultra_relation_part part)
{
    return layer * ACQ_ULTRA_RELATION_PARTS + part;
}

static inline size_t acq_ultra_entity_tensor(size_t layer, acq_ultra_entity_part part)
{
    return ACQ_ULTRA_ENTITY_FIRST + layer * ACQ_ULTRA_ENTITY_PARTS + part;
}

typedef struct acq_ultra {
    acq_parameters parameters;
    bool queries_pair; /* the relation net is asked by the even relation of a pair; in files the
                        * metadata "query": "pair"; else "own" */
} acq_ultra;

static inline float *acq_ultra_get(const acq_ultra *model, size_t tensor)
{
    return model->parameters.values + model->parameters.tensors[tensor].offset;
}

acq_status acq_ultra_new(uint64_t seed, acq_ultra **out, acq_error *error); /* initial weights */
void acq_ultra_free(acq_ultra *model);
acq_status acq_ultra_read(const char *path, acq_ultra **out, acq_error *error);
acq_status acq_ultra_read_memory(const void *bytes, size_t length, const char *name,
                                 acq_ultra **out, acq_error *error);
acq_status acq_ultra_write(const char *path, const acq_ultra *model, const acq_metadata *metadata,
                           size_t n_metadata, acq_error *error);

/* Kinds of edges, in the order of relation.{l}.relations: (row, column) share an entity that is
 * ... of the row and ... of the column. */
enum { ACQ_HEAD_HEAD, ACQ_TAIL_TAIL, ACQ_HEAD_TAIL, ACQ_TAIL_HEAD };

/* What the relation net is asked by for a query relation. */
static inline acq_rel acq_ultra_get_query(const acq_ultra *model, acq_rel relation)
{
    return model->queries_pair ? relation & ~(acq_rel)1 : relation;
}

/* Edges between relation ids, sorted by (kind, row, column), distinct; a relation with facts is its
 * own neighbour. */
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

/* Rows on the entities around their head (models/edges.h): what lies outside gives the messages
 * that are usual for its relation, and has no score. With room for all entities these are the rows
 * of acq_ultra_new_row_model. */
acq_status acq_ultra_new_near_row_model(const acq_ultra *model, const acq_graph *graph,
                                        const acq_around_params *params, acq_row_model **out,
                                        acq_error *error);

#endif
