/* safetensors_header.c - the JSON header of a safetensors file:
 *
 *   { "__metadata__": { key: text, ... },
 *     name: { "dtype": "F32", "shape": [rows, cols], "data_offsets": [begin, end] }, ... }
 *
 * base/json.h bounds the depth and refuses bad UTF-8, NUL in strings and names that occur twice.
 * Then each tensor is checked alone (members, dtype, shape against range), and all of them sorted
 * by place: each must begin where the one before ends, the last must end the file. So no byte is in
 * two tensors, and none is in no tensor. */
#include "tensor/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const char *const metadata_key = "__metadata__";

static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

acq_shape_text acq_shape_print(const uint64_t *dims, size_t n_dims)
{
    acq_shape_text shape = {.text = "["};
    size_t used = 1;
    for (size_t i = 0; i < n_dims; i++)
        used += (size_t)snprintf(shape.text + used, sizeof shape.text - used, "%s%llu",
                                 i == 0 ? "" : ", ", (unsigned long long)dims[i]);
    snprintf(shape.text + used, sizeof shape.text - used, "]");
    return shape;
}

/* A number from 0 on. */
static bool read_number(const acq_json *json, uint64_t *out)
{
    if (json == NULL || json->kind != ACQ_JSON_INTEGER || json->integer < 0)
        return false;
    *out = (uint64_t)json->integer;
    return true;
}

static acq_status check_dtype(const acq_stored_tensor *tensor, const acq_json *json,
                              acq_error *error)
{
    const char *dtype = json->text;
    if (dtype == NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "tensor \"%.100s\": \"dtype\" must be a text",
                        tensor->name);
    if (strcmp(dtype, "F32") == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "tensor \"%.100s\" has dtype %.20s; only F32 is read, so convert it first",
                    tensor->name, is_printable(dtype) ? dtype : "?");
}

static acq_status read_shape(acq_stored_tensor *tensor, const acq_json *json, acq_error *error)
{
    if (json->kind != ACQ_JSON_ARRAY)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\": \"shape\" must be a list of numbers", tensor->name);
    tensor->n_dims = json->n;
    if (tensor->n_dims > ACQ_SAFETENSORS_MOST_DIMS)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "tensor \"%.100s\" has %zu dimensions; at most %d are read", tensor->name,
                        tensor->n_dims, ACQ_SAFETENSORS_MOST_DIMS);
    const acq_json *size = json->first;
    for (size_t i = 0; i < tensor->n_dims; i++, size = size->next) {
        if (!read_number(size, &tensor->dims[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "tensor \"%.100s\": \"shape\" must hold whole numbers from 0 on",
                            tensor->name);
    }
    return ACQ_OK;
}

static acq_status read_range(acq_stored_tensor *tensor, const acq_json *json, uint64_t data_length,
                             acq_error *error)
{
    if (json->kind != ACQ_JSON_ARRAY || json->n != 2 || !read_number(json->first, &tensor->begin) ||
        !read_number(json->first->next, &tensor->end))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\": \"data_offsets\" must be two whole numbers from 0 on",
                        tensor->name);
    if (tensor->begin > tensor->end)
        return acq_fail(error, ACQ_ERR_INPUT, "tensor \"%.100s\" ends before it begins",
                        tensor->name);
    if (tensor->end > data_length)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\" ends at byte %llu of the data, but there are only %llu; "
                        "the file is cut off: copy or make it again",
                        tensor->name, (unsigned long long)tensor->end,
                        (unsigned long long)data_length);
    return ACQ_OK;
}

/* 4 times the product of the dimensions; false when that is beyond 64 bits. */
static bool get_bytes(const acq_stored_tensor *tensor, uint64_t *out)
{
    uint64_t bytes = sizeof(float);
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (__builtin_mul_overflow(bytes, tensor->dims[i], &bytes))
            return false;
    }
    *out = bytes;
    return true;
}

static acq_status check_length(const acq_stored_tensor *tensor, acq_error *error)
{
    uint64_t expected, bytes = tensor->end - tensor->begin;
    acq_shape_text shape = acq_shape_print(tensor->dims, tensor->n_dims);
    if (!get_bytes(tensor, &expected))
        return acq_fail(error, ACQ_ERR_INPUT, "tensor \"%.100s\": the shape %.200s is too large",
                        tensor->name, shape.text);
    if (expected != bytes)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\" of shape %.200s needs %llu bytes, but has %llu",
                        tensor->name, shape.text, (unsigned long long)expected,
                        (unsigned long long)bytes);
    return ACQ_OK;
}

/* The three members, and no other. */
static acq_status check_members(const acq_stored_tensor *tensor, const acq_json *json,
                                acq_error *error)
{
    static const char *const members[] = {"dtype", "shape", "data_offsets"};
    if (json->kind != ACQ_JSON_OBJECT)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\" must be an object with dtype, shape and data_offsets",
                        tensor->name);
    for (size_t i = 0; i < 3; i++) {
        if (acq_json_get(json, members[i]) == NULL)
            return acq_fail(error, ACQ_ERR_INPUT, "tensor \"%.100s\" has no member \"%s\"",
                            tensor->name, members[i]);
    }
    if (json->n != 3)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"%.100s\" has members besides dtype, shape and data_offsets",
                        tensor->name);
    return ACQ_OK;
}

static acq_status read_tensor(acq_safetensors_header *header, const acq_json *json,
                              uint64_t data_length, acq_error *error)
{
    acq_stored_tensor *tensor = &header->tensors[header->n_tensors++];
    if (!is_printable(json->name))
        return acq_fail(error, ACQ_ERR_INPUT, "the name of tensor %zu holds a control character",
                        header->n_tensors);
    tensor->name = json->name;
    acq_status status = check_members(tensor, json, error);
    if (status == ACQ_OK)
        status = check_dtype(tensor, acq_json_get(json, "dtype"), error);
    if (status == ACQ_OK)
        status = read_shape(tensor, acq_json_get(json, "shape"), error);
    if (status == ACQ_OK)
        status = read_range(tensor, acq_json_get(json, "data_offsets"), data_length, error);
    return status == ACQ_OK ? check_length(tensor, error) : status;
}

static acq_status read_text(acq_safetensors_header *header, const acq_json *value, acq_error *error)
{
    if (value->kind != ACQ_JSON_TEXT)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "__metadata__: the value of \"%.100s\" must be a text",
                        is_printable(value->name) ? value->name : "?");
    header->metadata[header->n_metadata++] = (acq_metadata){value->name, value->text};
    return ACQ_OK;
}

static acq_status read_metadata(acq_safetensors_header *header, const acq_json *json,
                                acq_error *error)
{
    acq_status status = ACQ_OK;
    if (json->kind != ACQ_JSON_OBJECT)
        return acq_fail(error, ACQ_ERR_INPUT, "__metadata__ must be an object of texts");
    header->metadata = acq_arena_alloc(&header->arena, json->n, sizeof *header->metadata);
    if (header->metadata == NULL)
        return acq_fail_memory(error);
    for (const acq_json *value = json->first; value != NULL && status == ACQ_OK;
         value = value->next)
        status = read_text(header, value, error);
    return status;
}

static int compare_places(const void *a, const void *b)
{
    const acq_stored_tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static acq_status check_cover(const acq_safetensors_header *header, uint64_t data_length,
                              acq_error *error)
{
    uint64_t at = 0;
    for (size_t i = 0; i < header->n_tensors; i++) {
        const acq_stored_tensor *tensor = &header->tensors[i];
        if (tensor->begin < at)
            return acq_fail(error, ACQ_ERR_INPUT, "tensors \"%.100s\" and \"%.100s\" overlap",
                            header->tensors[i - 1].name, tensor->name);
        if (tensor->begin > at)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "bytes %llu to %llu of the data, before tensor \"%.100s\", are of no "
                            "tensor",
                            (unsigned long long)at, (unsigned long long)tensor->begin,
                            tensor->name);
        at = tensor->end;
    }
    if (at < data_length)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "%llu bytes follow the last tensor; copy or make the file again",
                        (unsigned long long)(data_length - at));
    return ACQ_OK;
}

static acq_status read_root(acq_safetensors_header *header, const acq_json *root,
                            uint64_t data_length, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (root->kind != ACQ_JSON_OBJECT)
        return acq_fail(error, ACQ_ERR_INPUT, "its header is no JSON object");
    header->tensors = acq_arena_zalloc(&header->arena, root->n, sizeof *header->tensors);
    if (header->tensors == NULL)
        return acq_fail_memory(error);
    for (const acq_json *value = root->first; value != NULL; value = value->next) {
        if (strcmp(value->name, metadata_key) == 0)
            status = read_metadata(header, value, error);
        else
            status = read_tensor(header, value, data_length, error);
        if (status != ACQ_OK)
            return status;
    }
    qsort(header->tensors, header->n_tensors, sizeof *header->tensors, compare_places);
    return check_cover(header, data_length, error);
}

acq_status acq_safetensors_header_init(acq_safetensors_header *header, const char *text,
                                       size_t length, uint64_t data_length, acq_error *error)
{
    acq_error why = {0};
    const acq_json *root = NULL;
    *header = (acq_safetensors_header){0};
    acq_arena_init(&header->arena);
    acq_status status = acq_json_parse(text, length, &header->arena, &root, &why);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status != ACQ_OK)
        return acq_fail(error, status, "its header is not valid JSON: line %zu, column %zu: %.200s",
                        why.line, why.column, why.message);
    return read_root(header, root, data_length, error);
}

void acq_safetensors_header_deinit(acq_safetensors_header *header)
{
    acq_arena_deinit(&header->arena);
    *header = (acq_safetensors_header){0};
}

const acq_stored_tensor *acq_safetensors_header_find(const acq_safetensors_header *header,
                                                     const char *name)
{
    for (size_t i = 0; i < header->n_tensors; i++) {
        if (strcmp(header->tensors[i].name, name) == 0)
            return &header->tensors[i];
    }
    return NULL;
}

acq_digest_text acq_safetensors_print_digest(uint64_t digest)
{
    acq_digest_text out;
    snprintf(out.text, sizeof out.text, "acq64:%016llx", (unsigned long long)digest);
    return out;
}
