/* model.c - the parameters of NBFNet: initial values, files.
 *
 * A file's metadata hold the number and a hash of the relations' names with their ids: vectors of
 * relations mean nothing for others. Entities may differ: the network has no vectors of them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/names.h"
#include "models/nbfnet/nbfnet.h"

static const char FORMAT[] = "anycq-nbfnet-1";

enum {
    MOST_RELATIONS = 1 << 20,
    MOST_METADATA = 32,
    OWN_METADATA = 3,
    HASH_ROOM = 20,
    VISIT_ROOM = 48
};

static const char PRIORITY[] = "priority";

#define LAYER_NAMES(l)                                                                             \
    "layer." l ".relations.weight", "layer." l ".relations.bias", "layer." l ".linear.weight",     \
        "layer." l ".linear.bias", "layer." l ".norm.weight", "layer." l ".norm.bias"

static const char *const names[ACQ_NBFNET_MOST_TENSORS] = {
    "query",          "score.0.weight", "score.0.bias",   "score.2.weight", "score.2.bias",
    LAYER_NAMES("0"), LAYER_NAMES("1"), LAYER_NAMES("2"), LAYER_NAMES("3"), LAYER_NAMES("4"),
    LAYER_NAMES("5"), LAYER_NAMES("6"), LAYER_NAMES("7")};

static void get_layer_shapes(const acq_nbfnet *model, acq_shape *shapes)
{
    enum { D = ACQ_NBFNET_WIDTH };
    shapes[ACQ_NBFNET_RELATIONS] = (acq_shape){.rows = model->n_relations * D, .cols = D};
    shapes[ACQ_NBFNET_RELATIONS_BIAS] = (acq_shape){.rows = model->n_relations * D};
    shapes[ACQ_NBFNET_LINEAR] = (acq_shape){.rows = D, .cols = acq_nbfnet_count_inputs(model)};
    shapes[ACQ_NBFNET_LINEAR_BIAS] = (acq_shape){.rows = D};
    shapes[ACQ_NBFNET_NORM] = (acq_shape){.rows = D};
    shapes[ACQ_NBFNET_NORM_BIAS] = (acq_shape){.rows = D};
}

static void get_shapes(const acq_nbfnet *model, acq_shape *shapes)
{
    enum { H = ACQ_NBFNET_HIDDEN };
    shapes[ACQ_NBFNET_QUERY] = (acq_shape){.rows = model->n_relations, .cols = ACQ_NBFNET_WIDTH};
    for (unsigned l = 0; l < model->shape.layers; l++)
        get_layer_shapes(model, shapes + acq_nbfnet_layer_tensor(l, ACQ_NBFNET_RELATIONS));
    shapes[ACQ_NBFNET_SCORE_0] = (acq_shape){.rows = H, .cols = H};
    shapes[ACQ_NBFNET_SCORE_0_BIAS] = (acq_shape){.rows = H};
    shapes[ACQ_NBFNET_SCORE_2] = (acq_shape){.rows = 1, .cols = H};
    shapes[ACQ_NBFNET_SCORE_2_BIAS] = (acq_shape){.rows = 1};
    for (unsigned t = 0; t < acq_nbfnet_count_tensors(&model->shape); t++)
        shapes[t].name = names[t];
}

static acq_status check_shape(const acq_nbfnet_shape *shape, acq_error *error)
{
    if (shape->layers >= 2 && shape->layers <= ACQ_NBFNET_MOST_LAYERS && shape->visit.nodes >= 0 &&
        shape->visit.nodes <= 1 && shape->visit.edges >= 0 && shape->visit.edges <= 1)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "an NBFNet has 2 to %d layers that visit shares from 0 to 1 of the nodes and "
                    "links",
                    ACQ_NBFNET_MOST_LAYERS);
}

static acq_status new_zero(uint32_t n_relations, const acq_nbfnet_shape *shape, acq_nbfnet **out,
                           acq_error *error)
{
    acq_shape shapes[ACQ_NBFNET_MOST_TENSORS];
    acq_status status = check_shape(shape, error);
    if (status != ACQ_OK)
        return status;
    if (n_relations == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "NBFNet has a vector per relation and the graph has no relation; import "
                        "facts first");
    if (n_relations > MOST_RELATIONS)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "NBFNet takes %d relations at most, not %u; use the predictor ultra",
                        MOST_RELATIONS, n_relations);
    acq_nbfnet *model = acq_zalloc(1, sizeof *model);
    if (model == NULL)
        return acq_fail_memory(error);
    model->n_relations = n_relations;
    model->shape = *shape;
    get_shapes(model, shapes);
    if (acq_parameters_init(&model->parameters, shapes, acq_nbfnet_count_tensors(shape)) !=
        ACQ_OK) {
        acq_nbfnet_free(model);
        return acq_fail_memory(error);
    }
    *out = model;
    return ACQ_OK;
}

void acq_nbfnet_free(acq_nbfnet *model)
{
    if (model == NULL)
        return;
    acq_parameters_deinit(&model->parameters);
    acq_free(model);
}

static double draw_normal(acq_random *random)
{
    double u = 1.0 - acq_random_unit(random), v = acq_random_unit(random);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static bool is_norm(unsigned tensor, acq_nbfnet_part part)
{
    return tensor >= ACQ_NBFNET_FIRST_LAYER &&
           (tensor - ACQ_NBFNET_FIRST_LAYER) % ACQ_NBFNET_LAYER_PARTS == part;
}

/* The number of a tensor's random stream: seeds give what they gave when all models had four layers
 * and the score's tensors came last. */
static unsigned get_stream(unsigned tensor)
{
    enum { SCORE = ACQ_NBFNET_FIRST_LAYER - ACQ_NBFNET_SCORE_0 };
    unsigned first_new = acq_nbfnet_layer_tensor(ACQ_NBFNET_LAYERS, ACQ_NBFNET_RELATIONS);
    if (tensor >= ACQ_NBFNET_FIRST_LAYER)
        return tensor < first_new ? tensor - SCORE : tensor;
    return tensor == ACQ_NBFNET_QUERY ? 0 : first_new - ACQ_NBFNET_FIRST_LAYER + tensor;
}

/* Query vectors are normal; gains are 1 and shifts 0; all else is uniform in +-1/sqrt(inputs), a
 * bias with the inputs of the weights before it. */
static void draw_tensor(const acq_nbfnet *model, unsigned t, uint64_t seed)
{
    const acq_tensor *tensor = &model->parameters.tensors[t];
    const acq_tensor *weights = tensor->cols > 0 ? tensor : tensor - 1;
    float *values = acq_nbfnet_get(model, t);
    acq_random random = acq_random_start(seed, 0x6e62666e657400ULL + get_stream(t));
    double bound = 1.0 / sqrt(weights->cols > 0 ? weights->cols : 1);
    for (size_t i = 0; i < acq_tensor_get_length(tensor); i++)
        if (is_norm(t, ACQ_NBFNET_NORM) || is_norm(t, ACQ_NBFNET_NORM_BIAS))
            values[i] = is_norm(t, ACQ_NBFNET_NORM) ? 1.0F : 0.0F;
        else if (t == ACQ_NBFNET_QUERY)
            values[i] = (float)draw_normal(&random);
        else
            values[i] = (float)(bound * (2.0 * acq_random_unit(&random) - 1.0));
}

acq_status acq_nbfnet_new_shaped(uint32_t n_relations, const acq_nbfnet_shape *shape, uint64_t seed,
                                 acq_nbfnet **out, acq_error *error)
{
    acq_nbfnet *model;
    acq_status status = new_zero(n_relations, shape, &model, error);
    if (status != ACQ_OK)
        return status;
    for (unsigned t = 0; t < acq_nbfnet_count_tensors(shape); t++)
        draw_tensor(model, t, seed);
    *out = model;
    return ACQ_OK;
}

acq_status acq_nbfnet_new(uint32_t n_relations, uint64_t seed, acq_nbfnet **out, acq_error *error)
{
    acq_nbfnet_shape shape = {.layers = ACQ_NBFNET_LAYERS};
    return acq_nbfnet_new_shaped(n_relations, &shape, seed, out, error);
}

static acq_status hash_relations(const acq_graph *graph, char *out, acq_error *error)
{
    uint64_t sum = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const char *key = acq_graph_get_relation_key(graph, r);
        sum += acq_hash_name(r, key, strlen(key));
    }
    snprintf(out, HASH_ROOM, "%016" PRIx64, acq_random_mix(sum));
    return acq_graph_get_failure(graph, error);
}

static acq_status check_relations(const acq_safetensors *file, const acq_graph *graph,
                                  acq_error *error)
{
    char expected[HASH_ROOM];
    uint32_t rows = 0, cols, n_relations = acq_graph_get_n_relations(graph);
    const char *format = acq_safetensors_get_metadata(file, "format");
    const char *found = acq_safetensors_get_metadata(file, "relations");
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is no NBFNet model of anycq (format \"%.40s\", not \"%s\"); make one "
                        "with anycq train nbfnet",
                        format == NULL ? "" : format, FORMAT);
    acq_status status = hash_relations(graph, expected, error);
    if (status != ACQ_OK)
        return status;
    acq_safetensors_get_shape(file, names[ACQ_NBFNET_QUERY], &rows, &cols);
    if (rows == n_relations && found != NULL && strcmp(found, expected) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the model was trained for other relations (%u of them, here %u); train one "
                    "on this graph, or use ultra",
                    rows, n_relations);
}

/* "1 0.1 0.2": whether messages are weighted, shares of the nodes and links that layers visit. */
static acq_status read_visit(const acq_safetensors *file, acq_nbfnet_shape *shape, acq_error *error)
{
    const char *text = acq_safetensors_get_metadata(file, PRIORITY);
    char *end = NULL;
    if (text == NULL)
        return ACQ_OK;
    shape->weighs = text[0] == '1';
    shape->visit.nodes = text[0] == '\0' ? NAN : (float)acq_read_double(text + 1, &end);
    shape->visit.edges = end == NULL ? NAN : (float)acq_read_double(end, &end);
    if ((text[0] == '0' || text[0] == '1') && text[1] == ' ' && end != NULL && *end == '\0')
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the NBFNet file does not say what its layers visit; train it anew");
}

/* By the tensors that are there; what does not agree with them is found when they are loaded. */
static acq_status read_shape(const acq_safetensors *file, acq_nbfnet_shape *shape, acq_error *error)
{
    uint32_t rows = 0, cols = 0;
    *shape = (acq_nbfnet_shape){0};
    while (
        shape->layers < ACQ_NBFNET_MOST_LAYERS &&
        acq_safetensors_get_shape(
            file, names[acq_nbfnet_layer_tensor(shape->layers, ACQ_NBFNET_LINEAR)], &rows, &cols))
        shape->layers++;
    shape->sums = shape->layers > 0 && cols == 2 * ACQ_NBFNET_WIDTH;
    return read_visit(file, shape, error);
}

static acq_status load(const acq_safetensors *file, const acq_graph *graph, acq_nbfnet **out,
                       acq_error *error)
{
    acq_nbfnet *model = NULL;
    acq_nbfnet_shape shape;
    acq_status status = check_relations(file, graph, error);
    if (status == ACQ_OK)
        status = read_shape(file, &shape, error);
    if (status == ACQ_OK)
        status = new_zero(acq_graph_get_n_relations(graph), &shape, &model, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &model->parameters, error);
    if (status == ACQ_OK)
        *out = model;
    else
        acq_nbfnet_free(model);
    return status;
}

acq_status acq_nbfnet_read(const char *path, const acq_graph *graph, acq_nbfnet **out,
                           acq_error *error)
{
    acq_safetensors *file;
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status != ACQ_OK)
        return status;
    status = load(file, graph, out, error);
    acq_safetensors_free(file);
    if (status == ACQ_ERR_INPUT)
        acq_error_set_file(error, path);
    return status;
}

static void print_visit(const acq_nbfnet_shape *shape, char out[VISIT_ROOM])
{
    acq_format(out, VISIT_ROOM, "%d %.9g %.9g", shape->weighs, (double)shape->visit.nodes,
               (double)shape->visit.edges);
    for (char *p = out; *p != '\0'; p++) /* a decimal comma */
        *p = *p == ',' ? '.' : *p;
}

acq_status acq_nbfnet_write(const char *path, const acq_nbfnet *model, const acq_graph *graph,
                            const acq_metadata *metadata, size_t n_metadata, acq_error *error)
{
    char relations[HASH_ROOM], visit[VISIT_ROOM];
    acq_metadata all[MOST_METADATA] = {
        {"format", FORMAT}, {"relations", relations}, {PRIORITY, visit}};
    if (n_metadata > MOST_METADATA - OWN_METADATA)
        return acq_fail(error, ACQ_ERR_LIMIT, "an NBFNet file takes %d metadata entries at most",
                        MOST_METADATA - OWN_METADATA);
    if (model->n_relations != acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_INTERNAL,
                        "the model has %u relations and the graph %u; give the graph it was "
                        "trained on",
                        model->n_relations, acq_graph_get_n_relations(graph));
    acq_status status = hash_relations(graph, relations, error);
    if (status != ACQ_OK)
        return status;
    print_visit(&model->shape, visit);
    for (size_t i = 0; i < n_metadata; i++)
        all[OWN_METADATA + i] = metadata[i];
    return acq_safetensors_write(path, &model->parameters, all, OWN_METADATA + n_metadata, error);
}
