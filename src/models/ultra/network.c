/* network.c - see network.h. */
#include "models/ultra/network.h"

#include <string.h>

enum { D = ACQ_ULTRA_WIDTH, PAIR = ACQ_ULTRA_PAIR };

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
    return pack(&layer->linear, PAIR, D, w, PAIR);
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

void acq_ultra_network_deinit(acq_ultra_network *network)
{
    for (size_t l = 0; l < ACQ_ULTRA_LAYERS; l++) {
        acq_packed_deinit(&network->relation[l].linear);
        acq_packed_deinit(&network->entity[l].linear);
        acq_packed_deinit(&network->project[l][0]);
        acq_packed_deinit(&network->project[l][1]);
    }
    acq_packed_deinit(&network->score_state);
    acq_packed_deinit(&network->score_query);
}

void acq_ultra_apply_to_pairs(const acq_ultra_network *network, const acq_ultra_layer *layer,
                              size_t n, const float *pairs, float *out)
{
    const acq_kernels *kernels = network->kernels;
    kernels->gemm(n, pairs, PAIR, &layer->linear, layer->bias, 0, out, D);
    kernels->norm_residual(n, D, out, layer->gain, layer->shift, pairs, PAIR, out);
}

void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out)
{
    _Alignas(64) float pairs[ACQ_ULTRA_BLOCK * PAIR];
    for (size_t i = 0; i < n; i += ACQ_ULTRA_BLOCK) {
        size_t rows = n - i < ACQ_ULTRA_BLOCK ? n - i : ACQ_ULTRA_BLOCK;
        for (size_t r = 0; r < rows; r++) {
            memcpy(pairs + r * PAIR, states + (i + r) * D, D * sizeof *pairs);
            memcpy(pairs + r * PAIR + D, messages + (i + r) * D, D * sizeof *pairs);
        }
        acq_ultra_apply_to_pairs(network, layer, rows, pairs, out + i * D);
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
