/* safetensors_write.c - the header as one line of JSON, then the tensors one after the other.
 *
 * The header is filled up with spaces so that the data begins at a multiple of 8 bytes. Bytes in
 * names and texts that are not UTF-8 (a path in the metadata may hold some) become U+FFFD, so
 * that what is written can be read. */
#include "tensor/safetensors.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

static void add_metadata(acq_text *text, const acq_metadata *metadata, size_t n, uint64_t digest)
{
    acq_text_add(text, "\"__metadata__\":{");
    for (size_t i = 0; i < n; i++) {
        acq_text_add_json_mended(text, metadata[i].key);
        acq_text_add_char(text, ':');
        acq_text_add_json_mended(text, metadata[i].value);
        acq_text_add_char(text, ',');
    }
    acq_text_format(text, "\"" ACQ_SAFETENSORS_DIGEST "\":\"%s\"}",
                    acq_safetensors_print_digest(digest).text);
}

static uint64_t get_digest(const acq_parameters *parameters)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        digest = acq_hash_bytes(parameters->values + tensor->offset,
                                acq_tensor_get_length(tensor) * sizeof(float), digest);
    }
    return digest;
}

static void add_tensor(acq_text *text, const acq_tensor *tensor, size_t begin)
{
    acq_text_add_json_mended(text, tensor->name);
    acq_text_format(text, ":{\"dtype\":\"F32\",\"shape\":[%u", tensor->rows);
    if (tensor->cols > 0)
        acq_text_format(text, ",%u", tensor->cols);
    acq_text_format(text, "],\"data_offsets\":[%zu,%zu]}", begin,
                    begin + acq_tensor_get_length(tensor) * sizeof(float));
}

static acq_status print_header(acq_text *text, const acq_parameters *parameters,
                               const acq_metadata *metadata, size_t n_metadata, acq_error *error)
{
    size_t begin = 0;
    acq_text_add_char(text, '{');
    add_metadata(text, metadata, n_metadata, get_digest(parameters));
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        acq_text_add_char(text, ',');
        add_tensor(text, &parameters->tensors[i], begin);
        begin += acq_tensor_get_length(&parameters->tensors[i]) * sizeof(float);
    }
    acq_text_add_char(text, '}');
    while (!text->failed && text->length % 8 != 0)
        acq_text_add_char(text, ' ');
    return acq_text_finish(text, error);
}

/* The frame, the header, the tensors. */
static void copy_all(const acq_text *header, const acq_parameters *parameters, char *out)
{
    uint64_t length = header->length;
    memcpy(out, &length, sizeof length);
    memcpy(out + ACQ_SAFETENSORS_FRAME, header->bytes, header->length);
    out += ACQ_SAFETENSORS_FRAME + header->length;
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        size_t bytes = acq_tensor_get_length(tensor) * sizeof(float);
        memcpy(out, parameters->values + tensor->offset, bytes);
        out += bytes;
    }
}

acq_status acq_safetensors_write_memory(const acq_parameters *parameters,
                                        const acq_metadata *metadata, size_t n_metadata, void **out,
                                        size_t *length, acq_error *error)
{
    acq_text header;
    acq_text_init(&header);
    acq_status status = print_header(&header, parameters, metadata, n_metadata, error);
    if (status == ACQ_OK) {
        size_t data = acq_parameters_count(parameters) * sizeof(float);
        size_t n = ACQ_SAFETENSORS_FRAME + header.length + data;
        char *bytes = acq_alloc(n, 1);
        if (bytes != NULL) {
            copy_all(&header, parameters, bytes);
            *out = bytes;
            *length = n;
        }
        status = bytes == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    acq_text_deinit(&header);
    return status;
}

static acq_status put_all(acq_new_file *file, const acq_text *header,
                          const acq_parameters *parameters, acq_error *error)
{
    uint64_t length = header->length, at = ACQ_SAFETENSORS_FRAME + length;
    acq_status status = acq_new_file_put(file, &length, sizeof length, 0, error);
    if (status == ACQ_OK)
        status = acq_new_file_put(file, header->bytes, header->length, sizeof length, error);
    for (size_t i = 0; i < parameters->n_tensors && status == ACQ_OK; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        size_t bytes = acq_tensor_get_length(tensor) * sizeof(float);
        status = acq_new_file_put(file, parameters->values + tensor->offset, bytes, at, error);
        at += bytes;
    }
    return status == ACQ_OK ? acq_new_file_finish(file, error) : status;
}

acq_status acq_safetensors_write(const char *path, const acq_parameters *parameters,
                                 const acq_metadata *metadata, size_t n_metadata, acq_error *error)
{
    acq_new_file file = {0};
    acq_text header;
    acq_text_init(&header);
    acq_status status = print_header(&header, parameters, metadata, n_metadata, error);
    if (status == ACQ_OK)
        status = acq_new_file_init(&file, path, "the weights", error);
    if (status == ACQ_OK)
        status = put_all(&file, &header, parameters, error);
    acq_new_file_deinit(&file);
    acq_text_deinit(&header);
    acq_error_set_file(error, path);
    return status;
}
