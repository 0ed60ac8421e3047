/* nbfnet_gradient.c - see nbfnet_gradient.h. */
#include "train/nbfnet_gradient.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { D = ACQ_NBFNET_WIDTH, L = ACQ_NBFNET_LAYERS, LINE = 16 };

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

static unsigned count_threads(const acq_nbfnet_gradient *g)
{
    return g->params->n_threads == 0 ? 1 : g->params->n_threads;
}

static size_t count_dense(const acq_nbfnet *model)
{
    size_t n = 0;
    for (unsigned t = 0; t < ACQ_NBFNET_N_TENSORS; t++)
        if (!acq_nbfnet_is_relational(t))
            n += round_up(acq_tensor_get_length(&model->parameters.tensors[t]));
    return n;
}

/* Floats needed; with a block, also points the matrices into it. */
static size_t lay_out(acq_nbfnet_gradient *g, float *block)
{
    size_t used = 0, n = g->params->batch;
    g->queries = cut(block, &used, n * D);
    g->query_slopes = cut(block, &used, n * D);
    for (unsigned l = 0; l < L; l++) {
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
    size_t room = (size_t)g->params->negatives + ACQ_NBFNET_MOST_POSITIVES;
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
    for (unsigned l = 0; l < L && status == ACQ_OK; l++) {
        status = acq_packed_init(&g->relations[l], D, g->n_vector_floats);
        if (status == ACQ_OK)
            status = acq_packed_init(&g->relations_back[l], g->n_vector_floats, D);
    }
    return status;
}

acq_status acq_nbfnet_gradient_init(acq_nbfnet_gradient *gradient, acq_nbfnet *model,
                                    const acq_train_nbfnet_params *params, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    *g = (acq_nbfnet_gradient){.params = params,
                               .model = model,
                               .n_vector_floats = (size_t)model->n_relations * D,
                               .n_dense = count_dense(model)};
    g->block = acq_alloc(lay_out(g, NULL), sizeof *g->block);
    g->losses = acq_alloc(params->batch, sizeof *g->losses);
    if (g->block == NULL || g->losses == NULL || init_workers(g) != ACQ_OK ||
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
    for (unsigned l = 0; l < L; l++) {
        acq_packed_deinit(&g->relations[l]);
        acq_packed_deinit(&g->relations_back[l]);
    }
    acq_nbfnet_packed_deinit(&g->packed);
    acq_free(g->workers);
    acq_free(g->losses);
    acq_free(g->block);
    *g = (acq_nbfnet_gradient){0};
}

typedef struct job {
    acq_nbfnet_gradient *g;
    const acq_nbfnet_batch *batch;
} job;

static acq_status make_vectors(void *context, size_t l, unsigned thread)
{
    acq_nbfnet_gradient *g = ((job *)context)->g;
    unsigned weights = acq_nbfnet_layer_tensor((unsigned)l, ACQ_NBFNET_RELATIONS);
    size_t n = g->params->batch;
    (void)thread;
    acq_packed_fill(&g->relations[l], acq_nbfnet_get(g->model, weights), D);
    acq_packed_fill_transposed(&g->relations_back[l], acq_nbfnet_get(g->model, weights), D);
    g->packed.kernels->gemm(n, g->queries, D, &g->relations[l],
                            acq_nbfnet_get(g->model, weights + 1), 0, g->vectors[l],
                            g->n_vector_floats);
    memset(g->vector_slopes[l], 0, n * g->n_vector_floats * sizeof(float));
    return ACQ_OK;
}

static void copy_queries(acq_nbfnet_gradient *g, const acq_nbfnet_batch *batch)
{
    const float *all = acq_nbfnet_get(g->model, ACQ_NBFNET_QUERY);
    for (size_t i = 0; i < g->params->batch; i++)
        memcpy(g->queries + i * D, all + (size_t)batch->queries[i].relation * D,
               D * sizeof *g->queries);
    memset(g->query_slopes, 0, g->params->batch * D * sizeof *g->query_slopes);
    memset(g->dense_slopes, 0, g->params->batch * g->n_dense * sizeof *g->dense_slopes);
}

/* Where the slopes of query i go. */
static acq_nbfnet_slopes get_slopes(const acq_nbfnet_gradient *g, size_t i)
{
    acq_nbfnet_slopes slopes = {.query = g->query_slopes + i * D};
    float *dense = g->dense_slopes + i * g->n_dense;
    for (unsigned t = 0; t < ACQ_NBFNET_N_TENSORS; t++) {
        if (acq_nbfnet_is_relational(t))
            continue;
        slopes.tensors[t] = dense;
        dense += round_up(acq_tensor_get_length(&g->model->parameters.tensors[t]));
    }
    for (unsigned l = 0; l < L; l++)
        slopes.vectors[l] = g->vector_slopes[l] + i * g->n_vector_floats;
    return slopes;
}

static acq_status run_query(void *context, size_t i, unsigned thread)
{
    acq_nbfnet_gradient *g = ((job *)context)->g;
    const acq_nbfnet_batch *batch = ((job *)context)->batch;
    const acq_nbfnet_query *query = &batch->queries[i];
    acq_nbfnet_worker *worker = &g->workers[thread];
    uint32_t head = batch->subgraph.local[query->head];
    acq_nbfnet_slopes slopes = get_slopes(g, i);
    acq_nbfnet_input input = {.edges = &batch->subgraph.edges,
                              .scales = batch->scales,
                              .query = g->queries + i * D,
                              .heads = &head,
                              .n_heads = 1,
                              .targets = query->targets,
                              .n_targets = query->n_targets};
    for (unsigned l = 0; l < L; l++)
        input.vectors[l] = g->vectors[l] + i * g->n_vector_floats;
    if (acq_nbfnet_forward(&g->packed, &input, true, &worker->pass, worker->scores) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    g->losses[i] = acq_nbfnet_loss(worker->scores, query->n_positives, query->n_targets,
                                   g->params->temperature, worker->slopes);
    g->packed.kernels->scale(query->n_targets, 1 / (float)g->params->batch, worker->slopes);
    acq_nbfnet_backward(&g->packed, &input, &worker->pass, worker->slopes, &slopes);
    return ACQ_OK;
}

static float *get_value(const acq_nbfnet_gradient *g, unsigned tensor)
{
    return g->values + g->model->parameters.tensors[tensor].offset;
}

/* From the slopes of relation vectors to those of the weights that make them. */
static acq_status gather_vectors(void *context, size_t l, unsigned thread)
{
    acq_nbfnet_gradient *g = ((job *)context)->g;
    const acq_kernels *k = g->packed.kernels;
    unsigned weights = acq_nbfnet_layer_tensor((unsigned)l, ACQ_NBFNET_RELATIONS);
    size_t n = g->params->batch, m = g->n_vector_floats;
    (void)thread;
    k->gemm_weights(n, m, D, g->vector_slopes[l], m, g->queries, D, get_value(g, weights), D);
    k->sum_rows(n, m, g->vector_slopes[l], m, get_value(g, weights + 1));
    k->gemm(n, g->vector_slopes[l], m, &g->relations_back[l], NULL, 0, g->layer_query_slopes[l], D);
    return ACQ_OK;
}

static void gather_queries(acq_nbfnet_gradient *g, const acq_nbfnet_batch *batch)
{
    const acq_kernels *k = g->packed.kernels;
    for (size_t i = 0; i < g->params->batch; i++) {
        float *to = get_value(g, ACQ_NBFNET_QUERY) + (size_t)batch->queries[i].relation * D;
        k->add(D, g->query_slopes + i * D, to);
        for (unsigned l = 0; l < L; l++)
            k->add(D, g->layer_query_slopes[l] + i * D, to);
    }
}

static void gather_dense(acq_nbfnet_gradient *g)
{
    for (size_t i = 0; i < g->params->batch; i++) {
        acq_nbfnet_slopes slopes = get_slopes(g, i);
        for (unsigned t = 0; t < ACQ_NBFNET_N_TENSORS; t++)
            if (slopes.tensors[t] != NULL)
                g->packed.kernels->add(acq_tensor_get_length(&g->model->parameters.tensors[t]),
                                       slopes.tensors[t], get_value(g, t));
    }
}

acq_status acq_nbfnet_gradient_compute(acq_nbfnet_gradient *gradient, const acq_nbfnet_batch *batch,
                                       double *loss, acq_error *error)
{
    acq_nbfnet_gradient *g = gradient;
    job work = {.g = g, .batch = batch};
    unsigned n_threads = count_threads(g);
    acq_nbfnet_packed_fill(&g->packed);
    copy_queries(g, batch);
    acq_status status = acq_threads_run(n_threads, L, make_vectors, &work);
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, g->params->batch, run_query, &work);
    memset(g->values, 0, g->model->parameters.n * sizeof *g->values);
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, L, gather_vectors, &work);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    gather_queries(g, batch);
    gather_dense(g);
    *loss = 0;
    for (size_t i = 0; i < g->params->batch; i++)
        *loss += g->losses[i] / g->params->batch;
    return ACQ_OK;
}
