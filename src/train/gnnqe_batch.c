/* gnnqe_batch.c - see gnnqe.h. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "train/gnnqe.h"

enum { MOST_NODES = ACQ_GNNQE_MOST_NODES, MOST_ANSWER = 4 };

/* Degrees of 0 and 1 have a logit too. */
static const double LEAST = 1e-10;

static void free_room(acq_gnnqe_room *room)
{
    if (room == NULL)
        return;
    acq_subgraph_deinit(&room->subgraph);
    acq_free(room->scales);
    acq_free(room->is_source);
    for (unsigned i = 0; i < ACQ_GNNQE_MOST_PASSES; i++) {
        acq_edges_deinit(&room->edges[i]);
        acq_nbfnet_pass_deinit(&room->passes[i]);
        acq_free(room->heads[i]);
        acq_free(room->weights[i]);
    }
    for (unsigned i = 0; i < MOST_NODES; i++) {
        acq_free(room->truths[i]);
        acq_free(room->degrees[i]);
        acq_free(room->slopes[i]);
    }
    acq_free(room->scores);
    acq_free(room->score_slopes);
    acq_free(room->order);
    acq_free(room);
}

static bool allocate_room(acq_gnnqe_room *room, uint32_t n)
{
    bool ok = true;
    room->scales = acq_alloc(n, sizeof *room->scales);
    room->is_source = acq_alloc(n, sizeof *room->is_source);
    room->scores = acq_alloc(n, sizeof *room->scores);
    room->score_slopes = acq_alloc(n, sizeof *room->score_slopes);
    room->order = acq_alloc(n, sizeof *room->order);
    for (unsigned i = 0; i < ACQ_GNNQE_MOST_PASSES; i++) {
        room->heads[i] = acq_alloc(n, sizeof *room->heads[i]);
        room->weights[i] = acq_alloc(n, sizeof *room->weights[i]);
        ok = ok && room->heads[i] != NULL && room->weights[i] != NULL;
    }
    for (unsigned i = 0; i < MOST_NODES; i++) {
        room->truths[i] = acq_alloc(n, sizeof *room->truths[i]);
        room->degrees[i] = acq_alloc(n, sizeof *room->degrees[i]);
        room->slopes[i] = acq_alloc(n, sizeof *room->slopes[i]);
        ok = ok && room->truths[i] != NULL && room->degrees[i] != NULL && room->slopes[i] != NULL;
    }
    return ok && room->scales != NULL && room->is_source != NULL && room->scores != NULL &&
           room->score_slopes != NULL && room->order != NULL;
}

static acq_status new_room(const acq_gnnqe_batch *batch, acq_gnnqe_room **out, acq_error *error)
{
    acq_subgraph_params of_subgraph = {.most_entities = batch->params->most_entities,
                                       .most_edges = batch->params->most_edges,
                                       .most_near = batch->params->most_near};
    *out = acq_zalloc(1, sizeof **out);
    if (*out == NULL || !allocate_room(*out, batch->world->n_nodes))
        return acq_fail_memory(error);
    return acq_subgraph_init(&(*out)->subgraph, batch->world, &of_subgraph, error);
}

static unsigned count_threads(const acq_gnnqe_batch *batch)
{
    return batch->params->n_threads == 0 ? 1 : batch->params->n_threads;
}

acq_status acq_gnnqe_batch_init(acq_gnnqe_batch *batch, const acq_train_nbfnet_params *params,
                                const acq_edges *world, const float *scales,
                                const acq_sampler *sampler, acq_error *error)
{
    *batch =
        (acq_gnnqe_batch){.params = params, .world = world, .scales = scales, .sampler = sampler};
    batch->queries = acq_zalloc(params->batch, sizeof *batch->queries);
    batch->relations =
        acq_alloc((size_t)params->batch * ACQ_GNNQE_MOST_PASSES, sizeof *batch->relations);
    batch->rooms = acq_zalloc(count_threads(batch), sizeof(acq_gnnqe_room *));
    acq_status status = ACQ_OK;
    if (batch->queries == NULL || batch->relations == NULL || batch->rooms == NULL)
        status = acq_fail_memory(error);
    for (unsigned i = 0; status == ACQ_OK && i < count_threads(batch); i++)
        status = new_room(batch, &batch->rooms[i], error);
    if (status != ACQ_OK)
        acq_gnnqe_batch_deinit(batch);
    return status;
}

static void free_trees(acq_gnnqe_batch *batch)
{
    for (uint32_t i = 0; batch->queries != NULL && i < batch->params->batch; i++) {
        acq_set_tree_free(batch->queries[i].tree);
        batch->queries[i].tree = NULL;
    }
}

void acq_gnnqe_batch_deinit(acq_gnnqe_batch *batch)
{
    if (batch->params == NULL)
        return;
    free_trees(batch);
    for (unsigned i = 0; batch->rooms != NULL && i < count_threads(batch); i++)
        free_room(batch->rooms[i]);
    acq_free(batch->rooms);
    acq_free(batch->queries);
    acq_free(batch->relations);
    *batch = (acq_gnnqe_batch){0};
}

/* ---- drawing ---- */

/* Passes are numbered as their nodes are. */
static void number_passes(const acq_set_node *node, acq_rel *relations, uint32_t *n)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        number_passes(node->children[i], relations, n);
    if (node->kind == ACQ_SET_PROJECT)
        relations[(*n)++] = node->id;
}

/* The ends of its positive links, under a relation that no link has: the links stay. */
static void find_near(const acq_problem *problem, const acq_ent *answer, acq_gnnqe_query *query)
{
    query->n_near = 0;
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        acq_ent left = l->left.is_variable ? answer[l->left.id] : l->left.id;
        acq_ent right = l->right.is_variable ? answer[l->right.id] : l->right.id;
        query->near[query->n_near++] =
            (acq_query_link){.head = left, .relation = ACQ_NO_ID, .tail = right};
    }
}

/* A trained shape has at most three atoms, and its answer is variable 0. */
static acq_status draw_query(acq_gnnqe_batch *batch, acq_gnnqe_query *query, acq_error *error)
{
    acq_random random = acq_random_start(query->key, 0);
    acq_shape_id shape = acq_shape_draw(ACQ_MIX_BETAE, &random);
    acq_ent answer[MOST_ANSWER];
    acq_problem *problem = NULL;
    acq_status status =
        acq_sampler_draw_shape(batch->sampler, shape, &random, &problem, answer, error);
    if (status != ACQ_OK)
        return status;
    problem->n_free = 1;
    find_near(problem, answer, query);
    status = acq_set_tree_new(problem, "gnnqe", &query->tree, error);
    acq_problem_free(problem);
    if (status == ACQ_OK && query->tree->n_nodes > MOST_NODES)
        status = acq_fail(error, ACQ_ERR_INTERNAL, "a training query has too many parts");
    return status;
}

acq_status acq_gnnqe_batch_draw(acq_gnnqe_batch *batch, uint64_t number, acq_error *error)
{
    uint32_t n = batch->params->batch;
    acq_status status = ACQ_OK;
    free_trees(batch);
    batch->n_passes = 0;
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_gnnqe_query *query = &batch->queries[i];
        query->key = acq_random_mix(acq_random_mix(batch->params->seed) + number * n + i);
        query->first_pass = batch->n_passes;
        status = draw_query(batch, query, error);
        if (status == ACQ_OK)
            number_passes(query->tree->root, batch->relations, &batch->n_passes);
    }
    return status;
}

/* ---- one query ---- */

typedef struct work {
    acq_gnnqe_batch *batch;
    acq_nbfnet_gradient *gradient;
} work;

typedef struct run {
    const acq_gnnqe_batch *batch;
    acq_nbfnet_gradient *gradient;
    acq_gnnqe_query *query;
    acq_gnnqe_room *room;
    acq_random random;
} run;

static void walk_along(const run *r, const acq_set_node *node, uint8_t *out)
{
    const acq_edges *world = r->batch->world;
    const uint8_t *from = r->room->truths[node->children[0]->number];
    for (uint32_t e = 0; e < world->n_nodes; e++) {
        size_t n;
        if (!from[e])
            continue;
        const uint32_t *tails = acq_edges_find(world, e, node->id, &n);
        for (size_t i = 0; i < n; i++)
            out[tails[i]] = 1;
    }
}

static void combine_truths(const run *r, const acq_set_node *node, uint8_t *out)
{
    uint32_t n = r->batch->world->n_nodes;
    memset(out, node->kind != ACQ_SET_OR, n);
    for (uint32_t c = 0; c < node->n_children; c++) {
        const uint8_t *child = r->room->truths[node->children[c]->number];
        for (uint32_t e = 0; e < n; e++)
            out[e] = node->kind == ACQ_SET_NOT   ? !child[e]
                     : node->kind == ACQ_SET_AND ? out[e] && child[e]
                                                 : out[e] || child[e];
    }
}

static void fill_truths(const run *r, const acq_set_node *node)
{
    uint8_t *out = r->room->truths[node->number];
    for (uint32_t i = 0; i < node->n_children; i++)
        fill_truths(r, node->children[i]);
    if (node->kind == ACQ_SET_PROJECT || node->kind == ACQ_SET_ENTITY)
        memset(out, 0, r->batch->world->n_nodes);
    if (node->kind == ACQ_SET_ENTITY)
        out[node->id] = 1;
    else if (node->kind == ACQ_SET_PROJECT)
        walk_along(r, node, out);
    else
        combine_truths(r, node, out);
}

static uint32_t count_edges(const acq_edges *edges, uint32_t node)
{
    return edges->begins[edges->rows[node + 1]] - edges->begins[edges->rows[node]];
}

/* Would the traversal walk along this edge, in either direction? */
static bool is_walked(const run *r, uint32_t node, acq_rel relation, uint32_t source, acq_rel asked)
{
    return (relation == asked && r->room->is_source[node]) ||
           (relation == acq_inverse(asked) && r->room->is_source[source]);
}

static bool is_dropped(run *r, uint32_t node, uint32_t source)
{
    const acq_edges *edges = &r->room->subgraph.edges;
    return count_edges(edges, node) > 1 && count_edges(edges, source) > 1 &&
           acq_random_unit(&r->random) < r->batch->params->edge_dropout;
}

static acq_status copy_group(run *r, uint32_t node, uint32_t group, acq_rel asked, acq_edges *out)
{
    const acq_edges *edges = &r->room->subgraph.edges;
    acq_rel relation = edges->relations[group];
    uint32_t end = edges->begins[group + 1];
    if (acq_edges_add_group(out, relation, edges->reversed[group], end - edges->begins[group]) !=
        ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = edges->begins[group]; i < end; i++) {
        uint32_t source = edges->sources[i];
        if (!is_walked(r, node, relation, source, asked) || !is_dropped(r, node, source))
            acq_edges_add_source(out, source);
    }
    return ACQ_OK;
}

/* The subgraph without a share of the edges that the projection would walk along. */
static acq_status drop_edges(run *r, const acq_set_node *node, acq_edges *out)
{
    acq_gnnqe_room *room = r->room;
    const acq_subgraph *subgraph = &room->subgraph;
    const acq_edges *edges = &subgraph->edges;
    const uint8_t *from = room->truths[node->children[0]->number];
    for (uint32_t v = 0; v < subgraph->n; v++)
        room->is_source[v] = from[subgraph->entities[v]];
    if (acq_edges_start(out, edges->n_nodes, edges->n_relations) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < edges->n_nodes; v++) {
        for (uint32_t g = edges->rows[v]; g < edges->rows[v + 1]; g++)
            if (copy_group(r, v, g, node->id, out) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        acq_edges_finish_node(out, v);
    }
    return ACQ_OK;
}

static acq_status project(run *r, const acq_set_node *node, bool learns, double *out)
{
    acq_gnnqe_room *room = r->room;
    uint32_t i = room->n_passes++, n = room->subgraph.n;
    const double *from = room->degrees[node->children[0]->number];
    acq_nbfnet_input *input = &room->inputs[i];
    if (drop_edges(r, node, &room->edges[i]) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    *input = acq_nbfnet_gradient_get_input(r->gradient, r->query->first_pass + i);
    input->edges = &room->edges[i];
    input->is_one_way = true;
    input->scales = room->scales;
    input->heads = room->heads[i];
    input->weights = room->weights[i];
    for (uint32_t v = 0; v < n; v++) {
        if (!(from[v] > 0))
            continue;
        room->heads[i][input->n_heads] = v;
        room->weights[i][input->n_heads++] = (float)from[v];
    }
    if (acq_nbfnet_forward(&r->gradient->packed, input, learns, &room->passes[i], room->scores) !=
        ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < n; v++)
        out[v] = 1 / (1 + exp(-(double)room->scores[v]));
    return ACQ_OK;
}

static double join(acq_set_kind kind, double x, double y)
{
    return kind == ACQ_SET_OR ? x + y - x * y : x * y;
}

static void combine(const run *r, const acq_set_node *node, double *out)
{
    for (uint32_t c = 0; c < node->n_children; c++) {
        const double *child = r->room->degrees[node->children[c]->number];
        for (uint32_t v = 0; v < r->room->subgraph.n; v++)
            out[v] = node->kind == ACQ_SET_NOT ? 1 - child[v]
                     : c == 0                  ? child[v]
                                               : join(node->kind, out[v], child[v]);
    }
}

/* learns: no projection comes after. */
static acq_status fill_degrees(run *r, const acq_set_node *node, bool learns)
{
    double *out = r->room->degrees[node->number];
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < node->n_children && status == ACQ_OK; i++)
        status = fill_degrees(r, node->children[i], learns && node->kind != ACQ_SET_PROJECT);
    if (status != ACQ_OK)
        return status;
    if (node->kind == ACQ_SET_PROJECT)
        return project(r, node, learns, out);
    if (node->kind == ACQ_SET_ENTITY) {
        memset(out, 0, r->room->subgraph.n * sizeof *out);
        out[r->room->subgraph.local[node->id]] = 1;
        return ACQ_OK;
    }
    combine(r, node, out);
    return ACQ_OK;
}

/* Slopes by the last set; positives come first in the loss. */
static double get_loss(const run *r)
{
    acq_gnnqe_room *room = r->room;
    uint32_t root = r->query->tree->root->number, n = room->subgraph.n, n_positives = 0, at = 0;
    const double *degrees = room->degrees[root];
    for (int is_true = 1; is_true >= 0; is_true--) {
        for (uint32_t v = 0; v < n; v++)
            if (room->truths[root][room->subgraph.entities[v]] == is_true)
                room->order[at++] = v;
        n_positives = is_true ? at : n_positives;
    }
    for (uint32_t i = 0; i < n; i++) {
        double p = degrees[room->order[i]];
        room->scores[i] = (float)log((p + LEAST) / (1 - p + LEAST));
    }
    double loss = acq_nbfnet_loss(room->scores, n_positives, n, r->batch->params->temperature,
                                  room->score_slopes);
    for (uint32_t i = 0; i < n; i++) {
        double p = degrees[room->order[i]];
        room->slopes[root][room->order[i]] = (double)room->score_slopes[i] /
                                             r->batch->params->batch *
                                             (1 / (p + LEAST) + 1 / (1 - p + LEAST));
    }
    return loss;
}

/* The slope of a child by what the others of its node are. */
static double get_share(const run *r, const acq_set_node *node, uint32_t child, uint32_t v)
{
    double share = 1;
    for (uint32_t c = 0; c < node->n_children; c++) {
        double x = r->room->degrees[node->children[c]->number][v];
        if (c != child)
            share *= node->kind == ACQ_SET_OR ? 1 - x : x;
    }
    return node->kind == ACQ_SET_NOT ? -1 : share;
}

static void project_backward(run *r, const acq_set_node *node)
{
    acq_gnnqe_room *room = r->room;
    uint32_t i = --room->n_passes;
    const double *degrees = room->degrees[node->number], *slopes = room->slopes[node->number];
    acq_nbfnet_slopes out = acq_nbfnet_gradient_get_slopes(r->gradient, r->query->first_pass + i);
    for (uint32_t v = 0; v < room->subgraph.n; v++)
        room->score_slopes[v] = (float)(slopes[v] * degrees[v] * (1 - degrees[v]));
    acq_nbfnet_backward(&r->gradient->packed, &room->inputs[i], &room->passes[i],
                        room->score_slopes, &out);
}

static void skip_passes(run *r, const acq_set_node *node)
{
    r->room->n_passes -= node->kind == ACQ_SET_PROJECT;
    for (uint32_t i = 0; i < node->n_children; i++)
        skip_passes(r, node->children[i]);
}

/* Nodes from the last to the first, so passes are met in the reverse of their numbers. */
static void backward(run *r, const acq_set_node *node)
{
    const double *slopes = r->room->slopes[node->number];
    if (node->kind == ACQ_SET_PROJECT) {
        project_backward(r, node);
        skip_passes(r, node->children[0]);
        return;
    }
    for (uint32_t c = node->n_children; c-- > 0;) {
        double *out = r->room->slopes[node->children[c]->number];
        for (uint32_t v = 0; v < r->room->subgraph.n; v++)
            out[v] = slopes[v] * get_share(r, node, c, v);
        backward(r, node->children[c]);
    }
}

static acq_status run_query(void *context, size_t i, unsigned thread)
{
    const work *w = context;
    acq_gnnqe_query *query = &w->batch->queries[i];
    acq_gnnqe_room *room = w->batch->rooms[thread];
    run r = {.batch = w->batch,
             .gradient = w->gradient,
             .query = query,
             .room = room,
             .random = acq_random_start(query->key, 1)};
    query->loss = 0;
    if (acq_ranks_is_others(w->batch->params->ranks, i))
        return ACQ_OK;
    if (acq_subgraph_draw(&room->subgraph, query->near, query->n_near, &r.random, NULL) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < room->subgraph.n; v++)
        room->scales[v] = w->batch->scales[room->subgraph.entities[v]];
    room->n_passes = 0;
    fill_truths(&r, query->tree->root);
    acq_status status = fill_degrees(&r, query->tree->root, true);
    if (status != ACQ_OK)
        return status;
    query->loss = get_loss(&r);
    backward(&r, query->tree->root);
    return ACQ_OK;
}

/* The sum of the losses, in the order of the queries. */
static acq_status add_losses(const acq_gnnqe_batch *batch, double *loss, acq_error *error)
{
    uint32_t n = batch->params->batch;
    double *losses = acq_alloc(n, sizeof *losses);
    if (losses == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n; i++)
        losses[i] = batch->queries[i].loss;
    acq_status status = acq_ranks_join(batch->params->ranks, losses, n, sizeof *losses, error);
    *loss = 0;
    for (uint32_t i = 0; i < n; i++)
        *loss += losses[i] / n;
    acq_free(losses);
    return status;
}

acq_status acq_gnnqe_batch_compute(acq_gnnqe_batch *batch, acq_nbfnet_gradient *gradient,
                                   double *loss, acq_error *error)
{
    work w = {.batch = batch, .gradient = gradient};
    uint32_t n = batch->params->batch;
    acq_status status =
        acq_nbfnet_gradient_begin(gradient, batch->relations, batch->n_passes, error);
    if (status == ACQ_OK && acq_threads_run(count_threads(batch), n, run_query, &w) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_end(gradient, error);
    return status == ACQ_OK ? add_losses(batch, loss, error) : status;
}
