/* parameters.h - the parameters of a network in one block of floats, with the names and shapes
 * of the tensors in it. Gradients and averages are blocks of the same length. */
#ifndef ACQ_TENSOR_PARAMETERS_H
#define ACQ_TENSOR_PARAMETERS_H

#include "base/types.h"

typedef struct acq_tensor {
    const char *name;
    uint32_t rows, cols; /* a vector has cols 0 */
    size_t offset;       /* in the block */
} acq_tensor;

typedef struct acq_shape { /* a network states its tensors as a table of these */
    const char *name;
    uint32_t rows, cols;
} acq_shape;

typedef struct acq_parameters {
    acq_tensor *tensors; /* names are borrowed from the shapes */
    size_t n_tensors;
    float *values; /* 64-byte aligned, zeroed by init; every tensor starts on 64 bytes */
    size_t n;      /* floats in the block, gaps included: these are always 0 */
    void *block;
} acq_parameters;

acq_status acq_parameters_init(acq_parameters *parameters, const acq_shape *shapes, size_t n);
void acq_parameters_deinit(acq_parameters *parameters);

static inline size_t acq_tensor_get_length(const acq_tensor *tensor)
{
    return (size_t)tensor->rows * (tensor->cols == 0 ? 1 : tensor->cols);
}

/* Number of parameters without the gaps. */
size_t acq_parameters_count(const acq_parameters *parameters);

#endif
