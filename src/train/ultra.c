/* ultra.c - the training of ULTRA; see train.h.
 *
 * The groups of a batch are units of work for the threads: a few queries of one relation of one
 * graph, which share the relation vectors and one subgraph, from which all their own links are
 * taken out in both directions. Each group has its own gradient; they are summed in order, so that
 * the weights do not depend on the number of threads. Everything drawn follows from the group's
 * key.
 *
 * A fact is drawn from all facts of all graphs, both directions; its relation and graph are the
 * group's. The other queries are facts of the same relation. Of a query's tails, some more are
 * asked for in the same pass: up to params->tails, and at most a quarter of those known, so that
 * what is left still looks like a head that has tails. Subgraphs have from an eighth of
 * most_entities to all of them, evenly on a logarithmic scale: small ones are cheap, large ones are
 * more like the whole graph, and the network meets sums of many sizes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/threads.h"
#include "models/ultra/pass.h"
#include "train/batch.h"
#include "train/trainer.h"

static const double SIZE_SPREAD = 8;

void acq_train_ultra_params_init(acq_train_ultra_params *params)
{
    *params = (acq_train_ultra_params){
        .batch = 16,
        .group = 2,
        .tails = 4,
        .negatives = 256,
        .temperature = 1,
        .most_entities = 2400,
        .most_edges = 100000,
        .most_near = 50,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 8000,
        .seed = 1,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 2e-3;
    params->optimizer.last_rate = 1e-5;
    params->optimizer.decay = .01;
    params->optimizer.average = .995;
}

void acq_train_ultra_tune_init(acq_train_ultra_params *params, const acq_graph *graph,
                               const acq_ultra *warm)
{
    enum { MOST_ENTITIES = 100000 }; /* states of all layers of so many take 0.6 GB a thread */
    acq_train_ultra_params_init(params);
    params->group = 4;
    params->tails = 8;
    params->negatives = 512;
    params->most_entities = acq_graph_get_n_entities(graph) > MOST_ENTITIES ? MOST_ENTITIES : 0;
    params->most_edges = params->most_near = 0;
    params->optimizer.rate = 5e-4;
    params->optimizer.average = .99;
    params->batches = 0;
    params->warm = warm;
}

typedef struct source { /* a graph to learn from; shared by threads */
    const acq_graph *graph;
    acq_edges edges;
    acq_edges relation_edges;
} source;

typedef struct worker { /* of one thread */
    acq_ultra_relations relations;
    acq_ultra_judge judge;
    acq_subgraph *subgraphs; /* one per source */
    acq_query_link *links;   /* group * tails */
    size_t *n_tails;         /* of each query */
    uint32_t *candidates;    /* tails + negatives */
} worker;

typedef struct training {
    const acq_train_ultra_params *params;
    acq_ultra *model;
    acq_ultra_network network;
    acq_optimizer optimizer;
    source *sources;
    size_t n_sources;
    worker *workers;
    unsigned n_threads;
    float *gradients; /* one per group; the first becomes their sum */
    double *losses;   /* of the groups */
    acq_error *errors;
    uint64_t step; /* that is computed */
} training;

static size_t count_groups(const training *t)
{
    return t->params->batch / t->params->group;
}

/* A fact of any graph: its source and its relation. */
static size_t draw_relation(const training *t, acq_random *random, acq_rel *relation)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_sources; i++)
        n += t->sources[i].edges.n_edges;
    uint64_t at = acq_random_below(random, n);
    size_t i_source = 0;
    while (at >= t->sources[i_source].edges.n_edges)
        at -= t->sources[i_source++].edges.n_edges;
    const acq_edges *edges = &t->sources[i_source].edges;
    *relation = edges->relations[acq_search_last(edges->begins, edges->n_groups, (uint32_t)at)];
    return i_source;
}

/* Tails of one drawn head, neighbours in its row; returns how many. */
static size_t draw_query(const acq_links *links, acq_rel relation, size_t most, acq_random *random,
                         acq_query_link *out)
{
    uint32_t at = (uint32_t)acq_random_below(random, links->n_links);
    uint32_t i = acq_search_last(links->offsets, links->n_heads, at);
    acq_row row = acq_links_get_row_at(links, i);
    size_t n = row.n / 4 < most ? row.n / 4 : most;
    for (size_t k = 0; k < n || k == 0; k++)
        out[k] = (acq_query_link){.head = links->heads[i],
                                  .relation = relation,
                                  .tail = row.tails[(at - links->offsets[i] + k) % row.n]};
    return n > 0 ? n : 1;
}

/* The queries of a group and their subgraph. */
static acq_status draw_group(const training *t, worker *w, size_t i_source, acq_rel relation,
                             acq_random *random, acq_error *error)
{
    const acq_train_ultra_params *params = t->params;
    const acq_graph *graph = t->sources[i_source].graph;
    acq_subgraph *subgraph = &w->subgraphs[i_source];
    const acq_links *links;
    size_t n_links = 0;
    acq_status status = acq_graph_open_links(graph, relation, &links, error);
    for (uint32_t i = 0; i < params->group && status == ACQ_OK; i++)
        n_links += w->n_tails[i] =
            draw_query(links, relation, params->tails, random, w->links + n_links);
    subgraph->params.most_entities =
        (uint32_t)ceil(params->most_entities * pow(SIZE_SPREAD, -acq_random_unit(random)));
    if (status == ACQ_OK) /* strangers that could be tails by what they are */
        status = acq_graph_open_links(graph, acq_inverse(relation), &subgraph->kin, error);
    if (status == ACQ_OK)
        status = acq_subgraph_draw(subgraph, w->links, n_links, random, error);
    if (status == ACQ_OK)
        status = acq_ultra_judge_reserve(&w->judge, subgraph->n,
                                         (size_t)params->tails + params->negatives, error);
    return status;
}

static double run_query(const training *t, worker *w, const acq_subgraph *subgraph,
                        const acq_query_link *links, size_t n, acq_random *random, float *gradient)
{
    const acq_train_ultra_params *params = t->params;
    acq_ultra_query query = {.edges = &subgraph->edges,
                             .head = subgraph->local[links->head],
                             .relation = links->relation,
                             .candidates = w->candidates,
                             .n_positives = n,
                             .temperature = params->temperature,
                             .weight = 1.0 / params->batch};
    for (size_t i = 0; i < n; i++)
        w->candidates[i] = subgraph->local[links[i].tail];
    query.n_candidates =
        n + acq_subgraph_draw_negatives(subgraph, links->head, links->relation, params->negatives,
                                        random, w->candidates + n);
    acq_ultra_query_forward(&w->judge, &query, &w->relations);
    return acq_ultra_query_backward(&w->judge, &query, &w->relations, gradient);
}

/* Each query weighs 1 / params->batch in the gradient; the loss is the sum over the queries. */
static acq_status run_group(void *context, size_t i, unsigned thread)
{
    training *t = context;
    worker *w = &t->workers[thread];
    size_t n = t->model->parameters.n;
    float *gradient = t->gradients + i * n;
    uint64_t key = acq_random_start(t->params->seed, t->step + 1).key;
    acq_random random = acq_random_start(acq_random_start(key, i).key, 0);
    acq_rel relation;
    size_t i_source = draw_relation(t, &random, &relation);
    const acq_edges *relation_edges = &t->sources[i_source].relation_edges;
    memset(gradient, 0, n * sizeof *gradient);
    t->errors[i] = (acq_error){0};
    t->losses[i] = 0;
    if (acq_ranks_is_others(t->params->ranks, i))
        return ACQ_OK;
    acq_status status = draw_group(t, w, i_source, relation, &random, &t->errors[i]);
    if (status != ACQ_OK)
        return status;
    acq_ultra_relations_forward(&w->relations, relation_edges, relation);
    const acq_query_link *at = w->links;
    for (uint32_t q = 0; q < t->params->group; at += w->n_tails[q++])
        t->losses[i] +=
            run_query(t, w, &w->subgraphs[i_source], at, w->n_tails[q], &random, gradient);
    acq_ultra_relations_backward(&w->relations, relation_edges, relation, gradient);
    return ACQ_OK;
}

static acq_status copy_first_error(const training *t, acq_status status, acq_error *error)
{
    for (size_t i = 0; i < count_groups(t); i++)
        if (t->errors[i].code != ACQ_OK)
            return acq_fail(error, t->errors[i].code, "%s", t->errors[i].message);
    return acq_fail(error, status, "the training failed");
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    training *t = self;
    size_t n = t->model->parameters.n;
    t->step = step;
    size_t n_groups = count_groups(t);
    acq_status status = acq_threads_run(t->n_threads, n_groups, run_group, t);
    if (status != ACQ_OK)
        return copy_first_error(t, status, error);
    status =
        acq_ranks_join(t->params->ranks, t->gradients, n_groups * n, sizeof *t->gradients, error);
    if (status == ACQ_OK)
        status = acq_ranks_join(t->params->ranks, t->losses, n_groups, sizeof *t->losses, error);
    if (status != ACQ_OK)
        return status;
    *loss = t->losses[0] / t->params->batch;
    for (size_t i = 1; i < n_groups; i++) {
        acq_kernels_get_best()->add(n, t->gradients + i * n, t->gradients);
        *loss += t->losses[i] / t->params->batch;
    }
    return ACQ_OK;
}

static void pack(void *self)
{
    training *t = self;
    acq_ultra_network_fill(&t->network);
}

static acq_status open_source(source *s, const acq_graph *graph, acq_error *error)
{
    s->graph = graph;
    acq_status status = acq_edges_init(&s->edges, graph, error);
    return status == ACQ_OK ? acq_ultra_relation_edges_init(&s->relation_edges, graph, error)
                            : status;
}

static acq_status open_sources(training *t, const acq_graph *const *graphs, acq_error *error)
{
    acq_status status = ACQ_OK;
    uint64_t n_edges = 0;
    t->sources = acq_zalloc(t->n_sources, sizeof *t->sources);
    if (t->sources == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < t->n_sources && status == ACQ_OK; i++) {
        status = open_source(&t->sources[i], graphs[i], error);
        n_edges += t->sources[i].edges.n_edges;
    }
    if (status == ACQ_OK && n_edges == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "there is no fact to train on; give another graph");
    return status;
}

static acq_status open_model(training *t, acq_error *error)
{
    const acq_train_ultra_params *params = t->params;
    acq_status status = acq_ultra_new(params->seed, &t->model, error);
    if (status != ACQ_OK)
        return status;
    acq_parameters *to = &t->model->parameters;
    if (params->warm != NULL)
        memcpy(to->values, params->warm->parameters.values, to->n * sizeof *to->values);
    status = acq_ultra_network_init(&t->network, t->model, true, error);
    if (status != ACQ_OK)
        return status;
    return acq_optimizer_init(&t->optimizer, &params->optimizer, to->values, to->n, error);
}

static acq_status open_subgraphs(const training *t, worker *w, acq_error *error)
{
    acq_subgraph_params params = {.most_entities = t->params->most_entities,
                                  .most_edges = t->params->most_edges,
                                  .most_near = t->params->most_near};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < t->n_sources && status == ACQ_OK; i++)
        status = acq_subgraph_init(&w->subgraphs[i], &t->sources[i].edges, &params, error);
    return status;
}

static acq_status open_worker(const training *t, worker *w, acq_error *error)
{
    const acq_train_ultra_params *params = t->params;
    uint32_t most_relations = 0;
    for (size_t i = 0; i < t->n_sources; i++)
        if (t->sources[i].relation_edges.n_nodes > most_relations)
            most_relations = t->sources[i].relation_edges.n_nodes;
    w->subgraphs = acq_zalloc(t->n_sources, sizeof *w->subgraphs);
    w->links = acq_alloc((size_t)params->group * params->tails, sizeof *w->links);
    w->n_tails = acq_alloc(params->group, sizeof *w->n_tails);
    w->candidates = acq_alloc((size_t)params->tails + params->negatives, sizeof *w->candidates);
    if (w->subgraphs == NULL || w->links == NULL || w->n_tails == NULL || w->candidates == NULL)
        return acq_fail_memory(error);
    acq_ultra_judge_init(&w->judge, &t->network);
    acq_status status = acq_ultra_relations_init(&w->relations, &t->network, most_relations, error);
    return status == ACQ_OK ? open_subgraphs(t, w, error) : status;
}

static acq_status open_workers(training *t, acq_error *error)
{
    size_t n_groups = count_groups(t);
    t->workers = acq_zalloc(t->n_threads, sizeof *t->workers);
    t->gradients = acq_alloc(n_groups * t->model->parameters.n, sizeof *t->gradients);
    t->losses = acq_zalloc(n_groups, sizeof *t->losses);
    t->errors = acq_zalloc(n_groups, sizeof *t->errors);
    if (t->workers == NULL || t->gradients == NULL || t->losses == NULL || t->errors == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (unsigned i = 0; i < t->n_threads && status == ACQ_OK; i++)
        status = open_worker(t, &t->workers[i], error);
    return status;
}

static void close_worker(const training *t, worker *w)
{
    for (size_t i = 0; w->subgraphs != NULL && i < t->n_sources; i++)
        acq_subgraph_deinit(&w->subgraphs[i]);
    acq_free(w->subgraphs);
    acq_free(w->links);
    acq_free(w->n_tails);
    acq_free(w->candidates);
    acq_ultra_judge_deinit(&w->judge);
    acq_ultra_relations_deinit(&w->relations);
}

static void close_training(training *t)
{
    for (unsigned i = 0; t->workers != NULL && i < t->n_threads; i++)
        close_worker(t, &t->workers[i]);
    for (size_t i = 0; t->sources != NULL && i < t->n_sources; i++) {
        acq_edges_deinit(&t->sources[i].edges);
        acq_edges_deinit(&t->sources[i].relation_edges);
    }
    acq_free(t->workers);
    acq_free(t->sources);
    acq_free(t->gradients);
    acq_free(t->losses);
    acq_free(t->errors);
    acq_optimizer_deinit(&t->optimizer);
    acq_ultra_network_deinit(&t->network);
    acq_ultra_free(t->model);
}

static acq_status check_params(const acq_train_ultra_params *p, size_t n_graphs, acq_error *error)
{
    if (n_graphs == 0 || p->negatives == 0 || p->tails == 0 || p->group == 0 || p->batch == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "training needs a graph, a query, a tail and a negative at least");
    if (p->batch % p->group != 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "a batch of %" PRIu32 " queries does not consist of groups of %" PRIu32,
                        p->batch, p->group);
    if (p->batches == 0 && !(p->seconds > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a number of batches or a time");
    return ACQ_OK;
}

static acq_status run(training *t, const acq_graph *const *graphs, acq_error *error)
{
    static const acq_trainer_ops ops = {.compute = compute, .changed = pack};
    const acq_train_ultra_params *params = t->params;
    acq_trainer_origin from = {ACQ_TRAIN_ULTRA, params, graphs, t->n_sources,
                               params->warm == NULL ? NULL : &params->warm->parameters};
    acq_trainer trainer = {.ops = &ops,
                           .self = t,
                           .phase = "training",
                           .n_steps = params->batches,
                           .parameters = &t->model->parameters,
                           .optimizer = &t->optimizer,
                           .gradient = t->gradients,
                           ACQ_TRAINER_OF_PARAMS(params)};
    return acq_trainer_run_from(&trainer, &from, error);
}

acq_status acq_train_ultra(const acq_graph *const *graphs, size_t n_graphs,
                           const acq_train_ultra_params *params, acq_ultra **out, acq_error *error)
{
    acq_status status = check_params(params, n_graphs, error);
    if (status != ACQ_OK)
        return status;
    training t = {.params = params,
                  .n_sources = n_graphs,
                  .n_threads = params->n_threads == 0 ? 1 : params->n_threads};
    status = open_sources(&t, graphs, error);
    if (status == ACQ_OK)
        status = open_model(&t, error);
    if (status == ACQ_OK)
        status = open_workers(&t, error);
    if (status == ACQ_OK)
        status = run(&t, graphs, error);
    if (status == ACQ_OK) {
        *out = t.model;
        t.model = NULL;
    }
    close_training(&t);
    return status;
}
