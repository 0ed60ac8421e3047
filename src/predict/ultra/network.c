/* network.c - see network.h. */
#include "predict/ultra/network.h"

#include <string.h>

enum { D = ACQ_ULTRA_WIDTH };

static acq_status pack(acq_packed *packed, size_t inputs, size_t outputs, const float *w,
                       size_t ldw)
{
    if (acq_packed_init(packed, inputs, outputs) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_packed_fill(packed, w, ldw);
    return ACQ_OK;
}

/* The four tensors of linear and norm stand in a row. */
static acq_status init_layer(acq_ultra_layer *layer, const acq_ultra *model, size_t first)
{
    const float *w = acq_ultra_get(model, first);
    layer->bias = acq_ultra_get(model, first + 1);
    layer->gain = acq_ultra_get(model, first + 2);
    layer->shift = acq_ultra_get(model, first + 3);
    if (pack(&layer->state, D, D, w, 2 * D) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return pack(&layer->message, D, D, w + D, 2 * D);
}

static acq_status init_layers(acq_ultra_network *network, size_t l)
{
    const acq_ultra *model = network->model;
    size_t relation = acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATION_LINEAR_WEIGHT);
    size_t entity = acq_ultra_entity_tensor(l, ACQ_ULTRA_ENTITY_LINEAR_WEIGHT);
    const float *first =
        acq_ultra_get(model, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_WEIGHT));
    const float *second =
        acq_ultra_get(model, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_2_WEIGHT));
    if (init_layer(&network->relation[l], model, relation) != ACQ_OK ||
        init_layer(&network->entity[l], model, entity) != ACQ_OK ||
        pack(&network->project[l][0], D, D, first, D) != ACQ_OK ||
        pack(&network->project[l][1], D, D, second, D) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

acq_status acq_ultra_network_init(acq_ultra_network *network, const acq_ultra *model,
                                  acq_error *error)
{
    const float *score = acq_ultra_get(model, ACQ_ULTRA_SCORE_0_WEIGHT);
    acq_status status = ACQ_OK;
    *network = (acq_ultra_network){.model = model, .kernels = acq_kernels_get_best()};
    for (size_t l = 0; l < ACQ_ULTRA_LAYERS && status == ACQ_OK; l++)
        status = init_layers(network, l);
    if (status == ACQ_OK)
        status = pack(&network->score_state, D, 2 * D, score, 2 * D);
    if (status == ACQ_OK)
        status = pack(&network->score_query, D, 2 * D, score + D, 2 * D);
    if (status == ACQ_OK)
        return ACQ_OK;
    acq_ultra_network_deinit(network);
    return acq_fail_memory(error);
}

static void deinit_layer(acq_ultra_layer *layer)
{
    acq_packed_deinit(&layer->state);
    acq_packed_deinit(&layer->message);
}

void acq_ultra_network_deinit(acq_ultra_network *network)
{
    for (size_t l = 0; l < ACQ_ULTRA_LAYERS; l++) {
        deinit_layer(&network->relation[l]);
        deinit_layer(&network->entity[l]);
        acq_packed_deinit(&network->project[l][0]);
        acq_packed_deinit(&network->project[l][1]);
    }
    acq_packed_deinit(&network->score_state);
    acq_packed_deinit(&network->score_query);
}

static void apply_block(const acq_kernels *kernels, const acq_ultra_layer *layer, size_t n,
                        const float *states, const float *messages, float *out)
{
    kernels->gemm(n, states, D, &layer->state, layer->bias, 0, out, D);
    kernels->gemm(n, messages, D, &layer->message, NULL, ACQ_GEMM_ADD, out, D);
    kernels->layer_norm(n, D, out, layer->gain, layer->shift, out, NULL);
    kernels->relu(n * D, out);
    kernels->add(n * D, states, out);
}

void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out)
{
    for (size_t i = 0; i < n; i += ACQ_ULTRA_BLOCK) {
        size_t rows = n - i < ACQ_ULTRA_BLOCK ? n - i : ACQ_ULTRA_BLOCK;
        apply_block(network->kernels, layer, rows, states + i * D, messages + i * D, out + i * D);
    }
}

void acq_ultra_project(const acq_ultra_network *network, size_t layer, size_t n,
                       const float *vectors, float *out)
{
    const acq_packed *project = network->project[layer];
    const float *first =
        acq_ultra_get(network->model, acq_ultra_entity_tensor(layer, ACQ_ULTRA_PROJECT_0_BIAS));
    const float *second =
        acq_ultra_get(network->model, acq_ultra_entity_tensor(layer, ACQ_ULTRA_PROJECT_2_BIAS));
    float hidden[ACQ_ULTRA_BLOCK * D];
    for (size_t i = 0; i < n; i += ACQ_ULTRA_BLOCK) {
        size_t rows = n - i < ACQ_ULTRA_BLOCK ? n - i : ACQ_ULTRA_BLOCK;
        network->kernels->gemm(rows, vectors + i * D, D, &project[0], first, ACQ_GEMM_RELU, hidden,
                               D);
        network->kernels->gemm(rows, hidden, D, &project[1], second, 0, out + i * D, D);
    }
}

void acq_ultra_start_score(const acq_ultra_network *network, const float *query, float *bias)
{
    network->kernels->gemm(1, query, D, &network->score_query,
                           acq_ultra_get(network->model, ACQ_ULTRA_SCORE_0_BIAS), 0, bias, 2 * D);
}

void acq_ultra_score(const acq_ultra_network *network, const float *bias, size_t n,
                     const float *states, float *scores)
{
    const float *weights = acq_ultra_get(network->model, ACQ_ULTRA_SCORE_2_WEIGHT);
    float shift = *acq_ultra_get(network->model, ACQ_ULTRA_SCORE_2_BIAS);
    float hidden[ACQ_ULTRA_BLOCK * 2 * D];
    network->kernels->gemm(n, states, D, &network->score_state, bias, ACQ_GEMM_RELU, hidden, 2 * D);
    network->kernels->dot_rows(n, 2 * D, hidden, 2 * D, weights, scores);
    for (size_t i = 0; i < n; i++)
        scores[i] += shift;
}
