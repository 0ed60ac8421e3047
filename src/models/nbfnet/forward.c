/* forward.c - weights laid out for products, and one query through the network; see network.h. */
#include <math.h>
#include <string.h>

#include "models/nbfnet/network.h"

enum { D = ACQ_NBFNET_WIDTH, H = ACQ_NBFNET_HIDDEN };

static acq_status init_layer(acq_nbfnet_products *layer, const acq_nbfnet *model, bool trainable)
{
    size_t A = acq_nbfnet_count_aggregates(model);
    if (acq_packed_init(&layer->own, D, D) != ACQ_OK ||
        (trainable && acq_packed_init(&layer->own_back, D, D) != ACQ_OK))
        return ACQ_ERR_MEMORY;
    for (unsigned k = 0; k < acq_nbfnet_count_scales(model); k++)
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
    for (unsigned l = 0; l < model->shape.layers && status == ACQ_OK; l++)
        status = init_layer(&packed->layers[l], model, trainable);
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
    for (unsigned l = 0; l < ACQ_NBFNET_MOST_LAYERS; l++) {
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
    const acq_nbfnet *model = packed->model;
    size_t n_inputs = acq_nbfnet_count_inputs(model), A = acq_nbfnet_count_aggregates(model);
    for (unsigned l = 0; l < model->shape.layers; l++) {
        acq_nbfnet_products *layer = &packed->layers[l];
        const float *w = acq_nbfnet_get(model, acq_nbfnet_layer_tensor(l, ACQ_NBFNET_LINEAR));
        fill(&layer->own, &layer->own_back, w, n_inputs);
        for (unsigned k = 0; k < acq_nbfnet_count_scales(model); k++)
            fill(&layer->scaled[k], &layer->scaled_back[k], w + D + k * A, n_inputs);
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

/* What a node gets besides its edges is `start`. */
static void aggregate_row(const run *r, acq_messages *messages, uint32_t node,
                          const acq_pna_start *start, float *out)
{
    if (!r->packed->model->shape.sums) {
        r->k->pna(messages, node, start, out);
        return;
    }
    messages->out = out;
    r->k->gather_rows(messages, 1, &node);
    if (start->boundary != NULL)
        r->k->add(D, start->boundary, out);
}

/* What a node gets that no boundary is near: zeros. */
static void aggregate_nothing(const run *r, float *out)
{
    static const uint32_t none[2] = {0};
    acq_messages empty = {.rows = none, .begins = none, .width = D};
    aggregate_row(r, &empty, 0, &(acq_pna_start){0}, out);
}

static void aggregate(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    acq_messages messages = acq_nbfnet_get_messages(r->pass, r->input, l);
    size_t n = layer->n_rows, A = acq_nbfnet_count_aggregates(r->packed->model);
    float *out = layer->aggregates;
    if (l == 0) {
        aggregate_nothing(r, out);
        out += A;
        n--;
    }
    for (size_t i = 0; i < n; i++, out += A) {
        acq_pna_start start;
        uint32_t node = acq_nbfnet_start_row(r->pass, l, i, &start);
        aggregate_row(r, &messages, node, &start, out);
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
    size_t n_scales = acq_nbfnet_count_scales(r->packed->model), P = n_scales * D;
    size_t A = acq_nbfnet_count_aggregates(r->packed->model);
    float *products = r->pass->products;
    r->k->gemm(layer->n_nodes, layer->own, D, &w->own, get_tensor(r, l, ACQ_NBFNET_LINEAR_BIAS), 0,
               layer->sums, D);
    for (unsigned s = 0; s < n_scales; s++)
        r->k->gemm(layer->n_rows, layer->aggregates, A, &w->scaled[s], NULL, 0, products + s * D,
                   P);
    for (size_t i = 0; i < layer->n_nodes; i++) {
        float scale = r->input->scales[layer->nodes == NULL ? i : layer->nodes[i]];
        const float *row = products + (layer->rows == NULL ? i : layer->rows[i]) * P;
        for (unsigned s = 0; s < n_scales; s++)
            r->k->add_scaled(D, acq_nbfnet_get_scale(scale, s), row + s * D, layer->sums + i * D);
    }
}

void acq_nbfnet_fill_hidden(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                            size_t n, const float *states, float *hidden)
{
    const acq_nbfnet *model = packed->model;
    const acq_kernels *k = packed->kernels;
    float bias[H]; /* T q + bias is the same for all */
    k->dot_rows(H, D, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0) + D, H, input->query, bias);
    k->add(H, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0_BIAS), bias);
    k->gemm(n, states, D, &packed->state, bias, ACQ_GEMM_RELU, hidden, H);
}

/* f of n states; their hidden rows stay in pass->hidden. */
static void score(const run *r, size_t n, const float *states, float *scores)
{
    const acq_nbfnet *model = r->packed->model;
    acq_nbfnet_fill_hidden(r->packed, r->input, n, states, r->pass->hidden);
    r->k->dot_rows(n, H, r->pass->hidden, H, acq_nbfnet_get(model, ACQ_NBFNET_SCORE_2), scores);
    for (size_t i = 0; i < n; i++)
        scores[i] += acq_nbfnet_get(model, ACQ_NBFNET_SCORE_2_BIAS)[0];
}

/* What the senders send. */
static void send(const run *r, const acq_nbfnet_layer *layer)
{
    for (size_t i = 0; i < layer->n_senders; i++) {
        float *sent = layer->sent + i * D;
        memcpy(sent, layer->in + (size_t)layer->senders[i] * D, D * sizeof *sent);
        if (!r->packed->model->shape.weighs)
            continue;
        layer->weights[i] = 1 / (1 + expf(-r->pass->priorities[layer->senders[i]]));
        r->k->scale(D, layer->weights[i], sent);
    }
}

static acq_status choose(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    score(r, r->input->edges->n_nodes, layer->in, r->pass->priorities);
    if (acq_nbfnet_pass_choose(r->pass, r->packed->model, r->input, l) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    send(r, layer);
    return ACQ_OK;
}

/* States after a layer that visited a part: those of receivers are new. */
static void update_states(const run *r, const acq_nbfnet_layer *layer)
{
    size_t n = r->input->edges->n_nodes;
    if (layer->after != layer->in)
        memcpy(layer->after, layer->in, n * D * sizeof *layer->after);
    for (size_t i = 0; i < layer->n_nodes; i++)
        memcpy(layer->after + (size_t)layer->nodes[i] * D, layer->out + i * D,
               D * sizeof *layer->after);
}

static acq_status run_layer(const run *r, unsigned l)
{
    const acq_nbfnet_layer *layer = &r->pass->layers[l];
    bool visits = r->pass->visits && l > 0;
    if (visits && choose(r, l) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    size_t n = layer->n_nodes;
    aggregate(r, l);
    copy_own(layer);
    combine(r, l);
    r->k->layer_norm(n, D, layer->sums, get_tensor(r, l, ACQ_NBFNET_NORM),
                     get_tensor(r, l, ACQ_NBFNET_NORM_BIAS), layer->fresh, layer->stats);
    r->k->relu(n * D, layer->fresh);
    r->k->add_to(n * D, layer->own, layer->fresh, layer->out);
    if (visits)
        update_states(r, layer);
    return ACQ_OK;
}

/* x_L of the targets. */
static const float *find_results(const run *r, size_t *n)
{
    const acq_nbfnet_input *input = r->input;
    const acq_nbfnet_layer *last = &r->pass->layers[r->packed->model->shape.layers - 1];
    *n = input->targets == NULL ? input->edges->n_nodes : input->n_targets;
    if (!r->pass->visits)
        return last->out;
    if (input->targets == NULL)
        return last->after;
    for (size_t i = 0; i < *n; i++)
        memcpy(r->pass->results_room + i * D, last->after + (size_t)input->targets[i] * D,
               D * sizeof *last->after);
    return r->pass->results_room;
}

acq_status acq_nbfnet_forward(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                              bool keeps, acq_nbfnet_pass *pass, float *scores)
{
    run r = {.packed = packed, .k = packed->kernels, .input = input, .pass = pass};
    size_t n;
    acq_status status = acq_nbfnet_pass_prepare(pass, packed->model, input, keeps);
    if (status == ACQ_OK)
        start_states(&r);
    for (unsigned l = 0; l < packed->model->shape.layers && status == ACQ_OK; l++)
        status = run_layer(&r, l);
    if (status != ACQ_OK)
        return status;
    pass->results = find_results(&r, &n);
    score(&r, n, pass->results, scores);
    return ACQ_OK;
}
