/* safetensors.c - reading:
 *
 *   [ 8 bytes: length of the header, little-endian ][ header, begins with { ][ data ]
 *
 * The frame is checked before anything is allocated, so a large file of another kind is told by
 * its first bytes. The header: safetensors_header.c. Values are copied out by memcpy: tensors
 * may lie at any byte. */
#include "tensor/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors files are little-endian");

enum { LARGEST_READ = 1 << 30, MAPPED = 1 << 28, KNOWN = ACQ_SAFETENSORS_FRAME + 1 };

struct acq_safetensors {
    char *name;    /* of the file, in messages */
    char *bytes;   /* the whole file */
    size_t mapped; /* bytes of a mapping; 0: memory */
    acq_safetensors_header header;
    const char *data;
};

/* What people hand over instead, told by its first bytes. */
static const char *guess_kind(const char *start, size_t known)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *kind;
    } kinds[] = {{"PK\003\004", 4, "a zip archive (torch.save writes such)"},
                 {"\200\002", 2, "a Python pickle"},
                 {"\200\003", 2, "a Python pickle"},
                 {"\200\004", 2, "a Python pickle"},
                 {"\200\005", 2, "a Python pickle"},
                 {"\037\213", 2, "compressed by gzip"},
                 {"\x93NUMPY", 6, "a NumPy array"},
                 {"\211HDF\r\n", 6, "an HDF5 file"},
                 {"GGUF", 4, "a GGUF model"},
                 {"SQLite ", 7, "an SQLite database"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (known >= kinds[i].length && memcmp(start, kinds[i].magic, kinds[i].length) == 0)
            return kinds[i].kind;
    }
    return NULL;
}

static acq_status fail_kind(const char *start, size_t known, acq_error *error)
{
    const char *kind = guess_kind(start, known);
    if (kind != NULL)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is %s, not a safetensors file; name or make one that is", kind);
    return acq_fail(error, ACQ_ERR_INPUT,
                    "this is not a safetensors file, or it is damaged; expected the length of a "
                    "header and the header in JSON");
}

static uint64_t get_header_length(const char *start)
{
    uint64_t length;
    memcpy(&length, start, sizeof length);
    return length;
}

/* The first bytes (at most KNOWN are looked at) of a file of `length` bytes. */
static acq_status check_frame(const char *start, uint64_t length, acq_error *error)
{
    size_t known = length < KNOWN ? (size_t)length : KNOWN;
    if (length == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "the file is empty; expected a safetensors file");
    if (known < KNOWN)
        return fail_kind(start, known, error);
    uint64_t header = get_header_length(start);
    bool is_object = start[ACQ_SAFETENSORS_FRAME] == '{';
    if (header < 2 || !is_object)
        return fail_kind(start, known, error);
    if (header > ACQ_SAFETENSORS_MOST_HEADER)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "its header would have %llu bytes; at most %d are read",
                        (unsigned long long)header, ACQ_SAFETENSORS_MOST_HEADER);
    if (header > length - ACQ_SAFETENSORS_FRAME)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the file is cut off within its header; copy or make it again");
    return ACQ_OK;
}

/* Files of others have no digest, or another one. */
static acq_status check_digest(const acq_safetensors *file, acq_error *error)
{
    const char *stated = acq_safetensors_get_metadata(file, ACQ_SAFETENSORS_DIGEST);
    if (stated == NULL || strncmp(stated, "acq64:", strlen("acq64:")) != 0)
        return ACQ_OK;
    uint64_t digest = 0;
    for (size_t i = 0; i < file->header.n_tensors; i++) {
        const acq_stored_tensor *tensor = &file->header.tensors[i];
        digest = acq_hash_bytes(file->data + tensor->begin, (size_t)(tensor->end - tensor->begin),
                                digest);
    }
    if (strcmp(stated, acq_safetensors_print_digest(digest).text) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the tensors are damaged: their digest is not the one that the header states; "
                    "copy or make the file again");
}

static acq_status parse(acq_safetensors *file, size_t length, acq_error *error)
{
    acq_status status = check_frame(file->bytes, length, error);
    if (status != ACQ_OK)
        return status;
    size_t header = (size_t)get_header_length(file->bytes);
    file->data = file->bytes + ACQ_SAFETENSORS_FRAME + header;
    status = acq_safetensors_header_init(&file->header, file->bytes + ACQ_SAFETENSORS_FRAME, header,
                                         length - ACQ_SAFETENSORS_FRAME - header, error);
    return status == ACQ_OK ? check_digest(file, error) : status;
}

/* Takes the bytes, also on an error. mapped: as in acq_safetensors. */
static acq_status take(char *bytes, size_t length, size_t mapped, const char *name,
                       acq_safetensors **out, acq_error *error)
{
    acq_safetensors *file = acq_zalloc(1, sizeof *file);
    if (file == NULL) {
        if (mapped > 0)
            (void)munmap(bytes, mapped);
        else
            acq_free(bytes);
        return acq_fail_memory(error);
    }
    file->bytes = bytes;
    file->mapped = mapped;
    file->name = acq_copy_string(name);
    acq_status status = file->name == NULL ? acq_fail_memory(error) : parse(file, length, error);
    if (status != ACQ_OK) {
        acq_safetensors_free(file);
        return status;
    }
    *out = file;
    return ACQ_OK;
}

acq_status acq_safetensors_read_memory(const void *bytes, size_t length, const char *name,
                                       acq_safetensors **out, acq_error *error)
{
    char *copy = acq_alloc(length, 1);
    if (copy == NULL)
        return acq_fail_memory(error);
    if (length > 0)
        memcpy(copy, bytes, length);
    acq_status status = take(copy, length, 0, name, out, error);
    acq_error_set_file(error, name);
    return status;
}

static acq_status open_file(const char *path, int *file, uint64_t *length, acq_error *error)
{
    struct stat info;
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path");
    if (*file < 0 || fstat(*file, &info) != 0)
        return acq_fail(error, ACQ_ERR_IO, "cannot open the file: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return acq_fail(error, ACQ_ERR_INPUT, "this is %s; name a safetensors file",
                        S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    *length = (uint64_t)info.st_size;
    return ACQ_OK;
}

static acq_status get(int file, char *bytes, size_t length, acq_error *error)
{
    size_t at = 0;
    while (at < length) {
        size_t piece = length - at < LARGEST_READ ? length - at : LARGEST_READ;
        ssize_t done = pread(file, bytes + at, piece, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return acq_fail(error, ACQ_ERR_IO, "cannot read the file: %s", strerror(errno));
        if (done == 0)
            return acq_fail(error, ACQ_ERR_IO, "the file became shorter while it was read");
        at += (size_t)done;
    }
    return ACQ_OK;
}

/* A large file is read where it lies: it may be larger than memory. */
static acq_status map(int file, size_t length, const char *path, acq_safetensors **out,
                      acq_error *error)
{
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return acq_fail(error, ACQ_ERR_IO, "cannot map the file: %s", strerror(errno));
    return take(bytes, length, length, path, out, error);
}

static acq_status read_open(int file, uint64_t length, const char *path, acq_safetensors **out,
                            acq_error *error)
{
    char start[KNOWN];
    acq_status status = get(file, start, length < KNOWN ? (size_t)length : KNOWN, error);
    if (status == ACQ_OK)
        status = check_frame(start, length, error);
    if (status != ACQ_OK)
        return status;
    if (length >= MAPPED)
        return map(file, (size_t)length, path, out, error);
    char *bytes = acq_alloc((size_t)length, 1);
    if (bytes == NULL)
        return acq_fail_memory(error);
    status = get(file, bytes, (size_t)length, error);
    if (status == ACQ_OK)
        return take(bytes, (size_t)length, 0, path, out, error);
    acq_free(bytes);
    return status;
}

acq_status acq_safetensors_read(const char *path, acq_safetensors **out, acq_error *error)
{
    int file = -1;
    uint64_t length = 0;
    acq_status status = open_file(path, &file, &length, error);
    if (status == ACQ_OK)
        status = read_open(file, length, path, out, error);
    if (file >= 0)
        close(file);
    acq_error_set_file(error, path);
    return status;
}

void acq_safetensors_free(acq_safetensors *file)
{
    if (file == NULL)
        return;
    acq_safetensors_header_deinit(&file->header);
    if (file->mapped > 0)
        (void)munmap(file->bytes, file->mapped);
    else
        acq_free(file->bytes);
    acq_free(file->name);
    acq_free(file);
}

const char *acq_safetensors_get_metadata(const acq_safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->header.n_metadata; i++) {
        if (strcmp(file->header.metadata[i].key, key) == 0)
            return file->header.metadata[i].value;
    }
    return NULL;
}

size_t acq_safetensors_get_n(const acq_safetensors *file)
{
    return file->header.n_tensors;
}

const char *acq_safetensors_get_name(const acq_safetensors *file, size_t i)
{
    return file->header.tensors[i].name;
}

bool acq_safetensors_get_shape(const acq_safetensors *file, const char *name, uint32_t *rows,
                               uint32_t *cols)
{
    const acq_stored_tensor *tensor = acq_safetensors_header_find(&file->header, name);
    if (tensor == NULL || tensor->n_dims < 1 || tensor->n_dims > 2)
        return false;
    uint64_t second = tensor->n_dims == 2 ? tensor->dims[1] : 0;
    if (tensor->dims[0] > UINT32_MAX || second > UINT32_MAX || (tensor->n_dims == 2 && second == 0))
        return false;
    *rows = (uint32_t)tensor->dims[0];
    *cols = (uint32_t)second;
    return true;
}

static acq_status check_shape(const acq_stored_tensor *stored, const acq_shape *shape,
                              acq_error *error)
{
    uint64_t dims[2] = {shape->rows, shape->cols};
    size_t n_dims = shape->cols == 0 ? 1 : 2;
    acq_shape_text expected = acq_shape_print(dims, n_dims);
    if (stored == NULL)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "there is no tensor \"%.100s\" (expected with shape %.50s); these weights "
                        "are of another network",
                        shape->name, expected.text);
    if (stored->n_dims == n_dims && memcmp(stored->dims, dims, n_dims * sizeof *dims) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "tensor \"%.100s\" has shape %.200s, expected %.50s; these weights are of "
                    "another network",
                    shape->name, acq_shape_print(stored->dims, stored->n_dims).text, expected.text);
}

static acq_status check_values(const acq_stored_tensor *stored, const char *data, acq_error *error)
{
    uint64_t n = (stored->end - stored->begin) / sizeof(float);
    for (uint64_t i = 0; i < n; i++) {
        float value;
        memcpy(&value, data + stored->begin + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "tensor \"%.100s\": value %llu of %llu is %s; weights must be finite",
                            stored->name, (unsigned long long)i + 1, (unsigned long long)n,
                            isnan(value) ? "not a number" : "infinite");
    }
    return ACQ_OK;
}

/* The tensor of this name, its shape and values checked. */
static acq_status find_checked(const acq_safetensors *file, const acq_shape *shape,
                               const acq_stored_tensor **out, acq_error *error)
{
    *out = acq_safetensors_header_find(&file->header, shape->name);
    acq_status status = check_shape(*out, shape, error);
    return status == ACQ_OK ? check_values(*out, file->data, error) : status;
}

acq_status acq_safetensors_copy_tensor(const acq_safetensors *file, const acq_shape *shape,
                                       float *out, acq_error *error)
{
    const acq_stored_tensor *stored;
    acq_status status = find_checked(file, shape, &stored, error);
    acq_error_set_file(error, file->name);
    if (status == ACQ_OK && stored->end > stored->begin)
        memcpy(out, file->data + stored->begin, (size_t)(stored->end - stored->begin));
    return status;
}

static bool has_tensor(const acq_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        if (strcmp(parameters->tensors[i].name, name) == 0)
            return true;
    }
    return false;
}

static acq_status check_all(const acq_safetensors *file, const acq_parameters *parameters,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < parameters->n_tensors && status == ACQ_OK; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        const acq_stored_tensor *stored;
        acq_shape shape = {tensor->name, tensor->rows, tensor->cols};
        status = find_checked(file, &shape, &stored, error);
    }
    for (size_t i = 0; i < file->header.n_tensors && status == ACQ_OK; i++) {
        const char *name = file->header.tensors[i].name;
        if (!has_tensor(parameters, name))
            status = acq_fail(error, ACQ_ERR_INPUT,
                              "tensor \"%.100s\" was not expected; these weights are of another "
                              "network",
                              name);
    }
    return status;
}

acq_status acq_safetensors_load(const acq_safetensors *file, acq_parameters *parameters,
                                acq_error *error)
{
    acq_status status = check_all(file, parameters, error);
    acq_error_set_file(error, file->name);
    if (status != ACQ_OK)
        return status;
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        const acq_stored_tensor *stored = acq_safetensors_header_find(&file->header, tensor->name);
        memcpy(parameters->values + tensor->offset, file->data + stored->begin,
               (size_t)(stored->end - stored->begin));
    }
    return ACQ_OK;
}
