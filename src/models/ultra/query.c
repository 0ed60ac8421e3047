/* query.c - see query.h. */
#include "models/ultra/query.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { WIDTH = ACQ_ULTRA_WIDTH, WIDE = 2 * ACQ_ULTRA_WIDTH, LAYERS = ACQ_ULTRA_LAYERS };

static acq_status add_row(acq_edges *edges, const acq_relation_graph *graph, acq_rel row)
{
    static const acq_rel reversed[ACQ_ULTRA_KINDS] = {
        [ACQ_HEAD_HEAD] = ACQ_HEAD_HEAD,
        [ACQ_TAIL_TAIL] = ACQ_TAIL_TAIL,
        [ACQ_HEAD_TAIL] = ACQ_TAIL_HEAD,
        [ACQ_TAIL_HEAD] = ACQ_HEAD_TAIL,
    };
    for (acq_rel kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        uint32_t begin = graph->offsets[kind][row], end = graph->offsets[kind][row + 1];
        if (acq_edges_add_group(edges, kind, reversed[kind], end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t i = begin; i < end; i++)
            acq_edges_add_source(edges, graph->columns[kind][i]);
    }
    acq_edges_finish_node(edges, row);
    return ACQ_OK;
}

acq_status acq_ultra_relation_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error)
{
    acq_relation_graph relations;
    *edges = (acq_edges){0};
    acq_status status = acq_relation_graph_init(&relations, graph, error);
    if (status != ACQ_OK)
        return status;
    bool made = acq_edges_start(edges, relations.n_relations, ACQ_ULTRA_KINDS) == ACQ_OK;
    for (acq_rel r = 0; r < relations.n_relations && made; r++)
        made = add_row(edges, &relations, r) == ACQ_OK;
    acq_relation_graph_deinit(&relations);
    if (made)
        return ACQ_OK;
    acq_edges_deinit(edges);
    return acq_fail_memory(error);
}

acq_status acq_ultra_relations_init(acq_ultra_relations *r, const acq_ultra *model,
                                    const acq_ultra_packed *packed, uint32_t most, acq_error *error)
{
    enum { PARTS = 3 + 3 * LAYERS };
    size_t part = (size_t)most * WIDTH;
    *r = (acq_ultra_relations){.most = most};
    r->stack = (acq_ultra_stack){.kernels = acq_kernels_get_best(),
                                 .model = model,
                                 .packed = packed,
                                 .net = ACQ_RELATION_NET};
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
    return acq_ultra_stack_reserve(&r->stack, most, error);
}

void acq_ultra_relations_deinit(acq_ultra_relations *r)
{
    acq_ultra_stack_deinit(&r->stack);
    acq_free(r->block);
    acq_free(r->all);
    *r = (acq_ultra_relations){0};
}

static acq_ultra_run get_relation_run(const acq_ultra_relations *r, const acq_edges *edges, acq_rel relation,
                             float *gradient)
{
    static const float ones[WIDTH] = {
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };
    const acq_ultra *model = r->stack.model;
    acq_ultra_run run = {.edges = edges,
                         .start = relation,
                         .boundary = ones,
                         .wanted = r->all,
                         .n_wanted = edges->n_nodes};
    for (size_t l = 0; l < LAYERS; l++) {
        size_t tensor = acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATIONS);
        run.vectors[l] = acq_ultra_get(model, tensor);
        if (gradient != NULL)
            run.dvectors[l] = gradient + model->parameters.tensors[tensor].offset;
    }
    return run;
}

static void project(acq_ultra_relations *r, size_t n, size_t l)
{
    const acq_ultra_stack *s = &r->stack;
    const float *bias_0 =
        acq_ultra_get(s->model, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_BIAS));
    const float *bias_2 =
        acq_ultra_get(s->model, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_2_BIAS));
    s->kernels->gemm(n, r->vectors, WIDTH, &s->packed->project_0[l], bias_0, ACQ_GEMM_RELU,
                     r->hidden[l], WIDTH);
    s->kernels->gemm(n, r->hidden[l], WIDTH, &s->packed->project_2[l], bias_2, 0, r->projected[l],
                     WIDTH);
}

void acq_ultra_relations_forward(acq_ultra_relations *r, const acq_edges *edges, acq_rel relation)
{
    size_t n = edges->n_nodes;
    acq_ultra_run run = get_relation_run(r, edges, relation, NULL);
    acq_ultra_stack_forward(&r->stack, &run);
    memcpy(r->vectors, r->stack.out, n * WIDTH * sizeof(float));
    for (size_t l = 0; l < LAYERS; l++)
        project(r, n, l);
    memset(r->dvectors, 0, (size_t)r->most * WIDTH * (1 + LAYERS) * sizeof(float));
}

/* Adds to dvectors what comes through one layer's projection. */
static void project_backward(acq_ultra_relations *r, size_t n, size_t l, float *gradient)
{
    const acq_ultra_stack *s = &r->stack;
    const acq_tensor *tensors =
        s->model->parameters.tensors + acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_WEIGHT);
    const acq_kernels *kernels = s->kernels;
    kernels->gemm_weights(n, WIDTH, WIDTH, r->dprojected[l], WIDTH, r->hidden[l], WIDTH,
                          gradient + tensors[ACQ_ULTRA_PROJECT_2_WEIGHT].offset, WIDTH);
    kernels->sum_rows(n, WIDTH, r->dprojected[l], WIDTH,
                      gradient + tensors[ACQ_ULTRA_PROJECT_2_BIAS].offset);
    kernels->gemm(n, r->dprojected[l], WIDTH, &s->packed->project_2_back[l], NULL, 0, r->dhidden,
                  WIDTH);
    kernels->relu_backward(n * WIDTH, r->hidden[l], r->dhidden);
    kernels->gemm_weights(n, WIDTH, WIDTH, r->dhidden, WIDTH, r->vectors, WIDTH,
                          gradient + tensors[ACQ_ULTRA_PROJECT_0_WEIGHT].offset, WIDTH);
    kernels->sum_rows(n, WIDTH, r->dhidden, WIDTH,
                      gradient + tensors[ACQ_ULTRA_PROJECT_0_BIAS].offset);
    kernels->gemm(n, r->dhidden, WIDTH, &s->packed->project_0_back[l], NULL, ACQ_GEMM_ADD,
                  r->dvectors, WIDTH);
}

void acq_ultra_relations_backward(acq_ultra_relations *r, const acq_edges *edges, acq_rel relation,
                                  float *gradient)
{
    size_t n = edges->n_nodes;
    acq_ultra_run run = get_relation_run(r, edges, relation, gradient);
    for (size_t l = 0; l < LAYERS; l++)
        project_backward(r, n, l, gradient);
    memcpy(r->stack.dout, r->dvectors, n * WIDTH * sizeof(float));
    acq_ultra_stack_backward(&r->stack, &run, gradient);
}

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
