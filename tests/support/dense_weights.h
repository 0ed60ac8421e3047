/* dense_weights.h - the tensors of a policy network for the dense implementations: borrowed from
 * a model, or drawn at random. Names, shapes and PyTorch's layout as in search/policy/model.h. */
#ifndef ACQ_TESTS_SUPPORT_DENSE_WEIGHTS_H
#define ACQ_TESTS_SUPPORT_DENSE_WEIGHTS_H

#include "search/policy/model.h"

typedef struct dense_weights {
    uint32_t dim;
    const float *tensors[ACQ_N_POLICY_TENSORS];
    float *block; /* NULL: borrowed */
} dense_weights;

/* Rows and columns of a tensor; a vector is one row. */
size_t dense_tensor_get_rows(uint32_t dim, acq_policy_tensor tensor);
size_t dense_tensor_get_cols(uint32_t dim, acq_policy_tensor tensor);
const char *dense_tensor_get_name(acq_policy_tensor tensor);

/* Uniform values like PyTorch's, but no gain, shift or bias is left at 1 or 0; then times scale. */
void dense_weights_init_random(dense_weights *weights, uint32_t dim, uint64_t seed, double scale);
void dense_weights_init_from(dense_weights *weights, const acq_policy *policy);
void dense_weights_deinit(dense_weights *weights);

#endif
