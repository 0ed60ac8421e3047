/* safetensors_header.h - what the JSON header of a safetensors file says, checked. */
#ifndef ACQ_TENSOR_SAFETENSORS_HEADER_H
#define ACQ_TENSOR_SAFETENSORS_HEADER_H

#include "base/arena.h"
#include "tensor/safetensors.h"

enum {
    ACQ_SAFETENSORS_FRAME = 8, /* bytes of the length that comes first */
    ACQ_SAFETENSORS_MOST_HEADER = 100 * 1000 * 1000,
    ACQ_SAFETENSORS_MOST_DIMS = 8
};

typedef struct acq_stored_tensor {
    const char *name;
    size_t n_dims;
    uint64_t dims[ACQ_SAFETENSORS_MOST_DIMS];
    uint64_t begin, end; /* of its bytes in the data section */
} acq_stored_tensor;

typedef struct acq_safetensors_header {
    acq_arena arena; /* names and texts */
    acq_stored_tensor *tensors;
    size_t n_tensors;
    acq_metadata *metadata;
    size_t n_metadata;
} acq_safetensors_header;

/* Parses the JSON text. What it says is consistent: shapes fit ranges, and the ranges cover a
 * data section of data_length bytes without gap or overlap, in the order of `tensors`. Deinit
 * also after an error. */
acq_status acq_safetensors_header_init(acq_safetensors_header *header, const char *text,
                                       size_t length, uint64_t data_length, acq_error *error);
void acq_safetensors_header_deinit(acq_safetensors_header *header);

/* NULL when there is none. */
const acq_stored_tensor *acq_safetensors_header_find(const acq_safetensors_header *header,
                                                     const char *name);

/* The entry of __metadata__ that holds the digest of the data: "acq64:" and 16 hexadecimal digits.
 * The digest begins with 0; each tensor, in the order of the data, gives the next one: the hash
 * (base/hash.h) of its bytes, seeded with the digest before. */
#define ACQ_SAFETENSORS_DIGEST "digest"

typedef struct acq_digest_text {
    char text[sizeof "acq64:" + 16];
} acq_digest_text;

acq_digest_text acq_safetensors_print_digest(uint64_t digest);

/* "[32, 33]" */
typedef struct acq_shape_text {
    char text[ACQ_SAFETENSORS_MOST_DIMS * 22 + 3];
} acq_shape_text;

acq_shape_text acq_shape_print(const uint64_t *dims, size_t n_dims);

#endif
