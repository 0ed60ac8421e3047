/* forward.c - weights laid out for products, and one query through the network; see network.h. */
#include <string.h>

#include "models/nbfnet/network.h"

enum {
    D = ACQ_NBFNET_WIDTH,
    A = ACQ_NBFNET_AGGREGATES,
    H = ACQ_NBFNET_HIDDEN,
    L = ACQ_NBFNET_LAYERS,
    P = ACQ_NBFNET_SCALES * D, /* of a row of products */
};

static acq_status init_layer(acq_nbfnet_products *layer, bool trainable)
{
    if (acq_packed_init(&layer->own, D, D) != ACQ_OK ||
        (trainable && acq_packed_init(&layer->own_back, D, D) != ACQ_OK))
        return ACQ_ERR_MEMORY;
    for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++)
        if (acq_packed_init(&layer->scaled[k], A, D) != ACQ_OK ||
            (trainable && acq_packed_init(&layer->scaled_back[k], D, A) != ACQ_OK))
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

acq_status acq_nbfnet_packed_init(acq_nbfnet_packed *packed, const acq_nbfnet *model,
                                  bool trainable)
{
    acq_status status = ACQ_OK;
    *packed = (acq_nbfnet_packed){
        .model = model, .kernels = acq_kernels_get_best(), .trainable = trainable};
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS && status == ACQ_OK; l++)
        status = init_layer(&packed->layers[l], trainable);
    if (status == ACQ_OK)
        status = acq_packed_init(&packed->state, D, H);
    if (status == ACQ_OK && trainable)
        status = acq_packed_init(&packed->state_back, H, D);
    if (status == ACQ_OK)
        acq_nbfnet_packed_fill(packed);
    else
        acq_nbfnet_packed_deinit(packed);
    return status;
}

void acq_nbfnet_packed_deinit(acq_nbfnet_packed *packed)
{
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++) {
        acq_nbfnet_products *layer = &packed->layers[l];
        acq_packed_deinit(&layer->own);
        acq_packed_deinit(&layer->own_back);
        for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++) {
            acq_packed_deinit(&layer->scaled[k]);
            acq_packed_deinit(&layer->scaled_back[k]);
        }
    }
    acq_packed_deinit(&packed->state);
    acq_packed_deinit(&packed->state_back);
}

static void fill(acq_packed *forward, acq_packed *back, const float *w, size_t ldw)
{
    acq_packed_fill(forward, w, ldw);
    if (back->panels != NULL)
        acq_packed_fill_transposed(back, w, ldw);
}

void acq_nbfnet_packed_fill(acq_nbfnet_packed *packed)
{
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++) {
        acq_nbfnet_products *layer = &packed->layers[l];
        const float *w =
            acq_nbfnet_get(packed->model, acq_nbfnet_layer_tensor(l, ACQ_NBFNET_LINEAR));
        fill(&layer->own, &layer->own_back, w, ACQ_NBFNET_INPUTS);
        for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++)
            fill(&layer->scaled[k], &layer->scaled_back[k], w + D + k * A, ACQ_NBFNET_INPUTS);
    }
    fill(&packed->state, &packed->state_back, acq_nbfnet_get(packed->model, ACQ_NBFNET_SCORE_0), H);
}

typedef struct run {
    const acq_nbfnet_packed *packed;
    const acq_kernels *k;
    const acq_nbfnet_input *input;
    acq_nbfnet_pass *pass;
} run;

static const float *get_tensor(const run *r, unsigned layer, acq_nbfnet_part part)
{
    return acq_nbfnet_get(r->packed->model, acq_nbfnet_layer_tensor(layer, part));
}

static void start_states(const run *r)
{
    const acq_nbfnet_input *input = r->input;
    float *states = r->pass->layers[0].in;
    memset(states, 0, (size_t)input->edges->n_nodes * D * sizeof *states);
    for (size_t i = 0; i < input->n_heads; i++) {
        float *boundary = r->pass->boundary + i * D;
        memcpy(boundary, input->query, D * sizeof *boundary);
        if (input->weights != NULL)
            r->k->scale(D, input->weights[i], boundary);
        memcpy(states + (size_t)input->heads[i] * D, boundary, D * sizeof *states);
    }
}

/* What a node gets that no boundary is near: zeros. */
static void aggregate_nothing(const run *r, float *out)
{
    static const uint32_t none[2] = {0};
    acq_messages empty = {.rows = none, .begins = none, .width = D};
    r->k->pna(&empty, 0, &(acq_pna_start){0}, out);
}

static void aggregate(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    acq_messages messages = acq_nbfnet_get_messages(r->pass, r->input, l);
    float *out = layer->aggregates;
    size_t n = layer->n_rows;
    if (l == 0) {
        aggregate_nothing(r, out);
        out += A;
        n--;
    }
    for (size_t i = 0; i < n; i++, out += A) {
        acq_pna_start start;
        uint32_t node = acq_nbfnet_start_row(r->pass, l, i, &start);
        r->k->pna(&messages, node, &start, out);
    }
}

static void copy_own(const acq_nbfnet_layer *layer)
{
    if (layer->nodes == NULL)
        return;
    for (size_t i = 0; i < layer->n_nodes; i++)
        memcpy(layer->own + i * D, layer->in + (size_t)layer->nodes[i] * D, D * sizeof *layer->own);
}

/* y = U x + bias + sum over scales of scale * (A a). */
static void combine(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    const acq_nbfnet_products *w = &r->packed->layers[l];
    float *products = r->pass->products;
    r->k->gemm(layer->n_nodes, layer->own, D, &w->own, get_tensor(r, l, ACQ_NBFNET_LINEAR_BIAS), 0,
               layer->sums, D);
    for (unsigned s = 0; s < ACQ_NBFNET_SCALES; s++)
        r->k->gemm(layer->n_rows, layer->aggregates, A, &w->scaled[s], NULL, 0, products + s * D,
                   P);
    for (size_t i = 0; i < layer->n_nodes; i++) {
        float scale = r->input->scales[layer->nodes == NULL ? i : layer->nodes[i]];
        const float *row = products + (layer->rows == NULL ? i : layer->rows[i]) * P;
        for (unsigned s = 0; s < ACQ_NBFNET_SCALES; s++)
            r->k->add_scaled(D, acq_nbfnet_get_scale(scale, s), row + s * D, layer->sums + i * D);
    }
}

static void run_layer(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    size_t n = layer->n_nodes;
    aggregate(r, l);
    copy_own(layer);
    combine(r, l);
    r->k->layer_norm(n, D, layer->sums, get_tensor(r, l, ACQ_NBFNET_NORM),
                     get_tensor(r, l, ACQ_NBFNET_NORM_BIAS), layer->fresh, layer->stats);
    r->k->relu(n * D, layer->fresh);
    r->k->add_to(n * D, layer->own, layer->fresh, layer->out);
}

/* T q + bias is the same for all targets. */
static void score(const run *r, float *scores)
{
    const acq_nbfnet *model = r->packed->model;
    const acq_nbfnet_layer *last = &r->pass->layers[L - 1];
    float bias[H];
    r->k->dot_rows(H, D, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0) + D, H, r->input->query, bias);
    r->k->add(H, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0_BIAS), bias);
    r->k->gemm(last->n_nodes, last->out, D, &r->packed->state, bias, ACQ_GEMM_RELU, r->pass->hidden,
               H);
    r->k->dot_rows(last->n_nodes, H, r->pass->hidden, H, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_2),
                   scores);
    for (size_t i = 0; i < last->n_nodes; i++)
        scores[i] += acq_nbfnet_get(model, ACQ_NBFNET_SCORE_2_BIAS)[0];
}

acq_status acq_nbfnet_forward(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                              bool keeps, acq_nbfnet_pass *pass, float *scores)
{
    run r = {.packed = packed, .k = packed->kernels, .input = input, .pass = pass};
    if (acq_nbfnet_pass_prepare(pass, input, keeps) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    start_states(&r);
    for (unsigned l = 0; l < L; l++)
        run_layer(&r, l);
    score(&r, scores);
    return ACQ_OK;
}
