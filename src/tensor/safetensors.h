/* safetensors.h - models on disk: an 8-byte length, a JSON header, raw little-endian tensors.
 *
 * Reading trusts nothing: sizes, ranges, overlaps, gaps, overflow, dtypes, duplicate names, JSON
 * depth and length are checked, and every message names the file and the tensor. Only F32 is
 * read into parameters; other dtypes are refused with their name. Writing is atomic, and adds a
 * digest of the tensors to __metadata__, which reading checks where it is there. */
#ifndef ACQ_TENSOR_SAFETENSORS_H
#define ACQ_TENSOR_SAFETENSORS_H

#include "base/memory.h"
#include "tensor/parameters.h"

typedef struct acq_safetensors acq_safetensors;

/* The whole file in memory, checked. from_memory borrows nothing: the bytes are copied; name is
 * what messages call it. */
acq_status acq_safetensors_read(const char *path, acq_safetensors **out, acq_error *error);
acq_status acq_safetensors_read_memory(const void *bytes, size_t length, const char *name,
                                       acq_safetensors **out, acq_error *error);
void acq_safetensors_free(acq_safetensors *file);

/* Text of __metadata__, borrowed; NULL when it is not there. */
const char *acq_safetensors_get_metadata(const acq_safetensors *file, const char *key);

size_t acq_safetensors_get_n(const acq_safetensors *file);
const char *acq_safetensors_get_name(const acq_safetensors *file, size_t i);

/* Shape of a tensor of one or two dimensions (a vector has cols 0); false when there is none. */
bool acq_safetensors_get_shape(const acq_safetensors *file, const char *name, uint32_t *rows,
                               uint32_t *cols);

/* Fills parameters->values: every tensor must be there in its shape (a vector is one dimension),
 * with finite values, and none besides. The error says which tensor, what shape it has and what
 * shape was expected, and which value is not finite. */
acq_status acq_safetensors_load(const acq_safetensors *file, acq_parameters *parameters,
                                acq_error *error);

/* One tensor of a file that may have others: it must be there in this shape (a vector has cols 0),
 * with finite values. */
acq_status acq_safetensors_copy_tensor(const acq_safetensors *file, const acq_shape *shape,
                                       float *out, acq_error *error);

typedef struct acq_metadata {
    const char *key, *value;
} acq_metadata;

/* Tensors in block order; the same input gives the same bytes. */
acq_status acq_safetensors_write(const char *path, const acq_parameters *parameters,
                                 const acq_metadata *metadata, size_t n_metadata, acq_error *error);
/* The same bytes in memory; *out freed with acq_free. */
acq_status acq_safetensors_write_memory(const acq_parameters *parameters,
                                        const acq_metadata *metadata, size_t n_metadata, void **out,
                                        size_t *length, acq_error *error);

/* ---- safetensors header ----
 *
 * What the JSON header of a safetensors file says, checked. */

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
