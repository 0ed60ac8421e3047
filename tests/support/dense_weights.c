/* dense_weights.c - see dense_weights.h. */
#include "support/dense_weights.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

typedef struct shape {
    size_t rows, cols;
    const char *name;
} shape;

static shape shape_of(size_t d, acq_policy_tensor tensor)
{
#define SHAPE(field, text, n_rows, n_cols)                                                         \
    [ACQ_POLICY_##field] = {.rows = (n_rows), .cols = (n_cols), .name = (text)},
    const shape shapes[] = {ACQ_POLICY_TENSORS(SHAPE)};
#undef SHAPE
    return shapes[tensor];
}

size_t dense_tensor_get_rows(uint32_t dim, acq_policy_tensor tensor)
{
    shape s = shape_of(dim, tensor);
    return s.cols == 0 ? 1 : s.rows;
}

size_t dense_tensor_get_cols(uint32_t dim, acq_policy_tensor tensor)
{
    shape s = shape_of(dim, tensor);
    return s.cols == 0 ? s.rows : s.cols;
}

const char *dense_tensor_get_name(acq_policy_tensor tensor)
{
    return shape_of(1, tensor).name;
}

static size_t count(uint32_t dim, acq_policy_tensor tensor)
{
    return dense_tensor_get_rows(dim, tensor) * dense_tensor_get_cols(dim, tensor);
}

static double draw(acq_random *random, double width)
{
    return width * (2 * acq_random_unit(random) - 1);
}

static bool is_gain(acq_policy_tensor tensor)
{
    return tensor == ACQ_POLICY_e_g || tensor == ACQ_POLICY_v_g || tensor == ACQ_POLICY_r_g ||
           tensor == ACQ_POLICY_u_g || tensor == ACQ_POLICY_x_g || tensor == ACQ_POLICY_o_g;
}

static void fill(float *values, uint32_t dim, acq_policy_tensor tensor, acq_random *random,
                 double scale)
{
    double width = tensor == ACQ_POLICY_start ? 1.7 : 1 / sqrt(dim);
    for (size_t i = 0; i < count(dim, tensor); i++)
        values[i] = (float)(scale * (draw(random, width) + is_gain(tensor)));
}

void dense_weights_init_random(dense_weights *weights, uint32_t dim, uint64_t seed, double scale)
{
    acq_random random = acq_random_start(seed, dim);
    size_t n = 0;
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++)
        n += count(dim, (acq_policy_tensor)i);
    *weights = (dense_weights){.dim = dim, .block = malloc(n * sizeof(float))};
    if (weights->block == NULL)
        abort();
    float *next = weights->block;
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++) {
        fill(next, dim, (acq_policy_tensor)i, &random, scale);
        weights->tensors[i] = next;
        next += count(dim, (acq_policy_tensor)i);
    }
}

void dense_weights_init_from(dense_weights *weights, const acq_policy *policy)
{
    *weights = (dense_weights){.dim = policy->dim};
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++)
        weights->tensors[i] = acq_policy_get(policy, (acq_policy_tensor)i);
}

void dense_weights_deinit(dense_weights *weights)
{
    free(weights->block);
}
