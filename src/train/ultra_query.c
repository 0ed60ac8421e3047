/* ultra_query.c - see ultra_query.h. */
#include "train/ultra_query.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { WIDTH = ACQ_ULTRA_WIDTH, WIDE = 2 * ACQ_ULTRA_WIDTH, LAYERS = ACQ_ULTRA_LAYERS };

void acq_ultra_judge_init(acq_ultra_judge *judge, const acq_ultra *model,
                          const acq_ultra_packed *packed)
{
    *judge = (acq_ultra_judge){.stack = {.kernels = acq_kernels_get_best(),
                                         .model = model,
                                         .packed = packed,
                                         .net = ACQ_ENTITY_NET}};
}

void acq_ultra_judge_deinit(acq_ultra_judge *judge)
{
    acq_ultra_stack_deinit(&judge->stack);
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
    return acq_ultra_stack_reserve(&j->stack, n_nodes, error);
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

static void score(acq_ultra_judge *j, const acq_ultra_query *query, const float *vector)
{
    const acq_ultra_stack *s = &j->stack;
    size_t n = query->n_candidates;
    for (size_t i = 0; i < n; i++) {
        memcpy(j->in + i * WIDE, s->out + i * WIDTH, WIDTH * sizeof(float));
        memcpy(j->in + i * WIDE + WIDTH, vector, WIDTH * sizeof(float));
    }
    s->kernels->gemm(n, j->in, WIDE, &s->packed->score_0,
                     acq_ultra_get(s->model, ACQ_ULTRA_SCORE_0_BIAS), ACQ_GEMM_RELU, j->hidden,
                     WIDE);
    s->kernels->dot_rows(n, WIDE, j->hidden, WIDE,
                         acq_ultra_get(s->model, ACQ_ULTRA_SCORE_2_WEIGHT), j->scores);
    for (size_t i = 0; i < n; i++)
        j->scores[i] += *acq_ultra_get(s->model, ACQ_ULTRA_SCORE_2_BIAS);
}

void acq_ultra_query_forward(acq_ultra_judge *j, const acq_ultra_query *query,
                             acq_ultra_relations *relations)
{
    acq_ultra_run run = get_run(query, relations);
    acq_ultra_stack_forward(&j->stack, &run);
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
    return gradient + j->stack.model->parameters.tensors[tensor].offset;
}

/* From dscores to din = d [h_6, q] of each candidate. */
static void score_backward(acq_ultra_judge *j, size_t n, float *gradient)
{
    const acq_ultra_stack *s = &j->stack;
    const float *weight = acq_ultra_get(s->model, ACQ_ULTRA_SCORE_2_WEIGHT);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < WIDE; c++)
            j->dhidden[i * WIDE + c] = j->dscores[i] * weight[c];
    s->kernels->gemm_weights(n, 1, WIDE, j->dscores, 1, j->hidden, WIDE,
                             get_slope(j, gradient, ACQ_ULTRA_SCORE_2_WEIGHT), WIDE);
    s->kernels->sum_rows(n, 1, j->dscores, 1, get_slope(j, gradient, ACQ_ULTRA_SCORE_2_BIAS));
    s->kernels->relu_backward(n * WIDE, j->hidden, j->dhidden);
    s->kernels->gemm_weights(n, WIDE, WIDE, j->dhidden, WIDE, j->in, WIDE,
                             get_slope(j, gradient, ACQ_ULTRA_SCORE_0_WEIGHT), WIDE);
    s->kernels->sum_rows(n, WIDE, j->dhidden, WIDE, get_slope(j, gradient, ACQ_ULTRA_SCORE_0_BIAS));
    s->kernels->gemm(n, j->dhidden, WIDE, &s->packed->score_0_back, NULL, 0, j->din, WIDE);
}

double acq_ultra_query_backward(acq_ultra_judge *j, const acq_ultra_query *query,
                                acq_ultra_relations *relations, float *gradient)
{
    const acq_ultra_stack *s = &j->stack;
    acq_ultra_run run = get_run(query, relations);
    double loss = get_loss(j, query);
    score_backward(j, query->n_candidates, gradient);
    for (size_t i = 0; i < query->n_candidates; i++) {
        const float *slope = j->din + i * WIDE;
        memcpy(s->dout + i * WIDTH, slope, WIDTH * sizeof(float));
        s->kernels->add(WIDTH, slope + WIDTH, run.dboundary);
    }
    acq_ultra_stack_backward(&j->stack, &run, gradient);
    return loss;
}
