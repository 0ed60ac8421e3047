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
    size_t mapped; /* bytes of a file that is the block; 0: memory */
} acq_parameters;

acq_status acq_parameters_init(acq_parameters *parameters, const acq_shape *shapes, size_t n);
/* The same in a file without a name on the disk of `beside`, mapped: for blocks that are larger
 * than memory. Its room on the disk is taken at once. NULL: where the system has its temporary
 * files. */
acq_status acq_parameters_init_on_disk(acq_parameters *parameters, const acq_shape *shapes,
                                       size_t n, const char *beside, acq_error *error);
/* Floats [first, first + n) are not needed for a while: their memory is free for others. */
void acq_parameters_leave(const acq_parameters *parameters, size_t first, size_t n);
void acq_parameters_deinit(acq_parameters *parameters);

static inline size_t acq_tensor_get_length(const acq_tensor *tensor)
{
    return (size_t)tensor->rows * (tensor->cols == 0 ? 1 : tensor->cols);
}

/* Number of parameters without the gaps. */
size_t acq_parameters_count(const acq_parameters *parameters);

/* ---- optimizer ----
 *
 * Adam and AdamW over one parameter block, clipping, schedules, averaged weights.
 *
 *   m = b1 m + (1 - b1) g    v = b2 v + (1 - b2) g^2    (both corrected for their start)
 *   w -= rate * (m / (sqrt(v) + 1e-8) + decay * w)      decay 0: Adam; else AdamW
 *   average = keep * average + (1 - keep) * w           with a start-up correction */

typedef struct acq_optimizer_params {
    double rate;         /* at the start */
    double last_rate;    /* at the end of the schedule, linear in between */
    double beta1, beta2; /* .9, .999 */
    double decay;        /* decoupled weight decay; 0: Adam */
    double clip;         /* largest norm of the gradient; 0: off */
    double average;      /* keep of the averaged weights; 0: the average is the weights */
} acq_optimizer_params;

#define ACQ_OPTIMIZER_DEFAULT                                                                      \
    ((acq_optimizer_params){.rate = 1e-3, .last_rate = 1e-4, .beta1 = .9, .beta2 = .999, .clip = 1})

typedef struct acq_optimizer {
    acq_optimizer_params params;
    size_t n;
    uint64_t step;                   /* updates done */
    float *first, *second, *average; /* n floats each; what a checkpoint keeps besides step */
} acq_optimizer;

/* weights: the start of the average. */
acq_status acq_optimizer_init(acq_optimizer *optimizer, const acq_optimizer_params *params,
                              const float *weights, size_t n, acq_error *error);
void acq_optimizer_deinit(acq_optimizer *optimizer);

/* One update; progress is the share of the schedule that is over, 0 to 1. The gradient is scaled
 * in place when it is clipped. Returns the gradient's norm before clipping; when that is not
 * finite, or beyond 1e18 and not clipped, so that its square would not fit a float, the update is
 * left out and nothing changes. */
double acq_optimizer_update(acq_optimizer *optimizer, double progress, float *gradient,
                            float *weights);

/* The averaged weights. */
void acq_optimizer_copy_average(const acq_optimizer *optimizer, const float *weights, float *out);

#endif
