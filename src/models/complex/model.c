/* model.c - the vectors of ComplEx in memory and on disk; see model.h.
 *
 * On disk they are safetensors whose metadata say which dictionary the rows belong to. Ids are
 * given out in order and never change, so the model of a graph that has grown since is still right
 * for the first ids; the entities and relations that came later get zero vectors. */
#include "models/complex/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

acq_status acq_complex_check_sizes(uint32_t n_relations, uint32_t rank, acq_error *error)
{
    if (rank == 0 || rank > ACQ_COMPLEX_RANK_MOST)
        return acq_fail(error, ACQ_ERR_USAGE, "ComplEx has a rank of 1 to %d, not %u",
                        ACQ_COMPLEX_RANK_MOST, rank);
    if (n_relations % 2 != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "relations come in pairs; %u is odd", n_relations);
    return ACQ_OK;
}

/* The sizes have been checked. */
acq_status acq_complex_new_zero(const acq_complex *sizes, const char *beside, acq_complex **out,
                                acq_error *error)
{
    const acq_shape shapes[] = {{"entities", sizes->n_entities, 2 * sizes->rank},
                                {"relations",
                                 acq_complex_get_vector(sizes->is_reciprocal, sizes->n_relations),
                                 2 * sizes->rank}};
    acq_complex *model = acq_zalloc(1, sizeof *model);
    if (model == NULL)
        return acq_fail_memory(error);
    model->rank = sizes->rank;
    model->is_reciprocal = sizes->is_reciprocal;
    model->n_entities = model->known_entities = sizes->n_entities;
    model->n_relations = model->known_relations = sizes->n_relations;
    acq_status status =
        beside != NULL ? acq_parameters_init_on_disk(&model->parameters, shapes, 2, beside, error)
                       : acq_parameters_init(&model->parameters, shapes, 2);
    if (status == ACQ_ERR_MEMORY)
        acq_fail_memory(error);
    if (status != ACQ_OK)
        acq_complex_free(model);
    else
        *out = model;
    return status;
}

static acq_status new_zero(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                           bool is_reciprocal, const char *beside, acq_complex **out,
                           acq_error *error)
{
    acq_complex sizes = {.rank = rank,
                         .is_reciprocal = is_reciprocal,
                         .n_entities = n_entities,
                         .n_relations = n_relations};
    return acq_complex_new_zero(&sizes, beside, out, error);
}

void acq_complex_free(acq_complex *model)
{
    if (model == NULL)
        return;
    acq_parameters_deinit(&model->parameters);
    acq_free(model);
}

/* Two independent normal numbers by Box and Muller. */
static void draw_pair(acq_random *random, double scale, float *first, float *second)
{
    double u = 1.0 - acq_random_unit(random), angle = 6.283185307179586 * acq_random_unit(random);
    double length = scale * sqrt(-2.0 * log(u));
    *first = (float)(length * cos(angle));
    *second = (float)(length * sin(angle));
}

/* One vector from N(0, scale^2); a stream per vector, so that adding entities changes no other. */
static void draw_vector(float *vector, uint32_t rank, double scale, uint64_t seed, uint64_t stream)
{
    acq_random random = acq_random_start(seed, 0x636f6d706c657800ULL + stream);
    for (uint32_t i = 0; i < rank; i++)
        draw_pair(&random, scale, &vector[i], &vector[rank + i]);
}

/* Entities have even streams, relations odd ones. */
void acq_complex_draw_entity(acq_ent entity, uint32_t rank, double scale, uint64_t seed,
                             float *vector)
{
    draw_vector(vector, rank, scale, seed, 2 * (uint64_t)entity);
}

void acq_complex_draw_relation(uint32_t i, uint32_t rank, double scale, uint64_t seed,
                               float *vector)
{
    draw_vector(vector, rank, scale, seed, 2 * (uint64_t)i + 1);
}

static void draw_all(acq_complex *model, double scale, uint64_t seed)
{
    for (uint32_t e = 0; e < model->n_entities; e++)
        acq_complex_draw_entity(e, model->rank, scale, seed, acq_complex_get_entity(model, e));
    for (acq_rel r = 0; r < model->n_relations; r += model->is_reciprocal ? 1 : 2)
        acq_complex_draw_relation(acq_complex_get_vector(model->is_reciprocal, r), model->rank,
                                  scale, seed, acq_complex_get_relation(model, r));
}

acq_status acq_complex_new(uint32_t n_entities, uint32_t n_relations, uint32_t rank, double scale,
                           uint64_t seed, acq_complex **out, acq_error *error)
{
    acq_status status = acq_complex_check_sizes(n_relations, rank, error);
    if (status == ACQ_OK)
        status = new_zero(n_entities, n_relations, rank, false, NULL, out, error);
    if (status == ACQ_OK)
        draw_all(*out, scale, seed);
    return status;
}

acq_status acq_complex_new_reciprocal(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                                      double scale, uint64_t seed, acq_complex **out,
                                      acq_error *error)
{
    acq_status status = acq_complex_check_sizes(n_relations, rank, error);
    if (status == ACQ_OK)
        status = new_zero(n_entities, n_relations, rank, true, NULL, out, error);
    if (status == ACQ_OK)
        draw_all(*out, scale, seed);
    return status;
}

double acq_complex_score(const acq_complex *model, acq_ent head, acq_rel relation, acq_ent tail)
{
    const float *h = acq_complex_get_entity(model, head);
    const float *r = acq_complex_get_relation(model, relation);
    const float *t = acq_complex_get_entity(model, tail);
    double sign = acq_complex_is_conjugate(model->is_reciprocal, relation) ? -1.0 : 1.0, sum = 0;
    for (uint32_t k = 0, n = model->rank; k < n; k++) {
        double real = r[k], imaginary = sign * r[n + k];
        sum += (h[k] * real - h[n + k] * imaginary) * t[k] +
               (h[k] * imaginary + h[n + k] * real) * t[n + k];
    }
    return sum;
}

static const char FORMAT[] = "anycq-complex-1";

enum { OWN_METADATA = 3, FINGERPRINT_ROOM = 20 };

static acq_status check_format(const acq_safetensors *file, acq_error *error)
{
    const char *format = acq_safetensors_get_metadata(file, "format");
    if (format != NULL && strcmp(format, FORMAT) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "this is no ComplEx model of anycq (format \"%.40s\", not \"%s\"); make one "
                    "with anycq train complex",
                    format == NULL ? "" : format, FORMAT);
}

static acq_status read_sizes(const acq_safetensors *file, acq_complex *sizes, acq_error *error)
{
    uint32_t pairs, entity_cols, relation_cols;
    if (!acq_safetensors_get_shape(file, "entities", &sizes->n_entities, &entity_cols) ||
        !acq_safetensors_get_shape(file, "relations", &pairs, &relation_cols))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the model needs the tensors \"entities\" and \"relations\"; train it "
                        "again");
    if (entity_cols != relation_cols || entity_cols % 2 != 0 || entity_cols == 0 ||
        entity_cols / 2 > ACQ_COMPLEX_RANK_MOST || pairs > UINT32_MAX / 2)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"entities\" has %u columns and \"relations\" %u; both must have "
                        "twice the rank, which is %d at most: train the model again",
                        entity_cols, relation_cols, ACQ_COMPLEX_RANK_MOST);
    const char *reciprocal = acq_safetensors_get_metadata(file, "reciprocal");
    sizes->is_reciprocal = reciprocal != NULL && strcmp(reciprocal, "yes") == 0;
    sizes->rank = entity_cols / 2;
    sizes->n_relations = sizes->is_reciprocal ? pairs : 2 * pairs;
    if (sizes->n_relations % 2 != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"relations\" of a reciprocal model has two rows for each "
                        "relation, and here are %u: train the model again",
                        pairs);
    return ACQ_OK;
}

/* Were these the first names of the graph's dictionary? */
static acq_status check_dictionary(const acq_safetensors *file, const acq_complex *sizes,
                                   const acq_graph *graph, acq_error *error)
{
    const char *text = acq_safetensors_get_metadata(file, "dictionary");
    char *end = NULL;
    uint64_t made_for = text == NULL ? 0 : strtoull(text, &end, 16);
    if (text == NULL || *text == '\0' || *end != '\0')
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the model does not say which names it was trained on; train it again");
    if (sizes->n_entities <= acq_graph_get_n_entities(graph) &&
        sizes->n_relations <= acq_graph_get_n_relations(graph) &&
        acq_graph_hash_first_names(graph, sizes->n_entities, sizes->n_relations) == made_for)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the model was trained on other names (%u entities, %u relations; the graph "
                    "has %u and %u); train one on this graph",
                    sizes->n_entities, sizes->n_relations / 2, acq_graph_get_n_entities(graph),
                    acq_graph_get_n_relations(graph) / 2);
}

/* The stored vectors first, zeros for what the graph has gained. */
static acq_status grow(const acq_complex *stored, const acq_graph *graph, const char *beside,
                       acq_complex **out, acq_error *error)
{
    size_t bytes = 2 * (size_t)stored->rank * sizeof(float);
    acq_status status = new_zero(acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph),
                                 stored->rank, stored->is_reciprocal, beside, out, error);
    if (status != ACQ_OK)
        return status;
    (*out)->known_entities = stored->n_entities;
    (*out)->known_relations = stored->n_relations;
    memcpy(acq_complex_get_entity(*out, 0), acq_complex_get_entity(stored, 0),
           stored->n_entities * bytes);
    memcpy(acq_complex_get_relation(*out, 0), acq_complex_get_relation(stored, 0),
           acq_complex_get_vector(stored->is_reciprocal, stored->n_relations) * bytes);
    return ACQ_OK;
}

/* beside: where vectors lie that are larger than memory; NULL: they are not. */
static acq_status load(const acq_safetensors *file, const acq_graph *graph, const char *beside,
                       acq_complex **out, acq_error *error)
{
    acq_complex sizes = {0};
    acq_complex *stored = NULL;
    acq_status status = check_format(file, error);
    if (status == ACQ_OK)
        status = read_sizes(file, &sizes, error);
    if (status == ACQ_OK)
        status = check_dictionary(file, &sizes, graph, error);
    if (status == ACQ_OK)
        status = new_zero(sizes.n_entities, sizes.n_relations, sizes.rank, sizes.is_reciprocal,
                          beside, &stored, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &stored->parameters, error);
    if (status == ACQ_OK && sizes.n_entities == acq_graph_get_n_entities(graph) &&
        sizes.n_relations == acq_graph_get_n_relations(graph)) {
        *out = stored;
        return ACQ_OK;
    }
    if (status == ACQ_OK)
        status = grow(stored, graph, beside, out, error);
    acq_complex_free(stored);
    return status;
}

/* Are these vectors more than half of what memory there is? */
static bool is_larger_than_memory(const acq_safetensors *file)
{
    uint32_t rows, cols;
    return acq_safetensors_get_shape(file, "entities", &rows, &cols) &&
           (double)rows * cols * sizeof(float) > .5 * (double)acq_memory_get_most();
}

acq_status acq_complex_read(const char *path, const acq_graph *graph, acq_complex **out,
                            acq_error *error)
{
    acq_safetensors *file = NULL;
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status == ACQ_OK)
        status = load(file, graph, is_larger_than_memory(file) ? path : NULL, out, error);
    acq_safetensors_free(file);
    if (status != ACQ_OK)
        acq_error_set_file(error, path);
    return status;
}

acq_status acq_complex_write(const char *path, const acq_complex *model, const acq_graph *graph,
                             const acq_metadata *metadata, size_t n_metadata, acq_error *error)
{
    char fingerprint[FINGERPRINT_ROOM];
    uint64_t hash = acq_graph_hash_first_names(graph, model->n_entities, model->n_relations);
    acq_metadata *all = acq_alloc(n_metadata + OWN_METADATA, sizeof *all);
    if (all == NULL)
        return acq_fail_memory(error);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, hash);
    all[0] = (acq_metadata){"format", FORMAT};
    all[1] = (acq_metadata){"dictionary", fingerprint};
    all[2] = (acq_metadata){"reciprocal", model->is_reciprocal ? "yes" : "no"};
    if (n_metadata > 0)
        memcpy(all + OWN_METADATA, metadata, n_metadata * sizeof *metadata);
    acq_status status =
        acq_safetensors_write(path, &model->parameters, all, n_metadata + OWN_METADATA, error);
    acq_free(all);
    return status;
}
