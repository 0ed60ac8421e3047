/* model.h - the weights of the policy network, ready to run.
 *
 * Layers as its authors implemented them (paper, appendix "Architecture"), d = dim:
 *
 *   E          Linear(d+1, d) ReLU Linear(d, d, no bias) LayerNorm
 *   M_V        Linear(d, 4d, no bias) LayerNorm
 *   M_R        Linear(d, d) ReLU Linear(d, 4d, no bias) LayerNorm
 *   U_V, U_X   Linear(d, d) ReLU Linear(d, d, no bias) LayerNorm
 *   G          GRU cell (input, state, two biases), learned initial state
 *   O          LayerNorm Linear(d, d) ReLU Linear(d, 1, no bias) */
#ifndef ACQ_SEARCH_POLICY_MODEL_H
#define ACQ_SEARCH_POLICY_MODEL_H

#include "tensor/kernels.h"
#include "tensor/safetensors.h"

enum { ACQ_POLICY_DIM_LEAST = 1, ACQ_POLICY_DIM_MOST = 1024 };

/* field, name in the file, rows, columns (0: a vector) in terms of d */
#define ACQ_POLICY_TENSORS(X)                                                                      \
    X(start, "start", d, 0)                                                                        \
    X(e1_w, "encoder.0.weight", d, d + 1)                                                          \
    X(e1_b, "encoder.0.bias", d, 0)                                                                \
    X(e2_w, "encoder.2.weight", d, d)                                                              \
    X(e_g, "encoder.3.weight", d, 0)                                                               \
    X(e_s, "encoder.3.bias", d, 0)                                                                 \
    X(v_w, "value_message.0.weight", 4 * d, d)                                                     \
    X(v_g, "value_message.1.weight", 4 * d, 0)                                                     \
    X(v_s, "value_message.1.bias", 4 * d, 0)                                                       \
    X(r1_w, "literal_message.0.weight", d, d)                                                      \
    X(r1_b, "literal_message.0.bias", d, 0)                                                        \
    X(r2_w, "literal_message.2.weight", 4 * d, d)                                                  \
    X(r_g, "literal_message.3.weight", 4 * d, 0)                                                   \
    X(r_s, "literal_message.3.bias", 4 * d, 0)                                                     \
    X(u1_w, "value_update.0.weight", d, d)                                                         \
    X(u1_b, "value_update.0.bias", d, 0)                                                           \
    X(u2_w, "value_update.2.weight", d, d)                                                         \
    X(u_g, "value_update.3.weight", d, 0)                                                          \
    X(u_s, "value_update.3.bias", d, 0)                                                            \
    X(x1_w, "term_update.0.weight", d, d)                                                          \
    X(x1_b, "term_update.0.bias", d, 0)                                                            \
    X(x2_w, "term_update.2.weight", d, d)                                                          \
    X(x_g, "term_update.3.weight", d, 0)                                                           \
    X(x_s, "term_update.3.bias", d, 0)                                                             \
    X(gi_w, "gru.weight_ih", 3 * d, d)                                                             \
    X(gi_b, "gru.bias_ih", 3 * d, 0)                                                               \
    X(gh_w, "gru.weight_hh", 3 * d, d)                                                             \
    X(gh_b, "gru.bias_hh", 3 * d, 0)                                                               \
    X(o_g, "output.0.weight", d, 0)                                                                \
    X(o_s, "output.0.bias", d, 0)                                                                  \
    X(o1_w, "output.1.weight", d, d)                                                               \
    X(o1_b, "output.1.bias", d, 0)                                                                 \
    X(o2_w, "output.3.weight", 1, d)

typedef enum acq_policy_tensor {
#define ACQ_POLICY_TENSOR(field, name, rows, cols) ACQ_POLICY_##field,
    ACQ_POLICY_TENSORS(ACQ_POLICY_TENSOR)
#undef ACQ_POLICY_TENSOR
        ACQ_N_POLICY_TENSORS
} acq_policy_tensor;

/* Products with packed weights: y = x w', and dx = dy w for training. */
#define ACQ_POLICY_PRODUCTS(X)                                                                     \
    X(e1_w) X(e2_w) X(v_w) X(r1_w) X(r2_w) X(u1_w) X(u2_w) X(x1_w) X(x2_w) X(gi_w) X(gh_w) X(o1_w)

struct acq_policy {
    uint32_t dim;
    bool uses_pe; /* false: trained with all PE labels 0, and run so */
    acq_parameters parameters;
    const acq_kernels *kernels;
    acq_packed forward[ACQ_N_POLICY_TENSORS];  /* only of products */
    acq_packed backward[ACQ_N_POLICY_TENSORS]; /* only where training asked for it */
    char *name;                                /* the file, "shipped", "untrained" */
};

/* acq_policy_open and acq_policy_free are public: anycq.h. */

/* PyTorch's initialisation from a seed; start from N(0,1). For training: trainable packs the
 * backward products too. */
acq_status acq_policy_new(uint32_t dim, uint64_t seed, bool uses_pe, bool trainable,
                          acq_policy **out, acq_error *error);
/* The weights that ship with the library. */
acq_status acq_policy_new_shipped(acq_policy **out, acq_error *error);

/* With format, dim and labels as metadata besides those given (29 at most). */
acq_status acq_policy_write(const acq_policy *policy, const char *path,
                            const acq_metadata *metadata, size_t n, acq_error *error);

/* After the parameters changed. */
void acq_policy_pack(acq_policy *policy);

static inline const float *acq_policy_get(const acq_policy *policy, acq_policy_tensor tensor)
{
    return policy->parameters.values + policy->parameters.tensors[tensor].offset;
}

#endif
