/* pass.c - see pass.h. */
#include "models/ultra/pass.h"

#include <string.h>

#include "base/memory.h"

enum { D = ACQ_ULTRA_WIDTH, PAIR = ACQ_ULTRA_PAIR, LAYERS = ACQ_ULTRA_LAYERS };

enum { MOST_ARRAYS = 2 * LAYERS + 12 };

/* n nodes, and one row more where compact rows are. */
static size_t list_arrays(acq_ultra_pass *p, size_t n, acq_ultra_array *out)
{
    size_t k = 0, first = p->keep == ACQ_KEEP_STATES, end = p->keep == ACQ_KEEP_LAST ? 2 : LAYERS;
    for (size_t l = first; l < end; l++)
        out[k++] = (acq_ultra_array){&p->x[l], n * PAIR};
    if (p->keep == ACQ_KEEP_STATES)
        return k;
    out[k++] = (acq_ultra_array){&p->out, n * D};
    if (p->keep == ACQ_KEEP_LAST)
        return k;
    for (size_t l = 0; l < LAYERS; l++)
        out[k++] = (acq_ultra_array){&p->z[l], (n + 1) * D};
    out[k++] = (acq_ultra_array){&p->first, (n + 1) * PAIR};
    out[k++] = (acq_ultra_array){&p->last, n * PAIR};
    out[k++] = (acq_ultra_array){&p->y, (n + 1) * D};
    out[k++] = (acq_ultra_array){&p->stats, (n + 1) * 2};
    out[k++] = (acq_ultra_array){&p->dout, n * D};
    out[k++] = (acq_ultra_array){&p->dh, n * D};
    out[k++] = (acq_ultra_array){&p->dz, (n + 1) * D};
    out[k++] = (acq_ultra_array){&p->dx, n * PAIR};
    out[k++] = (acq_ultra_array){&p->dcompact, (n + 1) * PAIR};
    out[k++] = (acq_ultra_array){(float **)&p->reached, n};
    out[k++] = (acq_ultra_array){(float **)&p->is_reached, n};
    return k;
}

acq_status acq_ultra_pass_reserve(acq_ultra_pass *p, size_t n_nodes, acq_error *error)
{
    acq_ultra_array arrays[MOST_ARRAYS];
    if (p->block != NULL && n_nodes <= p->most)
        return ACQ_OK;
    size_t most = p->block == NULL ? n_nodes : n_nodes + n_nodes / 4;
    void *block;
    if (acq_ultra_allocate(arrays, list_arrays(p, most, arrays), &block) != ACQ_OK)
        return acq_fail_memory(error);
    acq_free(p->block);
    p->block = block;
    p->most = most;
    p->n_reached = 0;
    for (size_t l = 2; l < LAYERS && p->keep == ACQ_KEEP_LAST; l++)
        p->x[l] = p->x[l % 2];
    return ACQ_OK;
}

void acq_ultra_pass_deinit(acq_ultra_pass *p)
{
    acq_free(p->block);
    *p = (acq_ultra_pass){0};
}

static void copy(const float *from, float *to, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static void clear(float *x, size_t n)
{
    memset(x, 0, n * sizeof *x);
}

/* Layer l of m pairs at x; row i of the next states goes to out + i * ld. */
static void apply(const acq_ultra_pass *p, size_t l, size_t m, const float *x, float *out,
                  size_t ld)
{
    _Alignas(64) float states[ACQ_ULTRA_BLOCK * D];
    for (size_t i = 0; i < m; i += ACQ_ULTRA_BLOCK) {
        size_t n = m - i < ACQ_ULTRA_BLOCK ? m - i : ACQ_ULTRA_BLOCK;
        float *sums = p->z[l] == NULL ? NULL : p->z[l] + i * D;
        acq_ultra_apply_to_pairs(p->network, &p->network->layers[p->net][l], n, x + i * PAIR, sums,
                                 states);
        for (size_t j = 0; j < n; j++)
            copy(states + j * D, out + (i + j) * ld, D);
    }
}

/* Messages of layer l from its states to its second half, or back from dx to dh. */
static acq_messages get_forward(const acq_ultra_pass *p, const acq_ultra_run *run, size_t l)
{
    acq_messages m = acq_edges_get_messages(run->edges);
    m.width = D;
    m.vectors = run->vectors[l];
    m.in = p->x[l];
    m.out = p->x[l] + D;
    m.ld_in = m.ld_out = PAIR;
    return m;
}

static acq_messages get_backward(const acq_ultra_pass *p, const acq_ultra_run *run, size_t l)
{
    acq_messages m = acq_edges_get_reversed(run->edges);
    m.width = D;
    m.vectors = run->vectors[l];
    m.in = p->dx + D;
    m.out = p->dh;
    m.states = p->x[l];
    m.ld_in = m.ld_states = PAIR;
    m.ld_out = D;
    m.dvectors = run->dvectors[l];
    return m;
}

static void reach(acq_ultra_pass *p, uint32_t node)
{
    if (p->is_reached[node])
        return;
    p->is_reached[node] = 1;
    p->reached[p->n_reached++] = node;
    clear(p->x[0] + node * PAIR, PAIR);
}

static void find_reached(acq_ultra_pass *p, const acq_ultra_run *run)
{
    const acq_edges *edges = run->edges;
    for (size_t i = 0; i < p->n_reached; i++) /* of the run before */
        p->is_reached[p->reached[i]] = 0;
    p->n_reached = 0;
    if (run->start == ACQ_NO_ID)
        return;
    uint32_t begin = edges->begins[edges->rows[run->start]];
    uint32_t end = edges->begins[edges->rows[run->start + 1]];
    reach(p, run->start);
    for (uint32_t i = begin; i < end; i++)
        reach(p, edges->sources[i]);
}

static uint32_t get_wanted(const acq_ultra_run *run, size_t i)
{
    return run->wanted == NULL ? (uint32_t)i : run->wanted[i];
}

static void add_messages(const acq_ultra_pass *p, const acq_ultra_run *run, size_t l, size_t n,
                         const uint32_t *nodes)
{
    float *messages = p->x[l] + D;
    const float *outside = run->outside[l];
    for (size_t i = 0; i < n; i++) {
        size_t v = nodes == NULL ? i : nodes[i];
        if (outside == NULL)
            clear(messages + v * PAIR, D);
        else
            copy(outside + v * D, messages + v * PAIR, D);
    }
    if (run->start != ACQ_NO_ID && outside == NULL)
        copy(run->boundary, messages + run->start * PAIR, D);
    else if (run->start != ACQ_NO_ID)
        p->network->kernels->add(D, run->boundary, messages + run->start * PAIR);
    acq_messages m = get_forward(p, run, l);
    p->network->kernels->gather(&m, n, nodes);
}

/* Where only the start has a state: sent out from there, and one row more for all nodes not
 * reached. */
static void send_first(acq_ultra_pass *p, const acq_ultra_run *run, float *rows)
{
    find_reached(p, run);
    size_t n = p->n_reached;
    if (run->start != ACQ_NO_ID) {
        float *start = p->x[0] + run->start * PAIR;
        copy(run->boundary, start, D);
        copy(run->boundary, start + D, D);
        acq_messages m = get_forward(p, run, 0);
        m.relations = run->edges->reversed;
        p->network->kernels->scatter(&m, 1, &run->start);
    }
    for (size_t i = 0; i < n; i++)
        copy(p->x[0] + p->reached[i] * PAIR, rows + i * PAIR, PAIR);
    clear(rows + n * PAIR, PAIR);
}

static void forward_first(acq_ultra_pass *p, const acq_ultra_run *run)
{
    float pair[PAIR], state[D]; /* enough without a start */
    float *rows = p->first == NULL ? pair : p->first;
    float *states = p->dz == NULL ? state : p->dz; /* which is free now */
    send_first(p, run, rows);
    apply(p, 0, p->n_reached + 1, rows, states, D);
    for (size_t v = 0; v < run->edges->n_nodes; v++)
        copy(states + p->n_reached * D, p->x[1] + v * PAIR, D);
    for (size_t i = 0; i < p->n_reached; i++)
        copy(states + i * D, p->x[1] + p->reached[i] * PAIR, D);
}

/* All nodes in every layer: the boundary is the first state. */
static void gather_first(acq_ultra_pass *p, const acq_ultra_run *run)
{
    size_t n = run->edges->n_nodes;
    for (size_t v = 0; v < n; v++)
        clear(p->x[0] + v * PAIR, D);
    copy(run->boundary, p->x[0] + run->start * PAIR, D);
    add_messages(p, run, 0, n, NULL);
    apply(p, 0, n, p->x[0], p->x[1], PAIR);
}

static void forward_last(acq_ultra_pass *p, const acq_ultra_run *run)
{
    const size_t l = LAYERS - 1;
    size_t n = run->n_wanted == 0 ? run->edges->n_nodes : run->n_wanted;
    add_messages(p, run, l, n, run->wanted);
    for (size_t i = 0; i < run->n_wanted && p->last != NULL; i++)
        copy(p->x[l] + get_wanted(run, i) * PAIR, p->last + i * PAIR, PAIR);
    if (run->n_wanted > 0)
        apply(p, l, run->n_wanted, p->last == NULL ? p->x[l] : p->last, p->out, D);
}

void acq_ultra_pass_forward(acq_ultra_pass *p, const acq_ultra_run *run)
{
    if (run->gathers_first)
        gather_first(p, run);
    else
        forward_first(p, run);
    for (size_t l = 1; l + 1 < LAYERS; l++) {
        if (acq_stop_is_wanted(run->stop))
            return;
        add_messages(p, run, l, run->edges->n_nodes, NULL);
        apply(p, l, run->edges->n_nodes, p->x[l], p->x[l + 1], PAIR);
    }
    if (!acq_stop_is_wanted(run->stop))
        forward_last(p, run);
}

/* dz holds the slopes by ReLU(norm(z)) of m rows; dx [m x 128] becomes the gradient by x. */
static void backward_rows(acq_ultra_pass *p, size_t l, size_t m, const float *x, float *dx,
                          float *gradient)
{
    const acq_kernels *kernels = p->network->kernels;
    const acq_ultra_layer *layer = &p->network->layers[p->net][l];
    const acq_tensor *tensors = p->network->model->parameters.tensors + layer->tensor;
    kernels->layer_norm(m, D, p->z[l], layer->gain, layer->shift, p->y, p->stats);
    kernels->relu(m * D, p->y);
    kernels->relu_backward(m * D, p->y, p->dz);
    kernels->layer_norm_backward(m, D, p->z[l], layer->gain, p->stats, p->dz, p->dz,
                                 gradient + tensors[2].offset, gradient + tensors[3].offset);
    kernels->gemm_weights(m, D, PAIR, p->dz, D, x, PAIR, gradient + tensors[0].offset, PAIR);
    kernels->sum_rows(m, D, p->dz, D, gradient + tensors[1].offset);
    kernels->gemm(m, p->dz, D, &layer->linear_back, NULL, 0, dx, PAIR);
}

static void add_boundary(const acq_ultra_pass *p, const acq_ultra_run *run, const float *slope)
{
    if (run->dboundary != NULL)
        p->network->kernels->add(D, slope, run->dboundary);
}

/* From dout to dh, the gradient by h_5. */
static void backward_last(acq_ultra_pass *p, const acq_ultra_run *run, float *gradient)
{
    const size_t l = LAYERS - 1;
    copy(p->dout, p->dz, run->n_wanted * D);
    backward_rows(p, l, run->n_wanted, p->last, p->dcompact, gradient);
    clear(p->dh, run->edges->n_nodes * D);
    for (size_t i = 0; i < run->n_wanted; i++) {
        size_t v = run->wanted[i];
        const float *slope = p->dcompact + i * PAIR;
        p->network->kernels->add_to(D, slope, p->dout + i * D, p->dh + v * D);
        copy(slope + D, p->dx + v * PAIR + D, D);
        if (v == run->start)
            add_boundary(p, run, slope + D);
    }
    acq_messages m = get_backward(p, run, l);
    m.relations = run->edges->relations;
    p->network->kernels->scatter(&m, run->n_wanted, run->wanted);
}

/* dh becomes the gradient by h_l: the shortcut, the linear layer, and messages back. */
static void backward_middle(acq_ultra_pass *p, const acq_ultra_run *run, size_t l, float *gradient)
{
    size_t n = run->edges->n_nodes;
    copy(p->dh, p->dz, n * D);
    backward_rows(p, l, n, p->x[l], p->dx, gradient);
    add_boundary(p, run, p->dx + run->start * PAIR + D);
    for (size_t v = 0; v < n; v++)
        p->network->kernels->add(D, p->dx + v * PAIR, p->dh + v * D);
    acq_messages m = get_backward(p, run, l);
    p->network->kernels->gather(&m, n, NULL);
}

/* dz gets dh of the nodes reached, then the sum over all others. */
static void compact_slopes(acq_ultra_pass *p, size_t n)
{
    float *rest = p->dz + p->n_reached * D;
    for (size_t i = 0; i < p->n_reached; i++)
        copy(p->dh + p->reached[i] * D, p->dz + i * D, D);
    clear(rest, D);
    for (size_t v = 0; v < n; v++)
        if (!p->is_reached[v])
            p->network->kernels->add(D, p->dh + v * D, rest);
}

/* Only the start's state was not zero: its gradient is the boundary's. */
static void backward_first(acq_ultra_pass *p, const acq_ultra_run *run, float *gradient)
{
    float *start = p->dh + run->start * D;
    compact_slopes(p, run->edges->n_nodes);
    backward_rows(p, 0, p->n_reached + 1, p->first, p->dcompact, gradient);
    for (size_t i = 0; i < p->n_reached; i++)
        copy(p->dcompact + i * PAIR, p->dx + p->reached[i] * PAIR, PAIR);
    p->network->kernels->add(D, p->dx + run->start * PAIR, start);
    acq_messages m = get_backward(p, run, 0);
    p->network->kernels->gather(&m, 1, &run->start);
    add_boundary(p, run, start);
    add_boundary(p, run, p->dx + run->start * PAIR + D);
}

void acq_ultra_pass_backward(acq_ultra_pass *p, const acq_ultra_run *run, float *gradient)
{
    backward_last(p, run, gradient);
    for (size_t l = LAYERS - 1; l-- > 1;)
        backward_middle(p, run, l, gradient);
    backward_first(p, run, gradient);
}

acq_ultra_run acq_ultra_start_relations(const acq_ultra *model, const acq_edges *edges,
                                        acq_rel relation)
{
    static const float ones[D] = {
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };
    acq_ultra_run run = {.edges = edges,
                         .start = relation,
                         .boundary = ones,
                         .gathers_first = true,
                         .n_wanted = edges->n_nodes};
    for (size_t l = 0; l < LAYERS; l++)
        run.vectors[l] = acq_ultra_get(model, acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATIONS));
    return run;
}

/* ---- set ---- */

enum { BLOCK = ACQ_ULTRA_BLOCK };

acq_status acq_ultra_set_init(acq_ultra_set *set, uint32_t n_entities)
{
    size_t n = (size_t)n_entities * D;
    acq_ultra_array arrays[] = {{&set->states, n}, {&set->next, n}};
    set->nodes = acq_alloc(n_entities, sizeof *set->nodes);
    if (set->nodes == NULL || acq_ultra_allocate(arrays, 2, &set->block) != ACQ_OK) {
        acq_ultra_set_deinit(set);
        return ACQ_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < n_entities; i++)
        set->nodes[i] = i;
    return ACQ_OK;
}

void acq_ultra_set_deinit(acq_ultra_set *set)
{
    acq_free(set->nodes);
    acq_free(set->block);
    *set = (acq_ultra_set){0};
}

static void add_degrees(const acq_ultra_set_run *run, size_t node, float *to)
{
    float degree = run->degrees[node];
    for (size_t j = 0; j < D && degree != 0; j++)
        to[j] += degree * run->query[j];
}

/* One layer for n <= BLOCK entities from `first` on. */
static void run_block(const acq_ultra_set *set, const acq_ultra_set_run *run, size_t layer,
                      size_t first, size_t n)
{
    _Alignas(64) float pairs[BLOCK * PAIR];
    acq_messages messages = acq_edges_get_messages(run->edges);
    messages.width = messages.ld_in = D;
    messages.vectors = run->projected[layer];
    messages.in = set->states;
    messages.out = pairs + D;
    messages.ld_out = PAIR;
    run->network->kernels->gather_rows(&messages, n, set->nodes + first);
    for (size_t i = 0; i < n; i++) {
        memcpy(pairs + i * PAIR, set->states + (first + i) * D, D * sizeof *pairs);
        add_degrees(run, first + i, pairs + i * PAIR + D);
    }
    acq_ultra_apply_to_pairs(run->network, &run->network->layers[ACQ_ENTITY_NET][layer], n, pairs,
                             NULL, set->next + first * D);
}

void acq_ultra_set_score(acq_ultra_set *set, const acq_ultra_set_run *run, float *out)
{
    size_t n_nodes = run->edges->n_nodes;
    memset(set->states, 0, n_nodes * D * sizeof *set->states);
    for (size_t v = 0; v < n_nodes; v++)
        add_degrees(run, v, set->states + v * D);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        for (size_t v = 0; v < n_nodes; v += BLOCK)
            run_block(set, run, layer, v, n_nodes - v < BLOCK ? n_nodes - v : BLOCK);
        float *states = set->next;
        set->next = set->states;
        set->states = states;
    }
    for (size_t v = 0; v < n_nodes; v += BLOCK)
        acq_ultra_score(run->network, run->score_bias, n_nodes - v < BLOCK ? n_nodes - v : BLOCK,
                        set->states + v * D, out + v);
}
