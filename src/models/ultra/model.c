/* model.c - see ultra.h. The parameters: their names and shapes, initial values, files. */
#include "models/ultra/ultra.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static const char FORMAT[] = "anycq-ultra-1";
static const char QUERY_OWN[] = "own", QUERY_PAIR[] = "pair";

enum { D = ACQ_ULTRA_WIDTH };

#define LAYER(name)                                                                                \
    {name ".linear.weight", D, 2 * D}, {name ".linear.bias", D, 0}, {name ".norm.weight", D, 0},   \
    {                                                                                              \
        name ".norm.bias", D, 0                                                                    \
    }
#define DENSE(name, outputs, inputs)                                                               \
    {name ".weight", outputs, inputs},                                                             \
    {                                                                                              \
        name ".bias", outputs, 0                                                                   \
    }
#define RELATION(layer)                                                                            \
    {"relation." layer ".relations", ACQ_ULTRA_KINDS, D}, LAYER("relation." layer)
#define ENTITY(layer)                                                                              \
    DENSE("entity." layer ".project.0", D, D), DENSE("entity." layer ".project.2", D, D),          \
        LAYER("entity." layer)

static const acq_shape shapes[] = {
    RELATION("0"),
    RELATION("1"),
    RELATION("2"),
    RELATION("3"),
    RELATION("4"),
    RELATION("5"),
    ENTITY("0"),
    ENTITY("1"),
    ENTITY("2"),
    ENTITY("3"),
    ENTITY("4"),
    ENTITY("5"),
    DENSE("score.0", 2 * D, 2 * D),
    DENSE("score.2", 1, 2 * D),
};

_Static_assert(sizeof shapes / sizeof *shapes == ACQ_ULTRA_TENSORS, "tensors and their places");

static acq_status new_zero(acq_ultra **out, acq_error *error)
{
    acq_ultra *model = acq_zalloc(1, sizeof *model);
    if (model == NULL)
        return acq_fail_memory(error);
    if (acq_parameters_init(&model->parameters, shapes, ACQ_ULTRA_TENSORS) != ACQ_OK) {
        acq_free(model);
        return acq_fail_memory(error);
    }
    *out = model;
    return ACQ_OK;
}

void acq_ultra_free(acq_ultra *model)
{
    if (model == NULL)
        return;
    acq_parameters_deinit(&model->parameters);
    acq_free(model);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static double draw_normal(acq_random *random)
{
    double u = 1.0 - acq_random_unit(random), v = acq_random_unit(random);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* As PyTorch: vectors of relations from N(0, 1), gains 1 and shifts 0, the rest uniform in
 * +-1/sqrt(inputs), where a bias has the inputs of the weights before it. */
static void draw_weights(acq_ultra *model, uint64_t seed)
{
    double bound = 0;
    for (size_t t = 0; t < ACQ_ULTRA_TENSORS; t++) {
        const acq_tensor *tensor = &model->parameters.tensors[t];
        float *values = acq_ultra_get(model, t);
        acq_random random = acq_random_start(seed, 0x756c747261000000ULL + t);
        bool is_gain = ends_with(tensor->name, ".norm.weight");
        bool is_shift = ends_with(tensor->name, ".norm.bias");
        bool is_vectors = ends_with(tensor->name, ".relations");
        if (tensor->cols > 0)
            bound = 1.0 / sqrt(tensor->cols);
        for (size_t i = 0; i < acq_tensor_get_length(tensor); i++)
            values[i] = is_gain      ? 1.0F
                        : is_shift   ? 0.0F
                        : is_vectors ? (float)draw_normal(&random)
                                     : (float)(bound * (2.0 * acq_random_unit(&random) - 1.0));
    }
}

acq_status acq_ultra_new(uint64_t seed, acq_ultra **out, acq_error *error)
{
    acq_status status = new_zero(out, error);
    if (status == ACQ_OK)
        draw_weights(*out, seed);
    return status;
}

/* Own, where the metadata do not say. */
static acq_status read_query(const acq_safetensors *file, bool *queries_pair, acq_error *error)
{
    const char *query = acq_safetensors_get_metadata(file, "query");
    *queries_pair = query != NULL && strcmp(query, QUERY_PAIR) == 0;
    if (*queries_pair || query == NULL || strcmp(query, QUERY_OWN) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the metadata say query \"%.20s\", not \"%s\" or \"%s\"; a newer version of "
                    "anycq may know it",
                    query, QUERY_OWN, QUERY_PAIR);
}

static acq_status new_loaded(const acq_safetensors *file, acq_ultra **out, acq_error *error)
{
    acq_ultra *model = NULL;
    const char *format = acq_safetensors_get_metadata(file, "format");
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "these are no ULTRA weights of anycq (format \"%.40s\", not \"%s\"); make "
                        "some with anycq train ultra",
                        format == NULL ? "" : format, FORMAT);
    acq_status status = new_zero(&model, error);
    if (status == ACQ_OK)
        status = read_query(file, &model->queries_pair, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &model->parameters, error);
    if (status != ACQ_OK) {
        acq_ultra_free(model);
        return status;
    }
    *out = model;
    return ACQ_OK;
}

/* Takes the file. */
static acq_status load_and_free(acq_safetensors *file, const char *name, acq_ultra **out,
                                acq_error *error)
{
    acq_status status = new_loaded(file, out, error);
    acq_safetensors_free(file);
    if (status == ACQ_ERR_INPUT)
        acq_error_set_file(error, name);
    return status;
}

acq_status acq_ultra_read(const char *path, acq_ultra **out, acq_error *error)
{
    acq_safetensors *file;
    acq_status status = acq_safetensors_read(path, &file, error);
    return status != ACQ_OK ? status : load_and_free(file, path, out, error);
}

acq_status acq_ultra_read_memory(const void *bytes, size_t length, const char *name,
                                 acq_ultra **out, acq_error *error)
{
    acq_safetensors *file;
    acq_status status = acq_safetensors_read_memory(bytes, length, name, &file, error);
    return status != ACQ_OK ? status : load_and_free(file, name, out, error);
}

enum { MOST_METADATA = 32 };

acq_status acq_ultra_write(const char *path, const acq_ultra *model, const acq_metadata *metadata,
                           size_t n_metadata, acq_error *error)
{
    acq_metadata all[MOST_METADATA] = {{"format", FORMAT},
                                       {"query", model->queries_pair ? QUERY_PAIR : QUERY_OWN}};
    if (n_metadata > MOST_METADATA - 2)
        return acq_fail(error, ACQ_ERR_LIMIT, "an ULTRA file takes %d metadata entries at most",
                        MOST_METADATA - 2);
    if (n_metadata > 0)
        memcpy(all + 2, metadata, n_metadata * sizeof *metadata);
    return acq_safetensors_write(path, &model->parameters, all, n_metadata + 2, error);
}
