/* network.h - ULTRA's weights ready to run, and the steps that both networks share.
 *
 * linear's 128 inputs are [state, message], so its product is two of 64 inputs each, and the two
 * parts need not lie side by side. Packed weights are const and shared between threads. */
#ifndef ACQ_PREDICT_ULTRA_NETWORK_H
#define ACQ_PREDICT_ULTRA_NETWORK_H

#include "predict/ultra/ultra.h"
#include "tensor/kernels.h"

typedef struct acq_ultra_layer {
    acq_packed state, message; /* [64 x 64] each */
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

/* Rows that are run together, so that what is between two products stays in the first cache. */
enum { ACQ_ULTRA_BLOCK = 48 };

/* out = states + ReLU(norm(linear [states, messages])), n rows of 64 each; out is neither. */
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
