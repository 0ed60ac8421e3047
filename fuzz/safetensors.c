/* safetensors.c - the reader of weights on any bytes.
 *
 * An odd first byte: the input is a header and data, and the target puts the length in front that
 * the second and third byte say, so that the fuzzer gets past the frame. Otherwise the rest is the
 * file. What is read must load into a network of just its shapes unless a value is not finite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

/* A network with the tensors of the file; false when one is of other than 1 or 2 dimensions. */
static bool copy_shapes(const acq_safetensors *file, acq_shape *shapes)
{
    for (size_t i = 0; i < acq_safetensors_get_n(file); i++) {
        shapes[i].name = acq_safetensors_get_name(file, i);
        if (!acq_safetensors_get_shape(file, shapes[i].name, &shapes[i].rows, &shapes[i].cols))
            return false;
    }
    return true;
}

static void check_values(const acq_parameters *parameters, bool is_loaded)
{
    for (size_t i = 0; i < parameters->n; i++)
        must(is_loaded ? isfinite(parameters->values[i]) != 0 : parameters->values[i] == 0);
}

static void check_load(const acq_safetensors *file, const acq_shape *shapes, size_t n)
{
    acq_parameters parameters;
    acq_error error = {0};
    must(acq_parameters_init(&parameters, shapes, n) == ACQ_OK);
    acq_status status = acq_safetensors_load(file, &parameters, &error);
    must(status == error.code);
    must(status == ACQ_OK || strstr(error.message, "must be finite") != NULL);
    check_values(&parameters, status == ACQ_OK);
    acq_parameters_deinit(&parameters);
}

static void check_file(const void *bytes, size_t length)
{
    acq_safetensors *file = NULL;
    acq_error error = {0};
    acq_status status = acq_safetensors_read_memory(bytes, length, "fuzz", &file, &error);
    must(status == error.code && (status == ACQ_OK) == (file != NULL));
    must((status == ACQ_OK) == (error.message[0] == '\0'));
    if (status != ACQ_OK)
        return;
    (void)acq_safetensors_get_metadata(file, "format");
    size_t n = acq_safetensors_get_n(file);
    acq_shape *shapes = calloc(n + 1, sizeof *shapes);
    must(shapes != NULL);
    if (copy_shapes(file, shapes))
        check_load(file, shapes, n);
    free(shapes);
    acq_safetensors_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if ((data[0] & 1U) == 0) {
        check_file(data + 1, size - 1);
        return 0;
    }
    uint64_t header = (uint64_t)data[1] << 8 | data[2];
    uint8_t *framed = malloc(size + 5);
    must(framed != NULL);
    memcpy(framed, &header, 8);
    memcpy(framed + 8, data + 3, size - 3);
    check_file(framed, size + 5);
    free(framed);
    return 0;
}
