/* model.c - see ultra.h. The parameters: their names and shapes, initial values, files. */
#include "models/ultra/ultra.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "models/ultra/pass.h"

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

/* ---- network ---- */

enum {
    PAIR = ACQ_ULTRA_PAIR,
    ALIGNMENT = 64,
    STRIDE = ALIGNMENT / sizeof(float)
};

/* One product: its weights, and which part of which tensor they are. */
typedef struct product {
    acq_packed *forward, *back; /* either may be NULL */
    size_t tensor, offset, inputs, outputs, ld;
} product;

enum { N_WEIGHTS = 4 * ACQ_ULTRA_LAYERS + 3 };

static size_t list_weights(acq_ultra_network *network, product *out)
{
    size_t n = 0;
    for (size_t l = 0; l < ACQ_ULTRA_LAYERS; l++) {
        for (size_t net = 0; net < 2; net++) {
            acq_ultra_layer *layer = &network->layers[net][l];
            out[n++] =
                (product){&layer->linear, &layer->linear_back, layer->tensor, 0, PAIR, D, PAIR};
        }
        for (size_t i = 0; i < 2; i++)
            out[n++] = (product){&network->project[l][i],
                                 &network->project_back[l][i],
                                 acq_ultra_entity_tensor(l, i == 0 ? ACQ_ULTRA_PROJECT_0_WEIGHT
                                                                   : ACQ_ULTRA_PROJECT_2_WEIGHT),
                                 0,
                                 D,
                                 D,
                                 D};
    }
    size_t score = ACQ_ULTRA_SCORE_0_WEIGHT;
    if (network->is_trainable) {
        out[n++] = (product){&network->score_0, &network->score_0_back, score, 0, PAIR, PAIR, PAIR};
    } else {
        out[n++] = (product){&network->score_state, NULL, score, 0, D, PAIR, PAIR};
        out[n++] = (product){&network->score_query, NULL, score, D, D, PAIR, PAIR};
    }
    return n;
}

/* The four tensors of linear and norm stand in a row. */
static void point_layers(acq_ultra_network *network)
{
    for (size_t i = 0; i < 2 * ACQ_ULTRA_LAYERS; i++) {
        size_t l = i / 2, net = i % 2;
        acq_ultra_layer *layer = &network->layers[net][l];
        layer->tensor = net == ACQ_RELATION_NET
                            ? acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATION_LINEAR_WEIGHT)
                            : acq_ultra_entity_tensor(l, ACQ_ULTRA_ENTITY_LINEAR_WEIGHT);
        layer->bias = acq_ultra_get(network->model, layer->tensor + 1);
        layer->gain = acq_ultra_get(network->model, layer->tensor + 2);
        layer->shift = acq_ultra_get(network->model, layer->tensor + 3);
    }
}

acq_status acq_ultra_network_init(acq_ultra_network *network, const acq_ultra *model,
                                  bool is_trainable, acq_error *error)
{
    product list[N_WEIGHTS];
    acq_status status = ACQ_OK;
    *network = (acq_ultra_network){
        .model = model, .kernels = acq_kernels_get_best(), .is_trainable = is_trainable};
    point_layers(network);
    size_t n = list_weights(network, list);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        status = acq_packed_init(list[i].forward, list[i].inputs, list[i].outputs);
        if (status == ACQ_OK && is_trainable)
            status = acq_packed_init(list[i].back, list[i].outputs, list[i].inputs);
    }
    if (status != ACQ_OK) {
        acq_ultra_network_deinit(network);
        return acq_fail_memory(error);
    }
    acq_ultra_network_fill(network);
    return ACQ_OK;
}

void acq_ultra_network_fill(acq_ultra_network *network)
{
    product list[N_WEIGHTS];
    size_t n = list_weights(network, list);
    for (size_t i = 0; i < n; i++) {
        const float *w = acq_ultra_get(network->model, list[i].tensor) + list[i].offset;
        acq_packed_fill(list[i].forward, w, list[i].ld);
        if (network->is_trainable)
            acq_packed_fill_transposed(list[i].back, w, list[i].ld);
    }
}

void acq_ultra_network_deinit(acq_ultra_network *network)
{
    product list[N_WEIGHTS];
    size_t n = list_weights(network, list);
    for (size_t i = 0; i < n; i++) {
        acq_packed_deinit(list[i].forward);
        if (list[i].back != NULL)
            acq_packed_deinit(list[i].back);
    }
}

void acq_ultra_apply_to_pairs(const acq_ultra_network *network, const acq_ultra_layer *layer,
                              size_t n, const float *pairs, float *sums, float *out)
{
    const acq_kernels *kernels = network->kernels;
    float *between = sums == NULL ? out : sums;
    kernels->gemm(n, pairs, PAIR, &layer->linear, layer->bias, 0, between, D);
    kernels->norm_residual(n, D, between, layer->gain, layer->shift, pairs, PAIR, out);
}

void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out)
{
    _Alignas(ALIGNMENT) float pairs[ACQ_ULTRA_BLOCK * PAIR];
    for (size_t i = 0; i < n; i += ACQ_ULTRA_BLOCK) {
        size_t rows = n - i < ACQ_ULTRA_BLOCK ? n - i : ACQ_ULTRA_BLOCK;
        for (size_t r = 0; r < rows; r++) {
            memcpy(pairs + r * PAIR, states + (i + r) * D, D * sizeof *pairs);
            memcpy(pairs + r * PAIR + D, messages + (i + r) * D, D * sizeof *pairs);
        }
        acq_ultra_apply_to_pairs(network, layer, rows, pairs, NULL, out + i * D);
    }
}

void acq_ultra_project(const acq_ultra_network *network, size_t layer, size_t n,
                       const float *vectors, float *hidden, float *out)
{
    const acq_packed *project = network->project[layer];
    const float *first =
        acq_ultra_get(network->model, acq_ultra_entity_tensor(layer, ACQ_ULTRA_PROJECT_0_BIAS));
    const float *second =
        acq_ultra_get(network->model, acq_ultra_entity_tensor(layer, ACQ_ULTRA_PROJECT_2_BIAS));
    float room[ACQ_ULTRA_BLOCK * D];
    for (size_t i = 0; i < n; i += ACQ_ULTRA_BLOCK) {
        size_t rows = n - i < ACQ_ULTRA_BLOCK ? n - i : ACQ_ULTRA_BLOCK;
        float *between = hidden == NULL ? room : hidden + i * D;
        network->kernels->gemm(rows, vectors + i * D, D, &project[0], first, ACQ_GEMM_RELU, between,
                               D);
        network->kernels->gemm(rows, between, D, &project[1], second, 0, out + i * D, D);
    }
}

void acq_ultra_start_score(const acq_ultra_network *network, const float *query, float *bias)
{
    network->kernels->gemm(1, query, D, &network->score_query,
                           acq_ultra_get(network->model, ACQ_ULTRA_SCORE_0_BIAS), 0, bias, 2 * D);
}

void acq_ultra_score(const acq_ultra_network *network, const float *bias, size_t n,
                     const float *states, float *scores)
{
    const float *weights = acq_ultra_get(network->model, ACQ_ULTRA_SCORE_2_WEIGHT);
    float shift = *acq_ultra_get(network->model, ACQ_ULTRA_SCORE_2_BIAS);
    float hidden[ACQ_ULTRA_BLOCK * 2 * D];
    network->kernels->gemm(n, states, D, &network->score_state, bias, ACQ_GEMM_RELU, hidden, 2 * D);
    network->kernels->dot_rows(n, 2 * D, hidden, 2 * D, weights, scores);
    for (size_t i = 0; i < n; i++)
        scores[i] += shift;
}

static size_t round_up(size_t n_floats)
{
    return (n_floats + STRIDE - 1) / STRIDE * STRIDE;
}

acq_status acq_ultra_allocate(const acq_ultra_array *arrays, size_t n, void **block)
{
    size_t total = STRIDE;
    for (size_t i = 0; i < n; i++)
        total += round_up(arrays[i].n_floats);
    *block = acq_zalloc(total, sizeof(float));
    if (*block == NULL)
        return ACQ_ERR_MEMORY;
    size_t past = (uintptr_t)*block % ALIGNMENT;
    float *next = (float *)((char *)*block + (ALIGNMENT - past) % ALIGNMENT);
    for (size_t i = 0; i < n; i++) {
        *arrays[i].at = next;
        next += round_up(arrays[i].n_floats);
    }
    return ACQ_OK;
}
