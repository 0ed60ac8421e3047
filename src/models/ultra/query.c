/* query.c - see pass.h. */
#include "models/ultra/pass.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { WIDTH = ACQ_ULTRA_WIDTH, WIDE = 2 * ACQ_ULTRA_WIDTH, LAYERS = ACQ_ULTRA_LAYERS };

acq_status acq_ultra_relations_init(acq_ultra_relations *r, const acq_ultra_network *network,
                                    uint32_t most, acq_error *error)
{
    enum { PARTS = 3 + 3 * LAYERS };
    size_t part = (size_t)most * WIDTH;
    *r = (acq_ultra_relations){.most = most};
    r->pass = (acq_ultra_pass){.network = network, .net = ACQ_RELATION_NET, .keep = ACQ_KEEP_ALL};
    r->block = acq_alloc(PARTS * part, sizeof *r->block);
    r->all = acq_alloc(most, sizeof *r->all);
    if (r->block == NULL || r->all == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < most; i++)
        r->all[i] = i;
    float *at = r->block;
    r->vectors = at;
    r->dhidden = at + part;
    r->dvectors = at + 2 * part; /* followed by the other gradients */
    for (size_t l = 0; l < LAYERS; l++) {
        r->dprojected[l] = at + (3 + l) * part;
        r->hidden[l] = at + (3 + LAYERS + l) * part;
        r->projected[l] = at + (3 + 2 * LAYERS + l) * part;
    }
    return acq_ultra_pass_reserve(&r->pass, most, error);
}

void acq_ultra_relations_deinit(acq_ultra_relations *r)
{
    acq_ultra_pass_deinit(&r->pass);
    acq_free(r->block);
    acq_free(r->all);
    *r = (acq_ultra_relations){0};
}

static acq_ultra_run get_relation_run(const acq_ultra_relations *r, const acq_edges *edges,
                                      acq_rel relation, float *gradient)
{
    const acq_ultra *model = r->pass.network->model;
    acq_ultra_run run = acq_ultra_start_relations(model, edges, relation);
    run.gathers_first = false;
    run.wanted = r->all;
    for (size_t l = 0; l < LAYERS && gradient != NULL; l++) {
        size_t tensor = acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATIONS);
        run.dvectors[l] = gradient + model->parameters.tensors[tensor].offset;
    }
    return run;
}

void acq_ultra_relations_forward(acq_ultra_relations *r, const acq_edges *edges, acq_rel relation)
{
    size_t n = edges->n_nodes;
    acq_ultra_run run = get_relation_run(r, edges, relation, NULL);
    acq_ultra_pass_forward(&r->pass, &run);
    memcpy(r->vectors, r->pass.out, n * WIDTH * sizeof(float));
    for (size_t l = 0; l < LAYERS; l++)
        acq_ultra_project(r->pass.network, l, n, r->vectors, r->hidden[l], r->projected[l]);
    memset(r->dvectors, 0, (size_t)r->most * WIDTH * (1 + LAYERS) * sizeof(float));
}

/* Adds to dvectors what comes through one layer's projection. */
static void project_backward(acq_ultra_relations *r, size_t n, size_t l, float *gradient)
{
    const acq_ultra_network *network = r->pass.network;
    const acq_tensor *tensors =
        network->model->parameters.tensors + acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_WEIGHT);
    const acq_kernels *kernels = network->kernels;
    kernels->gemm_weights(n, WIDTH, WIDTH, r->dprojected[l], WIDTH, r->hidden[l], WIDTH,
                          gradient + tensors[ACQ_ULTRA_PROJECT_2_WEIGHT].offset, WIDTH);
    kernels->sum_rows(n, WIDTH, r->dprojected[l], WIDTH,
                      gradient + tensors[ACQ_ULTRA_PROJECT_2_BIAS].offset);
    kernels->gemm(n, r->dprojected[l], WIDTH, &network->project_back[l][1], NULL, 0, r->dhidden,
                  WIDTH);
    kernels->relu_backward(n * WIDTH, r->hidden[l], r->dhidden);
    kernels->gemm_weights(n, WIDTH, WIDTH, r->dhidden, WIDTH, r->vectors, WIDTH,
                          gradient + tensors[ACQ_ULTRA_PROJECT_0_WEIGHT].offset, WIDTH);
    kernels->sum_rows(n, WIDTH, r->dhidden, WIDTH,
                      gradient + tensors[ACQ_ULTRA_PROJECT_0_BIAS].offset);
    kernels->gemm(n, r->dhidden, WIDTH, &network->project_back[l][0], NULL, ACQ_GEMM_ADD,
                  r->dvectors, WIDTH);
}

void acq_ultra_relations_backward(acq_ultra_relations *r, const acq_edges *edges, acq_rel relation,
                                  float *gradient)
{
    size_t n = edges->n_nodes;
    acq_ultra_run run = get_relation_run(r, edges, relation, gradient);
    for (size_t l = 0; l < LAYERS; l++)
        project_backward(r, n, l, gradient);
    memcpy(r->pass.dout, r->dvectors, n * WIDTH * sizeof(float));
    acq_ultra_pass_backward(&r->pass, &run, gradient);
}

void acq_ultra_judge_init(acq_ultra_judge *judge, const acq_ultra_network *network)
{
    *judge = (acq_ultra_judge){
        .pass = {.network = network, .net = ACQ_ENTITY_NET, .keep = ACQ_KEEP_ALL}};
}

void acq_ultra_judge_deinit(acq_ultra_judge *judge)
{
    acq_ultra_pass_deinit(&judge->pass);
    acq_free(judge->in);
    *judge = (acq_ultra_judge){0};
}

acq_status acq_ultra_judge_reserve(acq_ultra_judge *j, size_t n_nodes, size_t n_candidates,
                                   acq_error *error)
{
    size_t n = n_candidates;
    if (n > j->most) {
        float *block = acq_alloc(n * (4 * WIDE + 2), sizeof *block);
        if (block == NULL)
            return acq_fail_memory(error);
        acq_free(j->in);
        j->most = n;
        j->in = block;
        j->hidden = block + n * WIDE;
        j->dhidden = block + 2 * n * WIDE;
        j->din = block + 3 * n * WIDE;
        j->scores = block + 4 * n * WIDE;
        j->dscores = j->scores + n;
    }
    return acq_ultra_pass_reserve(&j->pass, n_nodes, error);
}

static acq_ultra_run get_run(const acq_ultra_query *query, acq_ultra_relations *relations)
{
    acq_ultra_run run = {.edges = query->edges,
                         .start = query->head,
                         .boundary = relations->vectors + query->relation * WIDTH,
                         .dboundary = relations->dvectors + query->relation * WIDTH,
                         .wanted = query->candidates,
                         .n_wanted = query->n_candidates};
    for (size_t l = 0; l < LAYERS; l++) {
        run.vectors[l] = relations->projected[l];
        run.dvectors[l] = relations->dprojected[l];
    }
    return run;
}

/* In one product of [state, query vector], whose inputs the way back needs. */
static void score(acq_ultra_judge *j, const acq_ultra_query *query, const float *vector)
{
    const acq_ultra_network *network = j->pass.network;
    const acq_ultra *model = network->model;
    size_t n = query->n_candidates;
    for (size_t i = 0; i < n; i++) {
        memcpy(j->in + i * WIDE, j->pass.out + i * WIDTH, WIDTH * sizeof(float));
        memcpy(j->in + i * WIDE + WIDTH, vector, WIDTH * sizeof(float));
    }
    network->kernels->gemm(n, j->in, WIDE, &network->score_0,
                           acq_ultra_get(model, ACQ_ULTRA_SCORE_0_BIAS), ACQ_GEMM_RELU, j->hidden,
                           WIDE);
    network->kernels->dot_rows(n, WIDE, j->hidden, WIDE,
                               acq_ultra_get(model, ACQ_ULTRA_SCORE_2_WEIGHT), j->scores);
    for (size_t i = 0; i < n; i++)
        j->scores[i] += *acq_ultra_get(model, ACQ_ULTRA_SCORE_2_BIAS);
}

void acq_ultra_query_forward(acq_ultra_judge *j, const acq_ultra_query *query,
                             acq_ultra_relations *relations)
{
    acq_ultra_run run = get_run(query, relations);
    acq_ultra_pass_forward(&j->pass, &run);
    score(j, query, run.boundary);
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Loss, and its slopes by the scores times the query's weight. */
static double get_loss(acq_ultra_judge *j, const acq_ultra_query *query)
{
    size_t first = query->n_positives, n = query->n_candidates;
    double most = -INFINITY, mass = 0, loss = 0;
    for (size_t i = 0; i < first; i++) {
        loss += softplus(-j->scores[i]) / (double)first / 2;
        j->dscores[i] = (float)(-query->weight * sigmoid(-j->scores[i]) / (double)first / 2);
    }
    for (size_t i = first; i < n; i++)
        most = fmax(most, query->temperature * j->scores[i]);
    for (size_t i = first; i < n; i++)
        mass += exp(query->temperature * j->scores[i] - most);
    for (size_t i = first; i < n; i++) {
        double share = exp(query->temperature * j->scores[i] - most) / mass / 2;
        loss += share * softplus(j->scores[i]);
        j->dscores[i] = (float)(query->weight * share * sigmoid(j->scores[i]));
    }
    return loss;
}

static float *get_slope(const acq_ultra_judge *j, float *gradient, size_t tensor)
{
    return gradient + j->pass.network->model->parameters.tensors[tensor].offset;
}

/* From dscores to din = d [h_6, q] of each candidate. */
static void score_backward(acq_ultra_judge *j, size_t n, float *gradient)
{
    const acq_ultra_network *network = j->pass.network;
    const acq_kernels *kernels = network->kernels;
    const float *weight = acq_ultra_get(network->model, ACQ_ULTRA_SCORE_2_WEIGHT);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < WIDE; c++)
            j->dhidden[i * WIDE + c] = j->dscores[i] * weight[c];
    kernels->gemm_weights(n, 1, WIDE, j->dscores, 1, j->hidden, WIDE,
                          get_slope(j, gradient, ACQ_ULTRA_SCORE_2_WEIGHT), WIDE);
    kernels->sum_rows(n, 1, j->dscores, 1, get_slope(j, gradient, ACQ_ULTRA_SCORE_2_BIAS));
    kernels->relu_backward(n * WIDE, j->hidden, j->dhidden);
    kernels->gemm_weights(n, WIDE, WIDE, j->dhidden, WIDE, j->in, WIDE,
                          get_slope(j, gradient, ACQ_ULTRA_SCORE_0_WEIGHT), WIDE);
    kernels->sum_rows(n, WIDE, j->dhidden, WIDE, get_slope(j, gradient, ACQ_ULTRA_SCORE_0_BIAS));
    kernels->gemm(n, j->dhidden, WIDE, &network->score_0_back, NULL, 0, j->din, WIDE);
}

double acq_ultra_query_backward(acq_ultra_judge *j, const acq_ultra_query *query,
                                acq_ultra_relations *relations, float *gradient)
{
    acq_ultra_run run = get_run(query, relations);
    double loss = get_loss(j, query);
    score_backward(j, query->n_candidates, gradient);
    for (size_t i = 0; i < query->n_candidates; i++) {
        const float *slope = j->din + i * WIDE;
        memcpy(j->pass.dout + i * WIDTH, slope, WIDTH * sizeof(float));
        j->pass.network->kernels->add(WIDTH, slope + WIDTH, run.dboundary);
    }
    acq_ultra_pass_backward(&j->pass, &run, gradient);
    return loss;
}
