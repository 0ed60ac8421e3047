/* gradient.c - see network.h. */
#include "models/nbfnet/network.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { D = ACQ_NBFNET_WIDTH, LINE = 16 };

struct acq_nbfnet_worker { /* of one thread */
    acq_nbfnet_pass pass;
    float *scores, *slopes;
};

static size_t round_up(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

static float *cut(float *block, size_t *used, size_t n)
{
    size_t begin = *used;
    *used += round_up(n);
    return block == NULL ? NULL : block + begin;
}

static unsigned count_layers(const acq_nbfnet_gradient *g)
{
    return g->model->shape.layers;
}

static unsigned count_threads(const acq_nbfnet_gradient *g)
{
    return g->params.n_threads == 0 ? 1 : g->params.n_threads;
}

static size_t count_dense(const acq_nbfnet *model)
{
    size_t n = 0;
    for (unsigned t = 0; t < acq_nbfnet_count_tensors(&model->shape); t++)
        if (!acq_nbfnet_is_relational(t))
            n += round_up(acq_tensor_get_length(&model->parameters.tensors[t]));
    return n;
}

/* Floats needed; with a block, also points the matrices into it. */
static size_t lay_out(acq_nbfnet_gradient *g, float *block)
{
    size_t used = 0, n = g->params.batch;
    g->queries = cut(block, &used, n * D);
    g->query_slopes = cut(block, &used, n * D);
    for (unsigned l = 0; l < count_layers(g); l++) {
        g->vectors[l] = cut(block, &used, n * g->n_vector_floats);
        g->vector_slopes[l] = cut(block, &used, n * g->n_vector_floats);
        g->layer_query_slopes[l] = cut(block, &used, n * D);
    }
    g->dense_slopes = cut(block, &used, n * g->n_dense);
    g->values = cut(block, &used, g->model->parameters.n);
    return used;
}

static acq_status init_workers(acq_nbfnet_gradient *g)
{
    size_t room = g->params.most_targets;
    g->workers = acq_zalloc(count_threads(g), sizeof *g->workers);
    for (unsigned i = 0; g->workers != NULL && i < count_threads(g); i++) {
        g->workers[i].scores = acq_alloc(2 * room, sizeof *g->workers[i].scores);
        if (g->workers[i].scores == NULL)
            return ACQ_ERR_MEMORY;
        g->workers[i].slopes = g->workers[i].scores + room;
    }
    return g->workers == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status init_products(acq_nbfnet_gradient *g)
{
    acq_status status = acq_nbfnet_packed_init(&g->packed, g->model, true);
    for (unsigned l = 0; l < count_layers(g) && status == ACQ_OK; l++) {
        status = acq_packed_init(&g->relations[l], D, g->n_vector_floats);
        if (status == ACQ_OK)
            status = acq_packed_init(&g->relations_back[l], g->n_vector_floats, D);
    }
    return status;
}

acq_status acq_nbfnet_gradient_init(acq_nbfnet_gradient *gradient, acq_nbfnet *model,
                                    const acq_nbfnet_gradient_params *params, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    *g = (acq_nbfnet_gradient){.params = *params,
                               .model = model,
                               .n_vector_floats = (size_t)model->n_relations * D,
                               .n_dense = count_dense(model)};
    g->block = acq_alloc(lay_out(g, NULL), sizeof *g->block);
    g->losses = acq_alloc(params->batch, sizeof *g->losses);
    g->asked = acq_alloc(params->batch, sizeof *g->asked);
    if (g->block == NULL || g->losses == NULL || g->asked == NULL || init_workers(g) != ACQ_OK ||
        init_products(g) != ACQ_OK) {
        acq_nbfnet_gradient_deinit(g);
        return acq_fail_memory(error);
    }
    lay_out(g, g->block);
    return ACQ_OK;
}

void acq_nbfnet_gradient_deinit(acq_nbfnet_gradient *gradient)
{
    acq_nbfnet_gradient *g = gradient;
    for (unsigned i = 0; g->workers != NULL && i < count_threads(g); i++) {
        acq_nbfnet_pass_deinit(&g->workers[i].pass);
        acq_free(g->workers[i].scores);
    }
    for (unsigned l = 0; l < ACQ_NBFNET_MOST_LAYERS; l++) {
        acq_packed_deinit(&g->relations[l]);
        acq_packed_deinit(&g->relations_back[l]);
    }
    acq_nbfnet_packed_deinit(&g->packed);
    acq_free(g->workers);
    acq_free(g->losses);
    acq_free(g->asked);
    acq_free(g->block);
    *g = (acq_nbfnet_gradient){0};
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double find_largest(const float *scores, size_t n)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, scores[i]);
    return largest;
}

/* Before they are made to sum to 1. */
static double get_weight(double score, double largest, double temperature)
{
    return temperature > 0 ? exp((score - largest) / temperature) : 1;
}

static double negatives(const float *scores, size_t n, double temperature, float *slopes)
{
    double largest = find_largest(scores, n), total = 0, loss = 0;
    for (size_t i = 0; i < n; i++)
        total += get_weight(scores[i], largest, temperature);
    for (size_t i = 0; i < n; i++) {
        double weight = get_weight(scores[i], largest, temperature) / total / 2;
        loss += weight * softplus(scores[i]);
        slopes[i] = (float)(weight * sigmoid(scores[i]));
    }
    return loss;
}

double acq_nbfnet_loss(const float *scores, size_t n_positives, size_t n, double temperature,
                       float *slopes)
{
    double share = 0.5 / (double)n_positives, loss = 0;
    for (size_t i = 0; i < n_positives; i++) {
        loss += share * softplus(-(double)scores[i]);
        slopes[i] = (float)(-share * sigmoid(-(double)scores[i]));
    }
    return loss +
           negatives(scores + n_positives, n - n_positives, temperature, slopes + n_positives);
}

static acq_status make_vectors(void *context, size_t l, unsigned thread)
{
    acq_nbfnet_gradient *g = context;
    unsigned weights = acq_nbfnet_layer_tensor((unsigned)l, ACQ_NBFNET_RELATIONS);
    size_t n = g->n;
    (void)thread;
    acq_packed_fill(&g->relations[l], acq_nbfnet_get(g->model, weights), D);
    acq_packed_fill_transposed(&g->relations_back[l], acq_nbfnet_get(g->model, weights), D);
    g->packed.kernels->gemm(n, g->queries, D, &g->relations[l],
                            acq_nbfnet_get(g->model, weights + 1), 0, g->vectors[l],
                            g->n_vector_floats);
    memset(g->vector_slopes[l], 0, n * g->n_vector_floats * sizeof(float));
    return ACQ_OK;
}

static void copy_queries(acq_nbfnet_gradient *g)
{
    const float *all = acq_nbfnet_get(g->model, ACQ_NBFNET_QUERY);
    for (size_t i = 0; i < g->n; i++)
        memcpy(g->queries + i * D, all + (size_t)g->asked[i] * D, D * sizeof *g->queries);
    memset(g->query_slopes, 0, g->n * D * sizeof *g->query_slopes);
    memset(g->dense_slopes, 0, g->n * g->n_dense * sizeof *g->dense_slopes);
}

acq_status acq_nbfnet_gradient_begin(acq_nbfnet_gradient *gradient, const acq_rel *relations,
                                     uint32_t n, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    g->n = n;
    memcpy(g->asked, relations, n * sizeof *relations);
    acq_nbfnet_packed_fill(&g->packed);
    copy_queries(g);
    acq_status status = acq_threads_run(count_threads(g), count_layers(g), make_vectors, g);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_nbfnet_input acq_nbfnet_gradient_get_input(const acq_nbfnet_gradient *gradient, size_t i)
{
    acq_nbfnet_input input = {.query = gradient->queries + i * D,
                              .visit = gradient->model->shape.visit};
    for (unsigned l = 0; l < count_layers(gradient); l++)
        input.vectors[l] = gradient->vectors[l] + i * gradient->n_vector_floats;
    return input;
}

acq_nbfnet_slopes acq_nbfnet_gradient_get_slopes(const acq_nbfnet_gradient *gradient, size_t i)
{
    const acq_nbfnet_gradient *g = gradient;
    acq_nbfnet_slopes slopes = {.query = g->query_slopes + i * D};
    float *dense = g->dense_slopes + i * g->n_dense;
    for (unsigned t = 0; t < acq_nbfnet_count_tensors(&g->model->shape); t++) {
        if (acq_nbfnet_is_relational(t))
            continue;
        slopes.tensors[t] = dense;
        dense += round_up(acq_tensor_get_length(&g->model->parameters.tensors[t]));
    }
    for (unsigned l = 0; l < count_layers(g); l++)
        slopes.vectors[l] = g->vector_slopes[l] + i * g->n_vector_floats;
    return slopes;
}

static float *get_value(const acq_nbfnet_gradient *g, unsigned tensor)
{
    return g->values + g->model->parameters.tensors[tensor].offset;
}

/* From the slopes of relation vectors to those of the weights that make them. */
static acq_status gather_vectors(void *context, size_t l, unsigned thread)
{
    acq_nbfnet_gradient *g = context;
    const acq_kernels *k = g->packed.kernels;
    unsigned weights = acq_nbfnet_layer_tensor((unsigned)l, ACQ_NBFNET_RELATIONS);
    size_t n = g->n, m = g->n_vector_floats;
    (void)thread;
    k->gemm_weights(n, m, D, g->vector_slopes[l], m, g->queries, D, get_value(g, weights), D);
    k->sum_rows(n, m, g->vector_slopes[l], m, get_value(g, weights + 1));
    k->gemm(n, g->vector_slopes[l], m, &g->relations_back[l], NULL, 0, g->layer_query_slopes[l], D);
    return ACQ_OK;
}

static void gather_queries(acq_nbfnet_gradient *g)
{
    const acq_kernels *k = g->packed.kernels;
    for (size_t i = 0; i < g->n; i++) {
        float *to = get_value(g, ACQ_NBFNET_QUERY) + (size_t)g->asked[i] * D;
        k->add(D, g->query_slopes + i * D, to);
        for (unsigned l = 0; l < count_layers(g); l++)
            k->add(D, g->layer_query_slopes[l] + i * D, to);
    }
}

static void gather_dense(acq_nbfnet_gradient *g)
{
    for (size_t i = 0; i < g->n; i++) {
        acq_nbfnet_slopes slopes = acq_nbfnet_gradient_get_slopes(g, i);
        for (unsigned t = 0; t < acq_nbfnet_count_tensors(&g->model->shape); t++)
            if (slopes.tensors[t] != NULL)
                g->packed.kernels->add(acq_tensor_get_length(&g->model->parameters.tensors[t]),
                                       slopes.tensors[t], get_value(g, t));
    }
}

/* The slopes of the passes that other ranks had. */
static acq_status join_slopes(acq_nbfnet_gradient *g, acq_error *error)
{
    const acq_ranks *ranks = g->params.ranks;
    size_t n = g->n;
    acq_status status = acq_ranks_join(ranks, g->query_slopes, n * D, sizeof(float), error);
    for (unsigned l = 0; l < count_layers(g) && status == ACQ_OK; l++)
        status = acq_ranks_join(ranks, g->vector_slopes[l], n * g->n_vector_floats, sizeof(float),
                                error);
    if (status == ACQ_OK)
        status = acq_ranks_join(ranks, g->dense_slopes, n * g->n_dense, sizeof(float), error);
    return status;
}

acq_status acq_nbfnet_gradient_end(acq_nbfnet_gradient *gradient, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    acq_status status = join_slopes(g, error);
    if (status != ACQ_OK)
        return status;
    memset(g->values, 0, g->model->parameters.n * sizeof *g->values);
    if (acq_threads_run(count_threads(g), count_layers(g), gather_vectors, g) != ACQ_OK)
        return acq_fail_memory(error);
    gather_queries(g);
    gather_dense(g);
    return ACQ_OK;
}

/* ---- queries of one head ---- */

typedef struct job {
    acq_nbfnet_gradient *g;
    const acq_edges *edges;
    const float *scales;
    const acq_nbfnet_query *queries;
} job;

static acq_status run_query(void *context, size_t i, unsigned thread)
{
    const job *work = context;
    acq_nbfnet_gradient *g = work->g;
    const acq_nbfnet_query *query = &work->queries[i];
    acq_nbfnet_worker *worker = &g->workers[thread];
    g->losses[i] = 0;
    if (acq_ranks_is_others(g->params.ranks, i))
        return ACQ_OK;
    acq_nbfnet_slopes slopes = acq_nbfnet_gradient_get_slopes(g, i);
    acq_nbfnet_input input = acq_nbfnet_gradient_get_input(g, i);
    input.edges = query->edges == NULL ? work->edges : query->edges;
    input.scales = query->edges == NULL ? work->scales : query->scales;
    input.heads = &query->head;
    input.n_heads = 1;
    input.targets = query->targets;
    input.n_targets = query->n_targets;
    if (acq_nbfnet_forward(&g->packed, &input, true, &worker->pass, worker->scores) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    g->losses[i] = acq_nbfnet_loss(worker->scores, query->n_positives, query->n_targets,
                                   g->params.temperature, worker->slopes);
    g->packed.kernels->scale(query->n_targets, 1 / (float)g->n, worker->slopes);
    acq_nbfnet_backward(&g->packed, &input, &worker->pass, worker->slopes, &slopes);
    return ACQ_OK;
}

acq_status acq_nbfnet_gradient_compute(acq_nbfnet_gradient *gradient, const acq_edges *edges,
                                       const float *scales, const acq_nbfnet_query *queries,
                                       double *loss, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    job work = {.g = g, .edges = edges, .scales = scales, .queries = queries};
    uint32_t n = g->params.batch;
    acq_rel *relations = acq_alloc(n, sizeof *relations);
    if (relations == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n; i++)
        relations[i] = queries[i].relation;
    acq_status status = acq_nbfnet_gradient_begin(g, relations, n, error);
    acq_free(relations);
    if (status == ACQ_OK && acq_threads_run(count_threads(g), n, run_query, &work) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_end(g, error);
    if (status == ACQ_OK)
        status = acq_ranks_join(g->params.ranks, g->losses, n, sizeof *g->losses, error);
    *loss = 0;
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++)
        *loss += g->losses[i] / n;
    return status;
}
