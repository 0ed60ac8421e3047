/* parameters.c - laying out tensors in one aligned block; see parameters.h. */
#include "tensor/parameters.h"

#include "base/memory.h"

enum { ALIGNMENT = 64, STRIDE = ALIGNMENT / sizeof(float) };

/* The tensor at the end of the block; false when the block would be too large to address. */
static bool place(acq_parameters *parameters, const acq_shape *shape)
{
    const size_t most = (SIZE_MAX - ALIGNMENT) / sizeof(float) - STRIDE;
    acq_tensor *tensor = &parameters->tensors[parameters->n_tensors++];
    *tensor = (acq_tensor){
        .name = shape->name, .rows = shape->rows, .cols = shape->cols, .offset = parameters->n};
    size_t length = acq_tensor_get_length(tensor);
    if (length > most - parameters->n)
        return false;
    parameters->n += (length + STRIDE - 1) / STRIDE * STRIDE;
    return parameters->n <= most;
}

acq_status acq_parameters_init(acq_parameters *parameters, const acq_shape *shapes, size_t n)
{
    *parameters = (acq_parameters){.tensors = acq_alloc(n, sizeof *parameters->tensors)};
    bool fits = parameters->tensors != NULL;
    for (size_t i = 0; i < n && fits; i++)
        fits = place(parameters, &shapes[i]);
    if (fits)
        parameters->block = acq_zalloc(parameters->n * sizeof(float) + ALIGNMENT, 1);
    if (parameters->block == NULL) {
        acq_parameters_deinit(parameters);
        return ACQ_ERR_MEMORY;
    }
    uintptr_t past = (uintptr_t)parameters->block % ALIGNMENT;
    parameters->values = (float *)((char *)parameters->block + (ALIGNMENT - past));
    return ACQ_OK;
}

void acq_parameters_deinit(acq_parameters *parameters)
{
    acq_free(parameters->tensors);
    acq_free(parameters->block);
    *parameters = (acq_parameters){0};
}

size_t acq_parameters_count(const acq_parameters *parameters)
{
    size_t n = 0;
    for (size_t i = 0; i < parameters->n_tensors; i++)
        n += acq_tensor_get_length(&parameters->tensors[i]);
    return n;
}
