/* rows.c - NBFNet as a row model: one query per row over all edges of a graph.
 *
 * The vectors of relations depend on the query relation: a scratch keeps those of the last one. */
#include <math.h>

#include "base/memory.h"
#include "models/nbfnet/network.h"

enum { D = ACQ_NBFNET_WIDTH, ROWS_TOGETHER = 16 };

typedef struct nbfnet_rows {
    acq_row_model base;
    acq_nbfnet_packed packed;
    acq_edges edges;
    float *scales;
} nbfnet_rows;

typedef struct nbfnet_scratch {
    acq_nbfnet_pass pass;
    acq_rel relation; /* of the vectors; ACQ_NO_ID: none yet */
    float *vectors;   /* [layers x relations x 32] */
    uint32_t *heads;  /* of fuzzy sets, with their weights: room for all entities */
    float *weights;
} nbfnet_scratch;

static const nbfnet_rows *get_rows(const acq_row_model *model)
{
    return (const nbfnet_rows *)model;
}

static void free_scratch(const acq_row_model *self, void *opaque)
{
    nbfnet_scratch *scratch = opaque;
    (void)self;
    if (scratch == NULL)
        return;
    acq_nbfnet_pass_deinit(&scratch->pass);
    acq_free(scratch->vectors);
    acq_free(scratch->heads);
    acq_free(scratch->weights);
    acq_free(scratch);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const nbfnet_rows *rows = get_rows(self);
    nbfnet_scratch *scratch = acq_zalloc(1, sizeof *scratch);
    if (scratch == NULL)
        return acq_fail_memory(error);
    scratch->relation = ACQ_NO_ID;
    scratch->vectors = acq_alloc((size_t)ACQ_NBFNET_LAYERS * rows->packed.model->n_relations,
                                 D * sizeof *scratch->vectors);
    scratch->heads = acq_alloc(rows->edges.n_nodes, sizeof *scratch->heads);
    scratch->weights = acq_alloc(rows->edges.n_nodes, sizeof *scratch->weights);
    if (scratch->vectors == NULL || scratch->heads == NULL || scratch->weights == NULL) {
        free_scratch(self, scratch);
        return acq_fail_memory(error);
    }
    *out = scratch;
    return ACQ_OK;
}

static void fill_vectors(const nbfnet_rows *rows, nbfnet_scratch *scratch, acq_rel relation)
{
    const acq_nbfnet *model = rows->packed.model;
    const acq_kernels *k = rows->packed.kernels;
    size_t n = (size_t)model->n_relations * D;
    if (scratch->relation == relation)
        return;
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++) {
        float *vectors = scratch->vectors + l * n;
        unsigned weights = acq_nbfnet_layer_tensor(l, ACQ_NBFNET_RELATIONS);
        const float *query = acq_nbfnet_get(model, ACQ_NBFNET_QUERY) + (size_t)relation * D;
        k->dot_rows(n, D, acq_nbfnet_get(model, weights), D, query, vectors);
        k->add(n, acq_nbfnet_get(model, weights + 1), vectors);
    }
    scratch->relation = relation;
}

static acq_nbfnet_input start_input(const nbfnet_rows *rows, nbfnet_scratch *scratch,
                                    acq_rel relation)
{
    const acq_nbfnet *model = rows->packed.model;
    acq_nbfnet_input input = {.edges = &rows->edges,
                              .scales = rows->scales,
                              .query =
                                  acq_nbfnet_get(model, ACQ_NBFNET_QUERY) + (size_t)relation * D};
    fill_vectors(rows, scratch, relation);
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++)
        input.vectors[l] = scratch->vectors + (size_t)l * model->n_relations * D;
    return input;
}

/* Weights are finite when they are read, yet sums of large ones may not be. */
static acq_status check_scores(const float *scores, size_t n, acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(scores[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the NBFNet model gives scores that are no numbers; train it anew");
    return ACQ_OK;
}

static acq_status run(const nbfnet_rows *rows, nbfnet_scratch *scratch,
                      const acq_nbfnet_input *input, float *out, acq_error *error)
{
    size_t n = input->targets == NULL ? rows->edges.n_nodes : input->n_targets;
    if (acq_nbfnet_forward(&rows->packed, input, false, &scratch->pass, out) != ACQ_OK)
        return acq_fail_memory(error);
    return check_scores(out, n, error);
}

static acq_status score(const acq_row_model *self, void *opaque, const acq_row_request *request,
                        acq_error *error)
{
    const nbfnet_rows *rows = get_rows(self);
    acq_nbfnet_input input = start_input(rows, opaque, request->relation);
    acq_status status = ACQ_OK;
    input.targets = request->tails;
    input.n_targets = request->n_tails;
    input.n_heads = 1;
    for (size_t i = 0; i < request->n_heads && status == ACQ_OK; i++) {
        input.heads = &request->heads[i];
        status = run(rows, opaque, &input, request->out + i * request->n_tails, error);
    }
    return status;
}

acq_status acq_nbfnet_project(const acq_row_model *model, void *scratch, acq_rel relation,
                              const float *weights, float *out, acq_error *error)
{
    const nbfnet_rows *rows = get_rows(model);
    nbfnet_scratch *mine = scratch;
    acq_nbfnet_input input = start_input(rows, mine, relation);
    for (uint32_t e = 0; e < rows->edges.n_nodes; e++) {
        if (!isfinite(weights[e]))
            return acq_fail(error, ACQ_ERR_USAGE,
                            "the weights of a fuzzy set must be finite, that of entity %u is not",
                            e);
        if (weights[e] == 0)
            continue;
        mine->heads[input.n_heads] = e;
        mine->weights[input.n_heads++] = weights[e];
    }
    input.heads = mine->heads;
    input.weights = mine->weights;
    return run(rows, mine, &input, out, error);
}

static void free_rows(acq_row_model *self)
{
    nbfnet_rows *rows = (nbfnet_rows *)self;
    acq_nbfnet_packed_deinit(&rows->packed);
    acq_edges_deinit(&rows->edges);
    acq_free(rows->scales);
    acq_free(rows);
}

static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                      .free_scratch = free_scratch,
                                      .score = score,
                                      .free = free_rows,
                                      .score_set = acq_nbfnet_project};

static acq_status fill_rows(nbfnet_rows *rows, const acq_nbfnet *model, acq_error *error)
{
    acq_status status = acq_edges_init(&rows->edges, rows->base.graph, error);
    if (status != ACQ_OK)
        return status;
    rows->scales = acq_alloc(rows->edges.n_nodes, sizeof *rows->scales);
    if (rows->scales == NULL || acq_nbfnet_packed_init(&rows->packed, model, false) != ACQ_OK)
        return acq_fail_memory(error);
    acq_nbfnet_fill_scales(&rows->edges, rows->scales);
    return ACQ_OK;
}

acq_status acq_nbfnet_new_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                    acq_row_model **out, acq_error *error)
{
    if (model->n_relations != acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the NBFNet model has %u relations and the graph %u; train one on this "
                        "graph with anycq train nbfnet",
                        model->n_relations, acq_graph_get_n_relations(graph));
    nbfnet_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){
        .ops = &ops, .graph = graph, .kind = "nbfnet", .batch = ROWS_TOGETHER, .is_costly = true};
    acq_status status = fill_rows(rows, model, error);
    if (status == ACQ_OK)
        *out = &rows->base;
    else
        free_rows(&rows->base);
    return status;
}
