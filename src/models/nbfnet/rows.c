/* rows.c - NBFNet as a row model: one query per row over all edges of a graph, or over those
 * between the entities around the head.
 *
 * The vectors of relations depend on the query relation: a scratch keeps those of the last one. */
#include <math.h>

#include "base/memory.h"
#include "models/nbfnet/network.h"

enum { D = ACQ_NBFNET_WIDTH, ROWS_TOGETHER = 16, SMALL = 65536 };

static const float NOTHING = -30; /* the score of what is not around the head */

typedef struct nbfnet_rows {
    acq_row_model base;
    acq_nbfnet_packed packed;
    acq_edges edges; /* of all entities; none where rows are near ones */
    float *scales;   /* of all entities */
    acq_around_params params;
    acq_around_index index; /* of near rows */
} nbfnet_rows;

typedef struct nbfnet_scratch {
    acq_nbfnet_pass pass;
    acq_rel relation; /* of the vectors; ACQ_NO_ID: none yet */
    float *vectors;   /* [layers x relations x 32] */
    uint32_t *heads;  /* of fuzzy sets, with their weights: room for all entities */
    float *weights;
    acq_around around; /* of near rows, as what follows */
    acq_rel of;        /* frequent tails of this relation; ACQ_NO_ID: of none yet */
    acq_ent *frequent;
    size_t n_frequent, frequent_room;
    float *scales, *scores; /* of the nodes */
    size_t scales_room, scores_room;
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
    acq_around_deinit(&scratch->around);
    acq_free(scratch->frequent);
    acq_free(scratch->scales);
    acq_free(scratch->scores);
    acq_free(scratch);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const nbfnet_rows *rows = get_rows(self);
    nbfnet_scratch *scratch = acq_zalloc(1, sizeof *scratch);
    if (scratch == NULL)
        return acq_fail_memory(error);
    scratch->relation = scratch->of = ACQ_NO_ID;
    scratch->vectors =
        acq_alloc((size_t)rows->packed.model->shape.layers * rows->packed.model->n_relations,
                  D * sizeof *scratch->vectors);
    scratch->heads = acq_alloc(rows->edges.n_nodes, sizeof *scratch->heads);
    scratch->weights = acq_alloc(rows->edges.n_nodes, sizeof *scratch->weights);
    if (scratch->vectors == NULL || scratch->heads == NULL || scratch->weights == NULL) {
        free_scratch(self, scratch);
        return acq_fail_memory(error);
    }
    acq_status status = ACQ_OK;
    if (rows->index.links != NULL)
        status = acq_around_init(&scratch->around, &rows->index, &rows->params, error);
    if (status == ACQ_OK)
        *out = scratch;
    else
        free_scratch(self, scratch);
    return status;
}

static void fill_vectors(const nbfnet_rows *rows, nbfnet_scratch *scratch, acq_rel relation)
{
    const acq_nbfnet *model = rows->packed.model;
    const acq_kernels *k = rows->packed.kernels;
    size_t n = (size_t)model->n_relations * D;
    if (scratch->relation == relation)
        return;
    for (unsigned l = 0; l < model->shape.layers; l++) {
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
                              .visit = model->shape.visit,
                              .query =
                                  acq_nbfnet_get(model, ACQ_NBFNET_QUERY) + (size_t)relation * D};
    fill_vectors(rows, scratch, relation);
    for (unsigned l = 0; l < model->shape.layers; l++)
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
    size_t n = input->targets == NULL ? input->edges->n_nodes : input->n_targets;
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

/* ---- rows around the head ---- */

static acq_status find_frequent(const nbfnet_rows *rows, nbfnet_scratch *s, acq_rel relation)
{
    size_t most = ACQ_AROUND_FREQUENT(rows->params.most_nodes);
    if (s->of == relation)
        return ACQ_OK;
    s->of = ACQ_NO_ID;
    acq_status status = ACQ_RESERVE(s->frequent, s->frequent_room, most);
    if (status == ACQ_OK)
        status =
            acq_around_list_frequent(&rows->index, relation, most, s->frequent, &s->n_frequent);
    if (status == ACQ_OK)
        s->of = relation;
    return status;
}

static acq_status run_near(const nbfnet_rows *rows, nbfnet_scratch *s, acq_rel relation,
                           acq_ent head, acq_error *error)
{
    acq_status status = find_frequent(rows, s, relation);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    status = acq_around_find(&s->around, head, s->frequent, s->n_frequent, error);
    if (status != ACQ_OK)
        return status;
    size_t n = s->around.n;
    if (ACQ_RESERVE(s->scales, s->scales_room, n) != ACQ_OK ||
        ACQ_RESERVE(s->scores, s->scores_room, n) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        s->scales[i] = rows->scales[s->around.entities[i]];
    acq_nbfnet_input input = start_input(rows, s, relation);
    uint32_t node = acq_around_get_node(&s->around, head);
    input.edges = &s->around.edges;
    input.scales = s->scales;
    input.heads = &node;
    input.n_heads = 1;
    status = run(rows, s, &input, s->scores, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        s->scores[i] = fmaxf(s->scores[i], nextafterf(NOTHING, 0));
    return status;
}

static acq_status score_near(const acq_row_model *self, void *opaque,
                             const acq_row_request *request, acq_error *error)
{
    const nbfnet_rows *rows = get_rows(self);
    nbfnet_scratch *s = opaque;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < request->n_heads && status == ACQ_OK; i++) {
        float *out = request->out + i * request->n_tails;
        status = acq_stop_check(request->stop, error);
        if (status == ACQ_OK)
            status = run_near(rows, s, request->relation, request->heads[i], error);
        for (size_t t = 0; t < request->n_tails && status == ACQ_OK; t++) {
            acq_ent tail = request->tails == NULL ? (acq_ent)t : request->tails[t];
            uint32_t node = acq_around_get_node(&s->around, tail);
            out[t] = node == ACQ_NO_ID ? NOTHING : s->scores[node];
        }
    }
    return status;
}

static acq_status score_few(const acq_row_model *self, void *opaque, acq_rel relation, acq_ent head,
                            float *scores, const acq_ent **tails, size_t *n, acq_error *error)
{
    nbfnet_scratch *s = opaque;
    acq_status status = run_near(get_rows(self), s, relation, head, error);
    for (size_t i = 0; i < s->around.n && status == ACQ_OK; i++)
        scores[s->around.entities[i]] = s->scores[i];
    *tails = s->around.entities;
    *n = status == ACQ_OK ? s->around.n : 0;
    return status;
}

static void free_rows(acq_row_model *self)
{
    nbfnet_rows *rows = (nbfnet_rows *)self;
    acq_around_index_deinit(&rows->index);
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

/* Scales are those of the whole graph (acq_nbfnet_fill_scales). */
static acq_status fill_near_rows(nbfnet_rows *rows, const acq_nbfnet *model, acq_error *error)
{
    acq_status status = acq_around_index_init(&rows->index, rows->base.graph, error);
    if (status != ACQ_OK)
        return status;
    uint32_t n = rows->index.n_entities;
    double sum = 0;
    rows->scales = acq_zalloc(n, sizeof *rows->scales);
    if (rows->scales == NULL || acq_nbfnet_packed_init(&rows->packed, model, false) != ACQ_OK)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < rows->index.n_relations; r++) {
        const acq_links *links = rows->index.links[r];
        for (uint32_t i = 0; i < links->n_heads; i++)
            rows->scales[links->heads[i]] += (float)(links->offsets[i + 1] - links->offsets[i]);
    }
    for (uint32_t v = 0; v < n; v++) {
        rows->scales[v] = (float)log1p((double)rows->scales[v]);
        sum += (double)rows->scales[v];
    }
    for (uint32_t v = 0; v < n && sum > 0; v++)
        rows->scales[v] = (float)((double)rows->scales[v] * n / sum);
    return ACQ_OK;
}

static acq_status new_rows(const acq_nbfnet *model, const acq_graph *graph,
                           const acq_around_params *params, acq_row_model **out, acq_error *error)
{
    static const acq_row_model_ops near_ops = {.open_scratch = open_scratch,
                                               .free_scratch = free_scratch,
                                               .score = score_near,
                                               .free = free_rows,
                                               .score_few = score_few};
    uint32_t n = acq_graph_get_n_entities(graph);
    bool is_near = params->most_nodes > 0 && params->most_nodes < n;
    if (model->n_relations != acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the NBFNet model has %u relations and the graph %u; train one on this "
                        "graph with anycq train nbfnet",
                        model->n_relations, acq_graph_get_n_relations(graph));
    nbfnet_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){.ops = is_near ? &near_ops : &ops,
                                 .graph = graph,
                                 .kind = "nbfnet",
                                 .batch = !is_near || n <= SMALL ? ROWS_TOGETHER : 1,
                                 .is_costly = true,
                                 .is_sparse = is_near,
                                 .nothing = NOTHING};
    rows->params = *params;
    acq_status status =
        is_near ? fill_near_rows(rows, model, error) : fill_rows(rows, model, error);
    if (status == ACQ_OK)
        *out = &rows->base;
    else
        free_rows(&rows->base);
    return status;
}

acq_status acq_nbfnet_new_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                    acq_row_model **out, acq_error *error)
{
    return new_rows(model, graph, &(acq_around_params){0}, out, error);
}

acq_status acq_nbfnet_new_near_row_model(const acq_nbfnet *model, const acq_graph *graph,
                                         const acq_around_params *params, acq_row_model **out,
                                         acq_error *error)
{
    return new_rows(model, graph, params, out, error);
}
