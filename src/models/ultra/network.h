/* network.h - ULTRA's weights ready to run, and the steps that both networks share, in inference
 * and in training alike.
 *
 * linear's 128 inputs are [state, message]; a pair is the two of a node side by side. Packed
 * weights are const and shared between threads. */
#ifndef ACQ_MODELS_ULTRA_NETWORK_H
#define ACQ_MODELS_ULTRA_NETWORK_H

#include "models/ultra/ultra.h"
#include "tensor/kernels.h"

typedef enum acq_ultra_net { ACQ_RELATION_NET, ACQ_ENTITY_NET } acq_ultra_net;

typedef struct acq_ultra_layer {
    acq_packed linear;      /* [128 x 64] */
    acq_packed linear_back; /* of training, as all that ends so */
    const float *bias, *gain, *shift;
    size_t tensor; /* place of linear.weight; bias, norm.weight and norm.bias follow */
} acq_ultra_layer;

typedef struct acq_ultra_network {
    const acq_ultra *model; /* borrowed */
    const acq_kernels *kernels;
    bool is_trainable;
    acq_ultra_layer layers[2][ACQ_ULTRA_LAYERS]; /* by acq_ultra_net */
    acq_packed project[ACQ_ULTRA_LAYERS][2], project_back[ACQ_ULTRA_LAYERS][2];
    acq_packed score_state, score_query; /* [64 x 128] each: the halves of score.0 */
    acq_packed score_0, score_0_back;    /* [128 x 128], of training */
} acq_ultra_network;

acq_status acq_ultra_network_init(acq_ultra_network *network, const acq_ultra *model,
                                  bool is_trainable, acq_error *error);
void acq_ultra_network_deinit(acq_ultra_network *network); /* a zeroed one is legal */
void acq_ultra_network_fill(acq_ultra_network *network);   /* after every change of the model */

/* Rows that are run together: pairs, what comes of them and a panel of weights stay in the first
 * cache. */
enum { ACQ_ULTRA_BLOCK = 24, ACQ_ULTRA_PAIR = 2 * ACQ_ULTRA_WIDTH };

/* out[n x 64] = state + ReLU(norm(linear [state, message])) of n <= ACQ_ULTRA_BLOCK pairs. sums
 * [n x 64] gets what linear gives, for the way back; NULL: not wanted. */
void acq_ultra_apply_to_pairs(const acq_ultra_network *network, const acq_ultra_layer *layer,
                              size_t n, const float *pairs, float *sums, float *out);
/* The same for any n, states and messages apart; out is neither. */
void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out);

/* out[n x 64] = the n relation vectors as an entity layer uses them; hidden [n x 64] gets what is
 * between the two products, NULL: not wanted. */
void acq_ultra_project(const acq_ultra_network *network, size_t layer, size_t n,
                       const float *vectors, float *hidden, float *out);

/* bias[128] = what the query vector gives to score.0, its bias included. */
void acq_ultra_start_score(const acq_ultra_network *network, const float *query, float *bias);
/* Raw scores of n <= ACQ_ULTRA_BLOCK states. */
void acq_ultra_score(const acq_ultra_network *network, const float *bias, size_t n,
                     const float *states, float *scores);

/* Several arrays of floats in one block, each on a cache line of its own. */
typedef struct acq_ultra_array {
    float **at;
    size_t n_floats;
} acq_ultra_array;

/* Sets every *at; the floats are zero. *block is freed with acq_free. */
acq_status acq_ultra_allocate(const acq_ultra_array *arrays, size_t n, void **block);

#endif
