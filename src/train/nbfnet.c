/* nbfnet.c - the trainings of NBFNet, on links and inside GNN-QE's programs: batches of queries,
 * see batch.h and gnnqe.h, and the run over them, see train.h. */
#include "train/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "train/gnnqe.h"
#include "train/trainer.h"

/* Questions around their heads, from the first on: 28 seconds of one core gave more on FB15k-237
 * than 20 minutes of subgraphs of 1,000 entities (docs/results.md). */
void acq_train_nbfnet_params_init(acq_train_nbfnet_params *params)
{
    *params = (acq_train_nbfnet_params){
        .batch = 16,
        .negatives = 128,
        .most_counted = 4,
        .temperature = 0.2,
        .edge_dropout = 0.25,
        .drops_pairs = true,
        .most_entities = 1000,
        .most_near = 6,
        .most_around = 1450,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 5000,
        .seed = 1,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 5e-3;
    params->optimizer.last_rate = 1e-4;
}

/* Batches of many queries would be better and take longer: a query has up to three passes. */
void acq_train_gnnqe_params_init(acq_train_nbfnet_params *params)
{
    acq_train_nbfnet_params_init(params);
    params->batches = 10000;
    params->drops_pairs = false;
}

static acq_status check_params(const acq_train_nbfnet_params *p, acq_error *error)
{
    if (p->batch == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a query per batch at least");
    if (p->batches == 0 && !(p->seconds > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a number of batches or a time");
    if (!(p->temperature >= 0) || !isfinite(p->temperature))
        return acq_fail(error, ACQ_ERR_USAGE, "the temperature must be a number from 0 on");
    if (!(p->visit_nodes >= 0 && p->visit_nodes <= 1 && p->visit_edges >= 0 && p->visit_edges <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "what is visited must be a share from 0 to 1");
    if (p->layers == 1 || p->layers > ACQ_NBFNET_MOST_LAYERS)
        return acq_fail(error, ACQ_ERR_USAGE, "an NBFNet has 2 to %d layers",
                        ACQ_NBFNET_MOST_LAYERS);
    if (!(p->edge_dropout >= 0 && p->edge_dropout <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "the edge dropout must be a share from 0 to 1");
    return ACQ_OK;
}

/* How often each group is drawn. */
static acq_status fill_shares(acq_nbfnet_batch *batch)
{
    const acq_edges *world = batch->world;
    uint32_t most = batch->params->most_counted;
    if (most == 0)
        return ACQ_OK;
    batch->shares = acq_alloc((size_t)world->n_groups + 1, sizeof *batch->shares);
    if (batch->shares == NULL)
        return ACQ_ERR_MEMORY;
    batch->shares[0] = 0;
    for (uint32_t g = 0; g < world->n_groups; g++) {
        uint32_t n = world->begins[g + 1] - world->begins[g];
        batch->shares[g + 1] = batch->shares[g] + (n < most ? n : most);
    }
    return ACQ_OK;
}

size_t acq_nbfnet_count_targets(const acq_train_nbfnet_params *params, uint32_t n_nodes)
{
    return (params->negatives > 0 ? params->negatives : n_nodes) + ACQ_NBFNET_MOST_POSITIVES;
}

acq_status acq_nbfnet_batch_init(acq_nbfnet_batch *batch, const acq_train_nbfnet_params *params,
                                 const acq_edges *world, const float *scales, acq_error *error)
{
    acq_subgraph_params of_subgraph = {.most_entities = params->most_entities,
                                       .most_edges = params->most_edges,
                                       .most_near = params->most_near};
    size_t room = acq_nbfnet_count_targets(params, world->n_nodes);
    *batch = (acq_nbfnet_batch){.params = params, .world = world, .world_scales = scales};
    acq_status status = acq_subgraph_init(&batch->subgraph, world, &of_subgraph, error);
    if (status != ACQ_OK)
        return status;
    batch->scales = acq_alloc(world->n_nodes, sizeof *batch->scales);
    batch->queries = acq_zalloc(params->batch, sizeof *batch->queries);
    batch->heads = acq_alloc(params->batch, sizeof *batch->heads);
    batch->first_links = acq_alloc(params->batch, sizeof *batch->first_links);
    batch->targets = acq_alloc(params->batch, room * sizeof *batch->targets);
    if (batch->scales == NULL || batch->queries == NULL || batch->heads == NULL ||
        batch->first_links == NULL || batch->targets == NULL || fill_shares(batch) != ACQ_OK) {
        acq_nbfnet_batch_deinit(batch);
        return acq_fail_memory(error);
    }
    for (uint32_t i = 0; i < params->batch; i++)
        batch->queries[i].targets = batch->targets + i * room;
    return ACQ_OK;
}

void acq_nbfnet_batch_deinit(acq_nbfnet_batch *batch)
{
    acq_subgraph_deinit(&batch->subgraph);
    acq_free(batch->scales);
    acq_free(batch->queries);
    acq_free(batch->heads);
    acq_free(batch->first_links);
    acq_free(batch->targets);
    acq_free(batch->shares);
    acq_free(batch->links);
    for (uint32_t i = 0; batch->arounds != NULL && i < batch->params->batch; i++)
        acq_around_deinit(&batch->arounds[i]);
    acq_free(batch->arounds);
    acq_free(batch->near_scales);
    acq_free(batch->also);
    acq_free(batch->hidden);
    acq_free(batch->order);
    *batch = (acq_nbfnet_batch){0};
}

static acq_status add_link(acq_nbfnet_batch *batch, acq_ent head, acq_rel relation, acq_ent tail)
{
    if (ACQ_RESERVE(batch->links, batch->links_room, batch->n_links + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    batch->links[batch->n_links++] = (acq_query_link){head, relation, tail};
    return ACQ_OK;
}

/* The link of edge number `own` and others of its group. A group that may give too many is entered
 * at a random place, so that none of its links is favoured. */
static acq_status hide_links(acq_nbfnet_batch *batch, size_t i_query, uint32_t group, uint32_t own,
                             acq_random *random)
{
    const acq_edges *world = batch->world;
    uint32_t begin = world->begins[group], n = world->begins[group + 1] - begin;
    uint32_t offset = (uint32_t)acq_random_below(random, n);
    acq_nbfnet_query *query = &batch->queries[i_query];
    acq_ent head = batch->heads[i_query];
    size_t first = batch->first_links[i_query] = batch->n_links;
    if (add_link(batch, head, query->relation, world->sources[own]) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t edge = begin + (offset + i) % n;
        if (batch->n_links - first == ACQ_NBFNET_MOST_POSITIVES)
            break;
        if (edge == own || acq_random_unit(random) >= batch->params->edge_dropout)
            continue;
        if (add_link(batch, head, query->relation, world->sources[edge]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    query->n_positives = batch->n_links - first;
    return ACQ_OK;
}

/* An edge: any one, or that of a group drawn by its share. */
static uint32_t draw_edge(const acq_nbfnet_batch *batch, acq_random *random, uint32_t *group)
{
    const acq_edges *world = batch->world;
    if (batch->shares == NULL) {
        uint32_t edge = (uint32_t)acq_random_below(random, world->n_edges);
        *group = acq_search_last(world->begins, world->n_groups, edge);
        return edge;
    }
    uint32_t place = (uint32_t)acq_random_below(random, batch->shares[world->n_groups]);
    *group = acq_search_last(batch->shares, world->n_groups, place);
    uint32_t begin = world->begins[*group], n = world->begins[*group + 1] - begin;
    return begin + (uint32_t)acq_random_below(random, n);
}

static acq_status draw_query(acq_nbfnet_batch *batch, size_t i_query, acq_random *random)
{
    const acq_edges *world = batch->world;
    uint32_t group, edge = draw_edge(batch, random, &group);
    batch->heads[i_query] = acq_search_last(world->rows, world->n_nodes, group);
    batch->queries[i_query].relation = world->relations[group];
    return hide_links(batch, i_query, group, edge, random);
}

/* All links between the head and one of its positives. */
static acq_status hide_pair(acq_nbfnet_batch *batch, acq_ent head, acq_ent tail)
{
    const acq_edges *world = batch->world;
    for (uint32_t g = world->rows[head]; g < world->rows[head + 1]; g++)
        if (acq_edges_has(world, head, world->relations[g], tail) &&
            add_link(batch, head, world->relations[g], tail) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

static acq_status draw_links(acq_nbfnet_batch *batch, acq_random *random)
{
    batch->n_links = 0;
    for (uint32_t i = 0; i < batch->params->batch; i++)
        if (draw_query(batch, i, random) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    size_t n = batch->params->drops_pairs ? batch->n_links : 0;
    for (size_t i = 0; i < n; i++)
        if (hide_pair(batch, batch->links[i].head, batch->links[i].tail) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

static size_t count_negatives(const acq_nbfnet_batch *batch, uint32_t n_nodes)
{
    return batch->params->negatives > 0 ? batch->params->negatives : n_nodes;
}

static void draw_targets(acq_nbfnet_batch *batch, size_t i_query, acq_random *random)
{
    const acq_subgraph *subgraph = &batch->subgraph;
    const acq_query_link *links = batch->links + batch->first_links[i_query];
    acq_nbfnet_query *query = &batch->queries[i_query];
    query->head = subgraph->local[batch->heads[i_query]];
    for (size_t i = 0; i < query->n_positives; i++)
        query->targets[i] = subgraph->local[links[i].tail];
    query->n_targets = query->n_positives +
                       acq_subgraph_draw_negatives(subgraph, batch->heads[i_query], query->relation,
                                                   count_negatives(batch, subgraph->n), random,
                                                   query->targets + query->n_positives);
}

/* ---- queries on what is around their heads ---- */

acq_status acq_nbfnet_batch_init_near(acq_nbfnet_batch *batch, const acq_around_index *index,
                                      acq_error *error)
{
    const acq_train_nbfnet_params *params = batch->params;
    acq_around_params of_around = {.most_nodes = params->most_around,
                                   .most_edges = params->most_edges};
    size_t most = params->most_around < index->n_entities ? params->most_around : index->n_entities;
    size_t also = ACQ_AROUND_FREQUENT(most) + ACQ_NBFNET_MOST_POSITIVES;
    batch->index = index;
    batch->most_nodes = most + also + 1;
    batch->arounds = acq_zalloc(params->batch, sizeof *batch->arounds);
    batch->near_scales = acq_alloc(params->batch * batch->most_nodes, sizeof *batch->near_scales);
    batch->also = acq_alloc(also, sizeof *batch->also);
    batch->hidden = acq_alloc(ACQ_NBFNET_MOST_POSITIVES, sizeof *batch->hidden);
    batch->order = acq_alloc(batch->most_nodes, sizeof *batch->order);
    if (batch->arounds == NULL || batch->near_scales == NULL || batch->also == NULL ||
        batch->hidden == NULL || batch->order == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < params->batch && status == ACQ_OK; i++)
        status = acq_around_init(&batch->arounds[i], index, &of_around, error);
    return status;
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent x = *(const acq_ent *)a, y = *(const acq_ent *)b;
    return (x > y) - (x < y);
}

/* Nodes that are no tail of the query in the whole graph: all of them in order, or some, drawn
 * without putting them back. */
static size_t draw_near_negatives(acq_nbfnet_batch *batch, size_t i_query, acq_random *random)
{
    const acq_around *around = &batch->arounds[i_query];
    acq_nbfnet_query *query = &batch->queries[i_query];
    acq_ent head = batch->heads[i_query];
    size_t n = 0, most = count_negatives(batch, around->n);
    for (uint32_t i = 0; i < around->n; i++)
        batch->order[i] = i;
    for (uint32_t i = 0; i < around->n && n < most; i++) {
        bool takes_all = batch->params->negatives == 0;
        uint32_t j = takes_all ? i : i + (uint32_t)acq_random_below(random, around->n - i);
        uint32_t node = batch->order[j];
        batch->order[j] = batch->order[i];
        if (!acq_edges_has(batch->world, head, query->relation, around->entities[node]))
            query->targets[query->n_positives + n++] = node;
    }
    return n;
}

static void fill_near_query(acq_nbfnet_batch *batch, size_t i_query, acq_random *random)
{
    const acq_around *around = &batch->arounds[i_query];
    const acq_query_link *links = batch->links + batch->first_links[i_query];
    acq_nbfnet_query *query = &batch->queries[i_query];
    float *scales = batch->near_scales + i_query * batch->most_nodes;
    for (uint32_t i = 0; i < around->n; i++)
        scales[i] = batch->world_scales[around->entities[i]];
    query->edges = &around->edges;
    query->scales = scales;
    query->head = acq_around_get_node(around, batch->heads[i_query]);
    for (size_t i = 0; i < query->n_positives; i++)
        query->targets[i] = acq_around_get_node(around, links[i].tail);
    query->n_targets = query->n_positives + draw_near_negatives(batch, i_query, random);
}

/* The positives are nodes, as are the tails that most heads have. */
static acq_status draw_near_query(acq_nbfnet_batch *batch, size_t i_query, acq_random *random,
                                  acq_error *error)
{
    acq_around *around = &batch->arounds[i_query];
    acq_nbfnet_query *query = &batch->queries[i_query];
    const acq_query_link *links = batch->links + batch->first_links[i_query];
    size_t most = ACQ_AROUND_FREQUENT(around->params.most_nodes), n_also = 0;
    if (acq_around_list_frequent(batch->index, query->relation, most, batch->also, &n_also) !=
        ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < query->n_positives; i++)
        batch->hidden[i] = batch->also[n_also++] = links[i].tail;
    qsort(batch->hidden, query->n_positives, sizeof *batch->hidden, compare_entities);
    around->hidden = (acq_around_hidden){batch->hidden, query->n_positives,
                                         batch->params->drops_pairs ? ACQ_NO_ID : query->relation};
    acq_status status = acq_around_find(around, batch->heads[i_query], batch->also, n_also, error);
    around->hidden = (acq_around_hidden){0};
    if (status == ACQ_OK)
        fill_near_query(batch, i_query, random);
    return status;
}

static acq_status draw_near(acq_nbfnet_batch *batch, acq_random *random, acq_error *error)
{
    acq_status status = ACQ_OK;
    batch->n_links = 0;
    for (uint32_t i = 0; i < batch->params->batch && status == ACQ_OK; i++)
        status = draw_query(batch, i, random) == ACQ_OK ? draw_near_query(batch, i, random, error)
                                                        : acq_fail_memory(error);
    return status;
}

acq_status acq_nbfnet_batch_draw(acq_nbfnet_batch *batch, uint64_t number, acq_error *error)
{
    acq_random random = acq_random_start(batch->params->seed, number);
    acq_subgraph *subgraph = &batch->subgraph;
    if (batch->arounds != NULL)
        return draw_near(batch, &random, error);
    if (draw_links(batch, &random) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = acq_subgraph_draw(subgraph, batch->links, batch->n_links, &random, error);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; i < subgraph->n; i++)
        batch->scales[i] = batch->world_scales[subgraph->entities[i]];
    for (uint32_t i = 0; i < batch->params->batch; i++)
        draw_targets(batch, i, &random);
    return ACQ_OK;
}

typedef struct training {
    acq_train_kind kind; /* NBFNET, or GNNQE */
    const acq_train_nbfnet_params *params;
    acq_edges world;
    float *scales;
    acq_around_index index; /* where queries are on what is around their heads */
    acq_nbfnet *model;
    acq_optimizer optimizer;
    acq_nbfnet_batch batch;
    acq_sampler *sampler; /* of gnnqe */
    acq_gnnqe_batch programs;
    acq_nbfnet_gradient gradient;
} training;

static acq_status open_world(training *t, const acq_graph *graph, acq_error *error)
{
    acq_status status = acq_edges_init(&t->world, graph, error);
    if (status != ACQ_OK)
        return status;
    if (t->world.n_edges == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the graph has no facts to learn from; import some first");
    t->scales = acq_alloc(t->world.n_nodes, sizeof *t->scales);
    if (t->scales == NULL)
        return acq_fail_memory(error);
    acq_nbfnet_fill_scales(&t->world, t->scales);
    return ACQ_OK;
}

/* That of warm counts, but for what is visited. */
static acq_nbfnet_shape get_shape(const acq_train_nbfnet_params *params)
{
    const acq_nbfnet *warm = params->warm;
    acq_nbfnet_shape shape = {.layers = params->layers, .sums = params->sums};
    if (shape.layers == 0)
        shape.layers = ACQ_NBFNET_LAYERS;
    if (warm != NULL)
        shape = warm->shape;
    if (params->visit_nodes > 0 || params->visit_edges > 0) {
        shape.weighs = true;
        shape.visit = (acq_nbfnet_visit){(float)params->visit_nodes, (float)params->visit_edges};
    }
    return shape;
}

static acq_status check_warm(const acq_train_nbfnet_params *params, uint32_t n_relations,
                             acq_error *error)
{
    const acq_nbfnet *warm = params->warm;
    if (warm->n_relations != n_relations)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the model to start from has %u relations and the graph %u; start from "
                        "one of the same relations",
                        warm->n_relations, n_relations);
    if ((params->layers > 0 && params->layers != warm->shape.layers) ||
        (params->sums && !warm->shape.sums))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the model to start from has %u layers with %s; leave --layers and --sum "
                        "out",
                        warm->shape.layers, warm->shape.sums ? "sums" : "PNA");
    return ACQ_OK;
}

static acq_status open_model(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_nbfnet *warm = t->params->warm;
    uint32_t n = acq_graph_get_n_relations(graph);
    acq_nbfnet_shape shape = get_shape(t->params);
    acq_status status = warm == NULL ? ACQ_OK : check_warm(t->params, n, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_new_shaped(n, &shape, t->params->seed, &t->model, error);
    if (status == ACQ_OK && warm != NULL)
        memcpy(t->model->parameters.values, warm->parameters.values,
               warm->parameters.n * sizeof *warm->parameters.values);
    return status;
}

static acq_status open_programs(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_train_nbfnet_params *params = t->params;
    acq_nbfnet_gradient_params of_gradient = {.batch = params->batch * ACQ_GNNQE_MOST_PASSES,
                                              .n_threads = params->n_threads,
                                              .ranks = params->ranks};
    acq_status status = acq_sampler_new(graph, &t->sampler, error);
    if (status == ACQ_OK)
        status =
            acq_gnnqe_batch_init(&t->programs, params, &t->world, t->scales, t->sampler, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_init(&t->gradient, t->model, &of_gradient, error);
    return status;
}

static acq_status open_queries(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_train_nbfnet_params *params = t->params;
    acq_nbfnet_gradient_params of_gradient = {
        .batch = params->batch,
        .most_targets = acq_nbfnet_count_targets(params, t->world.n_nodes),
        .temperature = params->temperature,
        .n_threads = params->n_threads,
        .ranks = params->ranks};
    acq_status status = acq_nbfnet_batch_init(&t->batch, params, &t->world, t->scales, error);
    if (status == ACQ_OK && params->most_around > 0)
        status = acq_around_index_init(&t->index, graph, error);
    t->index.world = &t->world;
    if (status == ACQ_OK && params->most_around > 0)
        status = acq_nbfnet_batch_init_near(&t->batch, &t->index, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_init(&t->gradient, t->model, &of_gradient, error);
    return status;
}

static acq_status open_training(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_train_nbfnet_params *params = t->params;
    acq_status status = open_world(t, graph, error);
    if (status == ACQ_OK)
        status = open_model(t, graph, error);
    if (status == ACQ_OK)
        status = acq_optimizer_init(&t->optimizer, &params->optimizer, t->model->parameters.values,
                                    t->model->parameters.n, error);
    if (status != ACQ_OK)
        return status;
    return t->kind == ACQ_TRAIN_GNNQE ? open_programs(t, graph, error)
                                      : open_queries(t, graph, error);
}

static void close_training(training *t)
{
    acq_nbfnet_gradient_deinit(&t->gradient);
    acq_nbfnet_batch_deinit(&t->batch);
    acq_around_index_deinit(&t->index);
    acq_gnnqe_batch_deinit(&t->programs);
    acq_sampler_free(t->sampler);
    acq_optimizer_deinit(&t->optimizer);
    acq_nbfnet_free(t->model);
    acq_free(t->scales);
    acq_edges_deinit(&t->world);
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    training *t = self;
    acq_status status = acq_nbfnet_batch_draw(&t->batch, step, error);
    if (status != ACQ_OK)
        return status;
    return acq_nbfnet_gradient_compute(&t->gradient, &t->batch.subgraph.edges, t->batch.scales,
                                       t->batch.queries, loss, error);
}

static acq_status compute_programs(void *self, uint64_t step, double *loss, acq_error *error)
{
    training *t = self;
    acq_status status = acq_gnnqe_batch_draw(&t->programs, step, error);
    return status == ACQ_OK ? acq_gnnqe_batch_compute(&t->programs, &t->gradient, loss, error)
                            : status;
}

static acq_status run(training *t, const acq_graph *graph, acq_error *error)
{
    static const acq_trainer_ops of_queries = {.compute = compute};
    static const acq_trainer_ops of_programs = {.compute = compute_programs};
    const acq_train_nbfnet_params *params = t->params;
    acq_trainer_origin from = {t->kind, params, &graph, 1,
                               params->warm == NULL ? NULL : &params->warm->parameters};
    acq_trainer trainer = {.ops = t->kind == ACQ_TRAIN_GNNQE ? &of_programs : &of_queries,
                           .self = t,
                           .phase = "training",
                           .n_steps = params->batches,
                           .parameters = &t->model->parameters,
                           .optimizer = &t->optimizer,
                           .gradient = t->gradient.values,
                           ACQ_TRAINER_OF_PARAMS(params)};
    return acq_trainer_run_from(&trainer, &from, error);
}

static acq_status train(acq_train_kind kind, const acq_graph *graph,
                        const acq_train_nbfnet_params *params, acq_nbfnet **out, acq_error *error)
{
    training t = {.kind = kind, .params = params};
    acq_status status = check_params(params, error);
    if (status != ACQ_OK)
        return status;
    status = open_training(&t, graph, error);
    if (status == ACQ_OK)
        status = run(&t, graph, error);
    if (status == ACQ_OK) {
        *out = t.model;
        t.model = NULL;
    }
    close_training(&t);
    return status;
}

acq_status acq_train_nbfnet(const acq_graph *graph, const acq_train_nbfnet_params *params,
                            acq_nbfnet **out, acq_error *error)
{
    return train(ACQ_TRAIN_NBFNET, graph, params, out, error);
}

acq_status acq_train_gnnqe(const acq_graph *graph, const acq_train_nbfnet_params *params,
                           acq_nbfnet **out, acq_error *error)
{
    return train(ACQ_TRAIN_GNNQE, graph, params, out, error);
}
