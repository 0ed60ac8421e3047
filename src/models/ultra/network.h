/* network.h - ULTRA's weights ready to run, and the steps that both networks share.
 *
 * linear's 128 inputs are [state, message]; a pair is the two of a node side by side. Packed
 * weights are const and shared between threads. */
#ifndef ACQ_MODELS_ULTRA_NETWORK_H
#define ACQ_MODELS_ULTRA_NETWORK_H

#include "models/ultra/ultra.h"
#include "tensor/kernels.h"

typedef struct acq_ultra_layer {
    acq_packed linear; /* [128 x 64] */
    const float *bias, *gain, *shift;
} acq_ultra_layer;

typedef struct acq_ultra_network {
    const acq_ultra *model; /* borrowed */
    const acq_kernels *kernels;
    acq_ultra_layer relation[ACQ_ULTRA_LAYERS], entity[ACQ_ULTRA_LAYERS];
    acq_packed project[ACQ_ULTRA_LAYERS][2];
    acq_packed score_state, score_query; /* [64 x 128] each: the halves of score.0 */
} acq_ultra_network;

acq_status acq_ultra_network_init(acq_ultra_network *network, const acq_ultra *model,
                                  acq_error *error);
void acq_ultra_network_deinit(acq_ultra_network *network);

/* Rows that are run together: pairs, what comes of them and a panel of weights stay in the first
 * cache. */
enum { ACQ_ULTRA_BLOCK = 24, ACQ_ULTRA_PAIR = 2 * ACQ_ULTRA_WIDTH };

/* out[n x 64] = state + ReLU(norm(linear [state, message])) of n <= ACQ_ULTRA_BLOCK pairs. */
void acq_ultra_apply_to_pairs(const acq_ultra_network *network, const acq_ultra_layer *layer,
                              size_t n, const float *pairs, float *out);
/* The same for any n, states and messages apart; out is neither. */
void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out);

/* out[n x 64] = the n relation vectors as an entity layer uses them. */
void acq_ultra_project(const acq_ultra_network *network, size_t layer, size_t n,
                       const float *vectors, float *out);

/* bias[128] = what the query vector gives to score.0, its bias included. */
void acq_ultra_start_score(const acq_ultra_network *network, const float *query, float *bias);
/* Raw scores of n <= ACQ_ULTRA_BLOCK states. */
void acq_ultra_score(const acq_ultra_network *network, const float *bias, size_t n,
                     const float *states, float *scores);

#endif
