/* ultra_stack.c - see ultra_stack.h. */
#include "train/ultra_stack.h"

#include <string.h>

#include "base/memory.h"

enum { WIDTH = ACQ_ULTRA_WIDTH, WIDE = 2 * ACQ_ULTRA_WIDTH, LAYERS = ACQ_ULTRA_LAYERS, LINE = 16 };

static acq_status init_pair(acq_packed *forward, acq_packed *back, size_t n_in, size_t n_out)
{
    if (acq_packed_init(forward, n_in, n_out) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return acq_packed_init(back, n_out, n_in);
}

acq_status acq_ultra_packed_init(acq_ultra_packed *p)
{
    *p = (acq_ultra_packed){0};
    acq_status status = init_pair(&p->score_0, &p->score_0_back, WIDE, WIDE);
    for (size_t l = 0; l < LAYERS && status == ACQ_OK; l++) {
        bool made = init_pair(&p->linear[0][l], &p->linear_back[0][l], WIDE, WIDTH) == ACQ_OK &&
                    init_pair(&p->linear[1][l], &p->linear_back[1][l], WIDE, WIDTH) == ACQ_OK &&
                    init_pair(&p->project_0[l], &p->project_0_back[l], WIDTH, WIDTH) == ACQ_OK &&
                    init_pair(&p->project_2[l], &p->project_2_back[l], WIDTH, WIDTH) == ACQ_OK;
        status = made ? ACQ_OK : ACQ_ERR_MEMORY;
    }
    if (status != ACQ_OK)
        acq_ultra_packed_deinit(p);
    return status;
}

static void deinit_pair(acq_packed *forward, acq_packed *back)
{
    acq_packed_deinit(forward);
    acq_packed_deinit(back);
}

void acq_ultra_packed_deinit(acq_ultra_packed *p)
{
    deinit_pair(&p->score_0, &p->score_0_back);
    for (size_t l = 0; l < LAYERS; l++) {
        deinit_pair(&p->linear[0][l], &p->linear_back[0][l]);
        deinit_pair(&p->linear[1][l], &p->linear_back[1][l]);
        deinit_pair(&p->project_0[l], &p->project_0_back[l]);
        deinit_pair(&p->project_2[l], &p->project_2_back[l]);
    }
}

static void fill_pair(acq_packed *forward, acq_packed *back, const acq_ultra *model, size_t tensor)
{
    const float *weight = acq_ultra_get(model, tensor);
    acq_packed_fill(forward, weight, forward->k);
    acq_packed_fill_transposed(back, weight, forward->k);
}

void acq_ultra_packed_fill(acq_ultra_packed *p, const acq_ultra *model)
{
    fill_pair(&p->score_0, &p->score_0_back, model, ACQ_ULTRA_SCORE_0_WEIGHT);
    for (size_t l = 0; l < LAYERS; l++) {
        fill_pair(&p->linear[0][l], &p->linear_back[0][l], model,
                  acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATION_LINEAR_WEIGHT));
        fill_pair(&p->linear[1][l], &p->linear_back[1][l], model,
                  acq_ultra_entity_tensor(l, ACQ_ULTRA_ENTITY_LINEAR_WEIGHT));
        fill_pair(&p->project_0[l], &p->project_0_back[l], model,
                  acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_WEIGHT));
        fill_pair(&p->project_2[l], &p->project_2_back[l], model,
                  acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_2_WEIGHT));
    }
}

/* Hands out parts of the block, whole cache lines each; with a NULL block it only counts. */
static float *take(float **at, size_t n)
{
    float *part = *at;
    *at += (n + LINE - 1) / LINE * LINE;
    return part;
}

static void lay_out(acq_ultra_stack *s, float **at, size_t n)
{
    for (size_t l = 0; l < LAYERS; l++) {
        s->x[l] = take(at, n * WIDE);
        s->z[l] = take(at, n * WIDTH);
        s->y[l] = take(at, n * WIDTH);
        s->stats[l] = take(at, n * 2);
    }
    s->x[LAYERS] = take(at, n * WIDE);
    s->dh = take(at, n * WIDTH);
    s->dz = take(at, n * WIDTH);
    s->dx = take(at, n * WIDE);
}

acq_status acq_ultra_stack_reserve(acq_ultra_stack *s, size_t n_nodes, acq_error *error)
{
    enum { FLOATS_PER_NODE = LAYERS * (WIDE + 2 * WIDTH + 2) + 2 * WIDE + 2 * WIDTH };
    if (n_nodes <= s->most)
        return ACQ_OK;
    size_t most = n_nodes + n_nodes / 4 + LINE;
    float *block = acq_alloc(most * FLOATS_PER_NODE + (LAYERS * 4 + 5) * LINE, sizeof *block);
    if (block == NULL)
        return acq_fail_memory(error);
    acq_free(s->block);
    s->block = block;
    s->most = most;
    float *at = (float *)(((uintptr_t)block + 63) / 64 * 64);
    lay_out(s, &at, most);
    return ACQ_OK;
}

void acq_ultra_stack_deinit(acq_ultra_stack *s)
{
    acq_free(s->block);
    *s = (acq_ultra_stack){0};
}

/* Place of linear.weight; bias, norm.weight and norm.bias follow. */
static size_t get_linear(acq_ultra_net net, size_t layer)
{
    return net == ACQ_RELATION_NET
               ? acq_ultra_relation_tensor(layer, ACQ_ULTRA_RELATION_LINEAR_WEIGHT)
               : acq_ultra_entity_tensor(layer, ACQ_ULTRA_ENTITY_LINEAR_WEIGHT);
}

static void start_states(acq_ultra_stack *s, const acq_ultra_run *run)
{
    for (size_t v = 0; v < run->edges->n_nodes; v++)
        memset(s->x[0] + v * WIDE, 0, WIDTH * sizeof(float));
    memcpy(s->x[0] + run->start * WIDE, run->boundary, WIDTH * sizeof(float));
}

static void add_messages(acq_ultra_stack *s, const acq_ultra_run *run, size_t layer)
{
    size_t n = run->edges->n_nodes;
    float *messages = s->x[layer] + WIDTH;
    for (size_t v = 0; v < n; v++)
        memset(messages + v * WIDE, 0, WIDTH * sizeof(float));
    memcpy(messages + run->start * WIDE, run->boundary, WIDTH * sizeof(float));
    acq_messages m = acq_edges_get_messages(run->edges);
    m.width = WIDTH;
    m.vectors = run->vectors[layer];
    m.in = s->x[layer];
    m.out = messages;
    m.ld_in = m.ld_out = WIDE;
    s->kernels->gather(&m, n, NULL);
}

static void forward_layer(acq_ultra_stack *s, const acq_ultra_run *run, size_t l)
{
    size_t n = run->edges->n_nodes, linear = get_linear(s->net, l);
    const float *bias = acq_ultra_get(s->model, linear + 1);
    const float *gain = acq_ultra_get(s->model, linear + 2);
    const float *shift = acq_ultra_get(s->model, linear + 3);
    add_messages(s, run, l);
    s->kernels->gemm(n, s->x[l], WIDE, &s->packed->linear[s->net][l], bias, 0, s->z[l], WIDTH);
    s->kernels->layer_norm(n, WIDTH, s->z[l], gain, shift, s->y[l], s->stats[l]);
    s->kernels->relu(n * WIDTH, s->y[l]);
    for (size_t v = 0; v < n; v++)
        s->kernels->add_to(WIDTH, s->x[l] + v * WIDE, s->y[l] + v * WIDTH, s->x[l + 1] + v * WIDE);
}

void acq_ultra_stack_forward(acq_ultra_stack *s, const acq_ultra_run *run)
{
    start_states(s, run);
    for (size_t l = 0; l < LAYERS; l++)
        forward_layer(s, run, l);
}

static float *get_slope(const acq_ultra_stack *s, float *gradient, size_t tensor)
{
    return gradient + s->model->parameters.tensors[tensor].offset;
}

/* From dh = d h_{l+1} to dx = d [h_l, m_l] as far as it comes through linear. */
static void backward_linear(acq_ultra_stack *s, size_t n, size_t l, float *gradient)
{
    size_t linear = get_linear(s->net, l);
    const acq_kernels *kernels = s->kernels;
    memcpy(s->dz, s->dh, n * WIDTH * sizeof(float));
    kernels->relu_backward(n * WIDTH, s->y[l], s->dz);
    kernels->layer_norm_backward(n, WIDTH, s->z[l], acq_ultra_get(s->model, linear + 2),
                                 s->stats[l], s->dz, s->dz, get_slope(s, gradient, linear + 2),
                                 get_slope(s, gradient, linear + 3));
    kernels->gemm_weights(n, WIDTH, WIDE, s->dz, WIDTH, s->x[l], WIDE,
                          get_slope(s, gradient, linear), WIDE);
    kernels->sum_rows(n, WIDTH, s->dz, WIDTH, get_slope(s, gradient, linear + 1));
    kernels->gemm(n, s->dz, WIDTH, &s->packed->linear_back[s->net][l], NULL, 0, s->dx, WIDE);
}

/* dh becomes d h_l: the shortcut, the linear layer, and messages along the reversed edges. */
static void backward_messages(acq_ultra_stack *s, const acq_ultra_run *run, size_t l)
{
    size_t n = run->edges->n_nodes;
    for (size_t v = 0; v < n; v++)
        s->kernels->add(WIDTH, s->dx + v * WIDE, s->dh + v * WIDTH);
    acq_messages m = acq_edges_get_reversed(run->edges);
    m.width = WIDTH;
    m.vectors = run->vectors[l];
    m.in = s->dx + WIDTH;
    m.ld_in = WIDE;
    m.out = s->dh;
    m.ld_out = WIDTH;
    m.states = s->x[l];
    m.ld_states = WIDE;
    m.dvectors = run->dvectors[l];
    s->kernels->gather(&m, n, NULL);
}

void acq_ultra_stack_backward(acq_ultra_stack *s, const acq_ultra_run *run, float *gradient)
{
    for (size_t l = LAYERS; l-- > 0;) {
        backward_linear(s, run->edges->n_nodes, l, gradient);
        if (run->dboundary != NULL)
            s->kernels->add(WIDTH, s->dx + run->start * WIDE + WIDTH, run->dboundary);
        backward_messages(s, run, l);
    }
    if (run->dboundary != NULL)
        s->kernels->add(WIDTH, s->dh + run->start * WIDTH, run->dboundary);
}
