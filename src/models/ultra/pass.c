/* pass.c - see pass.h. */
#include "models/ultra/pass.h"

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

/* Hands out parts of the block, whole cache lines each. */
static float *take(float **at, size_t n)
{
    float *part = *at;
    *at += (n + LINE - 1) / LINE * LINE;
    return part;
}

/* n nodes, and one row more where compact rows are. */
static void lay_out(acq_ultra_stack *s, float **at, size_t n)
{
    for (size_t l = 0; l < LAYERS; l++) {
        s->x[l] = take(at, n * WIDE);
        s->z[l] = take(at, (n + 1) * WIDTH);
        s->y[l] = take(at, (n + 1) * WIDTH);
        s->stats[l] = take(at, (n + 1) * 2);
    }
    s->first = take(at, (n + 1) * WIDE);
    s->last = take(at, n * WIDE);
    s->out = take(at, n * WIDTH);
    s->dout = take(at, n * WIDTH);
    s->dh = take(at, n * WIDTH);
    s->dz = take(at, (n + 1) * WIDTH);
    s->dx = take(at, n * WIDE);
    s->dcompact = take(at, (n + 1) * WIDE);
    s->reached = (uint32_t *)take(at, n);
    s->is_reached = (uint8_t *)take(at, n);
}

acq_status acq_ultra_stack_reserve(acq_ultra_stack *s, size_t n_nodes, acq_error *error)
{
    enum {
        PARTS = 4 * LAYERS + 10,
        FLOATS_PER_NODE = LAYERS * (WIDE + 2 * WIDTH + 2) + 4 * WIDE + 4 * WIDTH + 2,
    };
    if (n_nodes <= s->most)
        return ACQ_OK;
    size_t most = n_nodes + n_nodes / 4;
    float *block = acq_alloc((most + 1) * FLOATS_PER_NODE + (PARTS + 1) * LINE, sizeof *block);
    if (block == NULL)
        return acq_fail_memory(error);
    acq_free(s->block);
    s->block = block;
    s->most = most;
    s->n_reached = 0;
    float *at = (float *)(((uintptr_t)block + LINE * sizeof *at - 1) / (LINE * sizeof *at) *
                          (LINE * sizeof *at));
    lay_out(s, &at, most);
    memset(s->is_reached, 0, most);
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

static void copy(const float *from, float *to, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static void clear(float *x, size_t n)
{
    memset(x, 0, n * sizeof *x);
}

/* y = ReLU(norm(linear x)) of m rows. */
static void forward_rows(acq_ultra_stack *s, size_t l, size_t m, const float *x)
{
    size_t linear = get_linear(s->net, l);
    s->kernels->gemm(m, x, WIDE, &s->packed->linear[s->net][l], acq_ultra_get(s->model, linear + 1),
                     0, s->z[l], WIDTH);
    s->kernels->layer_norm(m, WIDTH, s->z[l], acq_ultra_get(s->model, linear + 2),
                           acq_ultra_get(s->model, linear + 3), s->y[l], s->stats[l]);
    s->kernels->relu(m * WIDTH, s->y[l]);
}

/* dz holds dy of m rows; dx [m x 128] becomes the gradient by x. */
static void backward_rows(acq_ultra_stack *s, size_t l, size_t m, const float *x, float *dx,
                          float *gradient)
{
    const acq_kernels *kernels = s->kernels;
    const acq_tensor *tensors = s->model->parameters.tensors + get_linear(s->net, l);
    kernels->relu_backward(m * WIDTH, s->y[l], s->dz);
    kernels->layer_norm_backward(m, WIDTH, s->z[l], s->model->parameters.values + tensors[2].offset,
                                 s->stats[l], s->dz, s->dz, gradient + tensors[2].offset,
                                 gradient + tensors[3].offset);
    kernels->gemm_weights(m, WIDTH, WIDE, s->dz, WIDTH, x, WIDE, gradient + tensors[0].offset,
                          WIDE);
    kernels->sum_rows(m, WIDTH, s->dz, WIDTH, gradient + tensors[1].offset);
    kernels->gemm(m, s->dz, WIDTH, &s->packed->linear_back[s->net][l], NULL, 0, dx, WIDE);
}

/* Messages of layer l from its states to its second half, or back from dx to dh. */
static acq_messages get_forward(acq_ultra_stack *s, const acq_ultra_run *run, size_t l)
{
    acq_messages m = acq_edges_get_messages(run->edges);
    m.width = WIDTH;
    m.vectors = run->vectors[l];
    m.in = s->x[l];
    m.out = s->x[l] + WIDTH;
    m.ld_in = m.ld_out = WIDE;
    return m;
}

static acq_messages get_backward(acq_ultra_stack *s, const acq_ultra_run *run, size_t l)
{
    acq_messages m = acq_edges_get_reversed(run->edges);
    m.width = WIDTH;
    m.vectors = run->vectors[l];
    m.in = s->dx + WIDTH;
    m.out = s->dh;
    m.states = s->x[l];
    m.ld_in = m.ld_states = WIDE;
    m.ld_out = WIDTH;
    m.dvectors = run->dvectors[l];
    return m;
}

static void reach(acq_ultra_stack *s, uint32_t node)
{
    if (s->is_reached[node])
        return;
    s->is_reached[node] = 1;
    s->reached[s->n_reached++] = node;
    clear(s->x[0] + node * WIDE, WIDE);
}

static void find_reached(acq_ultra_stack *s, const acq_ultra_run *run)
{
    const acq_edges *edges = run->edges;
    uint32_t begin = edges->begins[edges->rows[run->start]];
    uint32_t end = edges->begins[edges->rows[run->start + 1]];
    for (size_t i = 0; i < s->n_reached; i++) /* of the run before */
        s->is_reached[s->reached[i]] = 0;
    s->n_reached = 0;
    reach(s, run->start);
    for (uint32_t i = begin; i < end; i++)
        reach(s, edges->sources[i]);
}

/* The last compact row is that of all nodes not reached. */
static void forward_first(acq_ultra_stack *s, const acq_ultra_run *run)
{
    find_reached(s, run);
    size_t n = s->n_reached;
    float *start = s->x[0] + run->start * WIDE;
    copy(run->boundary, start, WIDTH);
    copy(run->boundary, start + WIDTH, WIDTH);
    acq_messages m = get_forward(s, run, 0);
    m.relations = run->edges->reversed;
    s->kernels->scatter(&m, 1, &run->start);
    for (size_t i = 0; i < n; i++)
        copy(s->x[0] + s->reached[i] * WIDE, s->first + i * WIDE, WIDE);
    clear(s->first + n * WIDE, WIDE);
    forward_rows(s, 0, n + 1, s->first);
    for (size_t v = 0; v < run->edges->n_nodes; v++)
        copy(s->y[0] + n * WIDTH, s->x[1] + v * WIDE, WIDTH);
    for (size_t i = 0; i < n; i++)
        s->kernels->add_to(WIDTH, s->first + i * WIDE, s->y[0] + i * WIDTH,
                           s->x[1] + s->reached[i] * WIDE);
}

static void forward_middle(acq_ultra_stack *s, const acq_ultra_run *run, size_t l)
{
    size_t n = run->edges->n_nodes;
    float *x = s->x[l], *next = s->x[l + 1];
    for (size_t v = 0; v < n; v++)
        clear(x + v * WIDE + WIDTH, WIDTH);
    copy(run->boundary, x + run->start * WIDE + WIDTH, WIDTH);
    acq_messages m = get_forward(s, run, l);
    s->kernels->gather(&m, n, NULL);
    forward_rows(s, l, n, x);
    for (size_t v = 0; v < n; v++)
        s->kernels->add_to(WIDTH, x + v * WIDE, s->y[l] + v * WIDTH, next + v * WIDE);
}

static void forward_last(acq_ultra_stack *s, const acq_ultra_run *run)
{
    const size_t l = LAYERS - 1;
    float *x = s->x[l];
    for (size_t i = 0; i < run->n_wanted; i++)
        clear(x + run->wanted[i] * WIDE + WIDTH, WIDTH);
    copy(run->boundary, x + run->start * WIDE + WIDTH, WIDTH);
    acq_messages m = get_forward(s, run, l);
    s->kernels->gather(&m, run->n_wanted, run->wanted);
    for (size_t i = 0; i < run->n_wanted; i++)
        copy(x + run->wanted[i] * WIDE, s->last + i * WIDE, WIDE);
    forward_rows(s, l, run->n_wanted, s->last);
    for (size_t i = 0; i < run->n_wanted; i++)
        s->kernels->add_to(WIDTH, s->last + i * WIDE, s->y[l] + i * WIDTH, s->out + i * WIDTH);
}

void acq_ultra_stack_forward(acq_ultra_stack *s, const acq_ultra_run *run)
{
    forward_first(s, run);
    for (size_t l = 1; l + 1 < LAYERS; l++)
        forward_middle(s, run, l);
    forward_last(s, run);
}

static void add_boundary(acq_ultra_stack *s, const acq_ultra_run *run, const float *slope)
{
    if (run->dboundary != NULL)
        s->kernels->add(WIDTH, slope, run->dboundary);
}

/* From dout to dh, the gradient by h_5. */
static void backward_last(acq_ultra_stack *s, const acq_ultra_run *run, float *gradient)
{
    const size_t l = LAYERS - 1;
    copy(s->dout, s->dz, run->n_wanted * WIDTH);
    backward_rows(s, l, run->n_wanted, s->last, s->dcompact, gradient);
    clear(s->dh, run->edges->n_nodes * WIDTH);
    for (size_t i = 0; i < run->n_wanted; i++) {
        size_t v = run->wanted[i];
        const float *slope = s->dcompact + i * WIDE;
        s->kernels->add_to(WIDTH, slope, s->dout + i * WIDTH, s->dh + v * WIDTH);
        copy(slope + WIDTH, s->dx + v * WIDE + WIDTH, WIDTH);
        if (v == run->start)
            add_boundary(s, run, slope + WIDTH);
    }
    acq_messages m = get_backward(s, run, l);
    m.relations = run->edges->relations;
    s->kernels->scatter(&m, run->n_wanted, run->wanted);
}

/* dh becomes the gradient by h_l: the shortcut, the linear layer, and messages back. */
static void backward_middle(acq_ultra_stack *s, const acq_ultra_run *run, size_t l, float *gradient)
{
    size_t n = run->edges->n_nodes;
    copy(s->dh, s->dz, n * WIDTH);
    backward_rows(s, l, n, s->x[l], s->dx, gradient);
    add_boundary(s, run, s->dx + run->start * WIDE + WIDTH);
    for (size_t v = 0; v < n; v++)
        s->kernels->add(WIDTH, s->dx + v * WIDE, s->dh + v * WIDTH);
    acq_messages m = get_backward(s, run, l);
    s->kernels->gather(&m, n, NULL);
}

/* dz gets dh of the nodes reached, then the sum over all others. */
static void compact_slopes(acq_ultra_stack *s, size_t n)
{
    float *rest = s->dz + s->n_reached * WIDTH;
    for (size_t i = 0; i < s->n_reached; i++)
        copy(s->dh + s->reached[i] * WIDTH, s->dz + i * WIDTH, WIDTH);
    clear(rest, WIDTH);
    for (size_t v = 0; v < n; v++)
        if (!s->is_reached[v])
            s->kernels->add(WIDTH, s->dh + v * WIDTH, rest);
}

/* Only the start's state was not zero: its gradient is the boundary's. */
static void backward_first(acq_ultra_stack *s, const acq_ultra_run *run, float *gradient)
{
    float *start = s->dh + run->start * WIDTH;
    compact_slopes(s, run->edges->n_nodes);
    backward_rows(s, 0, s->n_reached + 1, s->first, s->dcompact, gradient);
    for (size_t i = 0; i < s->n_reached; i++)
        copy(s->dcompact + i * WIDE, s->dx + s->reached[i] * WIDE, WIDE);
    s->kernels->add(WIDTH, s->dx + run->start * WIDE, start);
    acq_messages m = get_backward(s, run, 0);
    s->kernels->gather(&m, 1, &run->start);
    add_boundary(s, run, start);
    add_boundary(s, run, s->dx + run->start * WIDE + WIDTH);
}

void acq_ultra_stack_backward(acq_ultra_stack *s, const acq_ultra_run *run, float *gradient)
{
    backward_last(s, run, gradient);
    for (size_t l = LAYERS - 1; l-- > 1;)
        backward_middle(s, run, l, gradient);
    backward_first(s, run, gradient);
}
