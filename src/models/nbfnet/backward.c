/* backward.c - the slopes of one query, see network.h; forward.c read from its end. */
#include <string.h>

#include "models/nbfnet/network.h"

enum {
    D = ACQ_NBFNET_WIDTH,
    A = ACQ_NBFNET_AGGREGATES,
    H = ACQ_NBFNET_HIDDEN,
    L = ACQ_NBFNET_LAYERS,
    P = ACQ_NBFNET_SCALES * D,
};

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

/* slopes [targets x 64] by the hidden layer before its ReLU. */
static void score_hidden_backward(const run *r, const float *score_slopes, float *slopes)
{
    size_t n = r->pass->layers[L - 1].n_nodes;
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

/* state_slopes [targets x 32]. */
static void score_backward(const run *r, const float *score_slopes, float *state_slopes)
{
    const acq_nbfnet_layer *last = &r->pass->layers[L - 1];
    float *slopes = r->pass->hidden_slopes, sums[H] = {0};
    score_hidden_backward(r, score_slopes, slopes);
    r->k->gemm_weights(last->n_nodes, H, D, slopes, H, last->out, D,
                       r->out->tensors[ACQ_NBFNET_SCORE_0], H);
    r->k->sum_rows(last->n_nodes, H, slopes, H, sums);
    score_query_backward(r, sums);
    r->k->gemm(last->n_nodes, slopes, H, &r->packed->state_back, NULL, 0, state_slopes, D);
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
    float *products = r->pass->products;
    memset(products, 0, layer->n_rows * P * sizeof *products);
    for (size_t i = 0; i < layer->n_nodes; i++) {
        float scale = r->input->scales[layer->nodes == NULL ? i : layer->nodes[i]];
        float *row = products + (layer->rows == NULL ? i : layer->rows[i]) * P;
        for (unsigned s = 0; s < ACQ_NBFNET_SCALES; s++)
            r->k->add_scaled(D, acq_nbfnet_get_scale(scale, s), slopes + i * D, row + s * D);
    }
}

/* Slopes of the layer's weights; aggregate_slopes gets those by the aggregates. */
static void combine_backward(const run *r, unsigned l, const float *slopes)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    const acq_nbfnet_products *w = &r->packed->layers[l];
    float *weights = get_slope(r, l, ACQ_NBFNET_LINEAR), *products = r->pass->products;
    r->k->sum_rows(layer->n_nodes, D, slopes, D, get_slope(r, l, ACQ_NBFNET_LINEAR_BIAS));
    r->k->gemm_weights(layer->n_nodes, D, D, slopes, D, layer->own, D, weights, ACQ_NBFNET_INPUTS);
    spread_slopes(r, layer, slopes);
    for (unsigned s = 0; s < ACQ_NBFNET_SCALES; s++) {
        r->k->gemm_weights(layer->n_rows, D, A, products + s * D, P, layer->aggregates, A,
                           weights + D + s * A, ACQ_NBFNET_INPUTS);
        r->k->gemm(layer->n_rows, products + s * D, P, &w->scaled_back[s], NULL,
                   s == 0 ? 0 : ACQ_GEMM_ADD, r->pass->aggregate_slopes, A);
    }
}

static void aggregate_backward(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    acq_messages messages = acq_nbfnet_get_messages(r->pass, r->input, l);
    size_t shared = l == 0; /* the first row there has no messages */
    messages.out = r->pass->slopes;
    messages.ld_out = D;
    messages.dvectors = r->out->vectors[l];
    for (size_t i = shared; i < layer->n_rows; i++) {
        acq_pna_start start;
        uint32_t node = acq_nbfnet_start_row(r->pass, l, i - shared, &start);
        r->k->pna_backward(&messages, node, &start, layer->aggregates + i * A,
                           r->pass->aggregate_slopes + i * A);
    }
}

/* Slopes of some nodes, in order, become slopes of all. */
static void scatter_slopes(const run *r, const acq_nbfnet_layer *layer, const float *slopes)
{
    float *all = r->pass->slopes;
    memset(all, 0, (size_t)r->input->edges->n_nodes * D * sizeof *all);
    for (size_t i = 0; i < layer->n_nodes; i++)
        memcpy(all + (size_t)layer->nodes[i] * D, slopes + i * D, D * sizeof *all);
}

/* out [nodes x 32]: slopes by the layer's states, shortcut; `slopes` of all nodes on return. */
static void layer_backward(const run *r, unsigned l, float *by_out)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    float *room = r->pass->layer_room;
    memcpy(room, by_out, layer->n_nodes * D * sizeof *room);
    norm_backward(r, l, room);
    combine_backward(r, l, room);
    r->k->gemm(layer->n_nodes, room, D, &r->packed->layers[l].own_back, NULL, ACQ_GEMM_ADD, by_out,
               D);
    if (layer->nodes != NULL)
        scatter_slopes(r, layer, by_out);
    aggregate_backward(r, l);
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
    const acq_nbfnet_layer *last = &pass->layers[L - 1];
    float *by_last = last->nodes == NULL ? pass->slopes : pass->hidden;
    score_backward(&r, score_slopes, by_last);
    memset(pass->boundary_slopes, 0, input->n_heads * D * sizeof *pass->boundary_slopes);
    for (unsigned l = L; l-- > 0;)
        layer_backward(&r, l, l == L - 1 ? by_last : pass->slopes);
    boundary_backward(&r);
}
