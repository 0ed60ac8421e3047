/* backward.c - the slopes of one query, see network.h; forward.c read from its end. */
#include <string.h>

#include "models/nbfnet/network.h"

enum { D = ACQ_NBFNET_WIDTH, H = ACQ_NBFNET_HIDDEN };

typedef struct run {
    const acq_nbfnet_packed *packed;
    const acq_kernels *k;
    const acq_nbfnet_input *input;
    acq_nbfnet_pass *pass;
    const acq_nbfnet_slopes *out;
} run;

static float *get_slope(const run *r, unsigned layer, acq_nbfnet_part part)
{
    return r->out->tensors[acq_nbfnet_layer_tensor(layer, part)];
}

/* slopes [n x 64] by the hidden layer of f, which is in pass->hidden, before its ReLU. */
static void score_hidden_backward(const run *r, size_t n, const float *score_slopes, float *slopes)
{
    const float *w = acq_nbfnet_get(r->packed->model, ACQ_NBFNET_SCORE_2);
    r->k->gemm_weights(n, 1, H, score_slopes, 1, r->pass->hidden, H,
                       r->out->tensors[ACQ_NBFNET_SCORE_2], H);
    r->k->sum_rows(n, 1, score_slopes, 1, r->out->tensors[ACQ_NBFNET_SCORE_2_BIAS]);
    memset(slopes, 0, n * H * sizeof *slopes);
    for (size_t i = 0; i < n; i++)
        r->k->add_scaled(H, score_slopes[i], w, slopes + i * H);
    r->k->relu_backward(n * H, r->pass->hidden, slopes);
}

/* The part that is the same for all targets: T q + bias, with `sums` its slopes. */
static void score_query_backward(const run *r, const float *sums)
{
    const float *w = acq_nbfnet_get(r->packed->model, ACQ_NBFNET_SCORE_0) + D;
    r->k->add(H, sums, r->out->tensors[ACQ_NBFNET_SCORE_0_BIAS]);
    r->k->gemm_weights(1, H, D, sums, H, r->input->query, D,
                       r->out->tensors[ACQ_NBFNET_SCORE_0] + D, H);
    for (size_t i = 0; i < H; i++)
        r->k->add_scaled(D, sums[i], w + i * H, r->out->query);
}

/* Of f on n states: state_slopes [n x 32]; ACQ_GEMM_ADD: added to what they hold. */
static void score_backward(const run *r, size_t n, const float *states, const float *score_slopes,
                           unsigned flags, float *state_slopes)
{
    float *slopes = r->pass->hidden_slopes, sums[H] = {0};
    score_hidden_backward(r, n, score_slopes, slopes);
    r->k->gemm_weights(n, H, D, slopes, H, states, D, r->out->tensors[ACQ_NBFNET_SCORE_0], H);
    r->k->sum_rows(n, H, slopes, H, sums);
    score_query_backward(r, sums);
    r->k->gemm(n, slopes, H, &r->packed->state_back, NULL, flags, state_slopes, D);
}

/* slopes: by relu(norm(y)), then by y. */
static void norm_backward(const run *r, unsigned l, float *slopes)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    const float *gain =
        acq_nbfnet_get(r->packed->model, acq_nbfnet_layer_tensor(l, ACQ_NBFNET_NORM));
    r->k->relu_backward(layer->n_nodes * D, layer->fresh, slopes);
    r->k->layer_norm_backward(layer->n_nodes, D, layer->sums, gain, layer->stats, slopes, slopes,
                              get_slope(r, l, ACQ_NBFNET_NORM),
                              get_slope(r, l, ACQ_NBFNET_NORM_BIAS));
}

/* From slopes by y to those by A a, A' a and A'' a, in the rows of products. */
static void spread_slopes(const run *r, const acq_nbfnet_layer *layer, const float *slopes)
{
    size_t n_scales = acq_nbfnet_count_scales(r->packed->model), P = n_scales * D;
    float *products = r->pass->products;
    memset(products, 0, layer->n_rows * P * sizeof *products);
    for (size_t i = 0; i < layer->n_nodes; i++) {
        float scale = r->input->scales[layer->nodes == NULL ? i : layer->nodes[i]];
        float *row = products + (layer->rows == NULL ? i : layer->rows[i]) * P;
        for (unsigned s = 0; s < n_scales; s++)
            r->k->add_scaled(D, acq_nbfnet_get_scale(scale, s), slopes + i * D, row + s * D);
    }
}

/* Slopes of the layer's weights; aggregate_slopes gets those by the aggregates. */
static void combine_backward(const run *r, unsigned l, const float *slopes)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    const acq_nbfnet_products *w = &r->packed->layers[l];
    size_t n_scales = acq_nbfnet_count_scales(r->packed->model), P = n_scales * D;
    size_t A = acq_nbfnet_count_aggregates(r->packed->model);
    size_t n_inputs = acq_nbfnet_count_inputs(r->packed->model);
    float *weights = get_slope(r, l, ACQ_NBFNET_LINEAR), *products = r->pass->products;
    r->k->sum_rows(layer->n_nodes, D, slopes, D, get_slope(r, l, ACQ_NBFNET_LINEAR_BIAS));
    r->k->gemm_weights(layer->n_nodes, D, D, slopes, D, layer->own, D, weights, n_inputs);
    spread_slopes(r, layer, slopes);
    for (unsigned s = 0; s < n_scales; s++) {
        r->k->gemm_weights(layer->n_rows, D, A, products + s * D, P, layer->aggregates, A,
                           weights + D + s * A, n_inputs);
        r->k->gemm(layer->n_rows, products + s * D, P, &w->scaled_back[s], NULL,
                   s == 0 ? 0 : ACQ_GEMM_ADD, r->pass->aggregate_slopes, A);
    }
}

/* Of one row: `messages` as forward had them, out for the slopes by what was sent. */
static void aggregate_row_backward(const run *r, acq_messages *messages, uint32_t node,
                                   const acq_pna_start *start, const float *aggregates,
                                   const float *slopes)
{
    if (!r->packed->model->shape.sums) {
        r->k->pna_backward(messages, node, start, aggregates, slopes);
        return;
    }
    acq_messages back = *messages;
    back.in = slopes;
    back.ld_in = 0;
    back.states = messages->in;
    back.ld_states = messages->ld_in;
    r->k->scatter(&back, 1, &node);
    if (start->dboundary != NULL)
        r->k->add(D, slopes, start->dboundary);
}

/* Adds to slopes [nodes that send x 32]. */
static void aggregate_backward(const run *r, unsigned l, float *slopes)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    size_t A = acq_nbfnet_count_aggregates(r->packed->model);
    acq_messages messages = acq_nbfnet_get_messages(r->pass, r->input, l);
    size_t shared = l == 0; /* the first row there has no messages */
    messages.out = slopes;
    messages.ld_out = D;
    messages.dvectors = r->out->vectors[l];
    for (size_t i = shared; i < layer->n_rows; i++) {
        acq_pna_start start;
        uint32_t node = acq_nbfnet_start_row(r->pass, l, i - shared, &start);
        aggregate_row_backward(r, &messages, node, &start, layer->aggregates + i * A,
                               r->pass->aggregate_slopes + i * A);
    }
}

/* Slopes of some nodes, in order, become slopes of all. */
static void scatter_slopes(const run *r, const uint32_t *nodes, size_t n, const float *slopes)
{
    float *all = r->pass->slopes;
    memset(all, 0, (size_t)r->input->edges->n_nodes * D * sizeof *all);
    for (size_t i = 0; i < n; i++)
        memcpy(all + (size_t)nodes[i] * D, slopes + i * D, D * sizeof *all);
}

/* by_out [nodes x 32]: slopes by the layer's states, then by those before it but for messages;
 * slopes by aggregates are left in the pass. */
static void rows_backward(const run *r, unsigned l, float *by_out)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    float *room = r->pass->layer_room;
    memcpy(room, by_out, layer->n_nodes * D * sizeof *room);
    norm_backward(r, l, room);
    combine_backward(r, l, room);
    r->k->gemm(layer->n_nodes, room, D, &r->packed->layers[l].own_back, NULL, ACQ_GEMM_ADD, by_out,
               D);
}

/* `slopes` of all nodes on return. */
static void layer_backward(const run *r, unsigned l, float *by_out)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    rows_backward(r, l, by_out);
    if (layer->nodes != NULL)
        scatter_slopes(r, layer->nodes, layer->n_nodes, by_out);
    aggregate_backward(r, l, r->pass->slopes);
}

/* ---- layers that visit a part ---- */

static void gather_states(const uint32_t *nodes, size_t n, const float *all, float *out)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * D, all + (size_t)nodes[i] * D, D * sizeof *out);
}

/* From slopes by what was sent to those by the senders' priorities, in pass->priorities, and by
 * their states; the states of senders are left in row_slopes. */
static void weights_backward(const run *r, const acq_nbfnet_layer *layer, float *by_sent)
{
    float *states = r->pass->row_slopes;
    gather_states(layer->senders, layer->n_senders, layer->in, states);
    for (size_t i = 0; i < layer->n_senders; i++) {
        float weight = layer->weights[i];
        float slope = r->k->dot(D, by_sent + i * D, states + i * D);
        r->pass->priorities[i] = slope * weight * (1 - weight);
        r->k->scale(D, weight, by_sent + i * D);
    }
}

/* by_sent [senders x 32]: slopes by what was sent, then by the states it was made of. */
static void send_backward(const run *r, const acq_nbfnet_layer *layer, float *by_sent)
{
    size_t n = layer->n_senders;
    if (r->packed->model->shape.weighs) {
        weights_backward(r, layer, by_sent);
        acq_nbfnet_fill_hidden(r->packed, r->input, n, r->pass->row_slopes, r->pass->hidden);
        score_backward(r, n, r->pass->row_slopes, r->pass->priorities, ACQ_GEMM_ADD, by_sent);
    }
    for (size_t i = 0; i < n; i++)
        r->k->add(D, by_sent + i * D, r->pass->slopes + (size_t)layer->senders[i] * D);
}

/* `slopes` of all nodes, by the states after the layer, then by those before it. */
static void visit_backward(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    float *by_rows = r->pass->row_slopes, *all = r->pass->slopes;
    gather_states(layer->nodes, layer->n_nodes, all, by_rows);
    rows_backward(r, l, by_rows);
    for (size_t i = 0; i < layer->n_nodes; i++)
        memcpy(all + (size_t)layer->nodes[i] * D, by_rows + i * D, D * sizeof *all);
    float *by_sent = r->pass->layer_room;
    memset(by_sent, 0, layer->n_senders * D * sizeof *by_sent);
    aggregate_backward(r, l, by_sent);
    send_backward(r, layer, by_sent);
}

/* Boundaries are multiples of q, in the states at the start and in every layer. */
static void boundary_backward(const run *r)
{
    const acq_nbfnet_input *input = r->input;
    for (size_t i = 0; i < input->n_heads; i++) {
        float weight = input->weights == NULL ? 1 : input->weights[i];
        const float *start = r->pass->slopes + (size_t)input->heads[i] * D;
        r->k->add_scaled(D, weight, start, r->out->query);
        r->k->add_scaled(D, weight, r->pass->boundary_slopes + i * D, r->out->query);
    }
}

void acq_nbfnet_backward(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                         acq_nbfnet_pass *pass, const float *score_slopes,
                         const acq_nbfnet_slopes *out)
{
    run r = {.packed = packed, .k = packed->kernels, .input = input, .pass = pass, .out = out};
    size_t n = input->targets == NULL ? input->edges->n_nodes : input->n_targets;
    unsigned last = packed->model->shape.layers - 1;
    float *by_results = input->targets == NULL ? pass->slopes : pass->hidden;
    score_backward(&r, n, pass->results, score_slopes, 0, by_results);
    memset(pass->boundary_slopes, 0, input->n_heads * D * sizeof *pass->boundary_slopes);
    if (pass->visits && input->targets != NULL)
        scatter_slopes(&r, input->targets, n, by_results);
    for (unsigned l = last + 1; l-- > 0;)
        if (pass->visits && l > 0)
            visit_backward(&r, l);
        else
            layer_backward(&r, l, l == last ? by_results : pass->slopes);
    boundary_backward(&r);
}
