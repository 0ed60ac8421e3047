/* model.h - ComplEx: entities and relations as complex vectors.
 *
 *   score(h, r, t) = Re sum_k h_k r_k conj(t_k)        inverse(r) has conj(r)
 *
 * so both directions of a link score the same, to the last bit. A vector of rank d is 2d floats:
 * the d real parts, then the d imaginary ones. Only even relations have a vector; in a reciprocal
 * model odd ones have a vector of their own, and the two directions of a link may score
 * differently. */
#ifndef ACQ_MODELS_COMPLEX_MODEL_H
#define ACQ_MODELS_COMPLEX_MODEL_H

#include "models/model.h"
#include "tensor/safetensors.h"

typedef struct acq_complex {
    uint32_t rank, n_entities, n_relations;   /* n_relations counts both directions */
    uint32_t known_entities, known_relations; /* trained ones, the first ids: the others are zero */
    bool is_reciprocal;
    acq_parameters parameters; /* "entities" [n x 2d], "relations" [n / 2 x 2d], reciprocal [n x 2d]
                                */
} acq_complex;

enum { ACQ_COMPLEX_RANK_MOST = 1 << 16 };

acq_status acq_complex_check_sizes(uint32_t n_relations, uint32_t rank, acq_error *error);

static inline float *acq_complex_get_entity(const acq_complex *model, acq_ent entity)
{
    return model->parameters.values + (size_t)entity * 2 * model->rank;
}

/* Which of the relations' vectors it is, and whether its conjugate is meant. */
static inline uint32_t acq_complex_get_vector(bool is_reciprocal, acq_rel relation)
{
    return is_reciprocal ? relation : relation / 2;
}

static inline bool acq_complex_is_conjugate(bool is_reciprocal, acq_rel relation)
{
    return !is_reciprocal && relation % 2 != 0;
}

/* The vector of a relation; of an odd one, unless reciprocal, that of which it is the conjugate. */
static inline float *acq_complex_get_relation(const acq_complex *model, acq_rel relation)
{
    return model->parameters.values + model->parameters.tensors[1].offset +
           (size_t)acq_complex_get_vector(model->is_reciprocal, relation) * 2 * model->rank;
}

/* Values drawn from N(0, scale^2) with the seed. */
acq_status acq_complex_new(uint32_t n_entities, uint32_t n_relations, uint32_t rank, double scale,
                           uint64_t seed, acq_complex **out, acq_error *error);
acq_status acq_complex_new_reciprocal(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                                      double scale, uint64_t seed, acq_complex **out,
                                      acq_error *error);
void acq_complex_free(acq_complex *model); /* NULL is legal */

/* The metadata name the dictionary's fingerprint; a graph that only grew since is served: new
 * entities have zero vectors, and their links ACQ_NO_SCORE. Another dictionary is refused with the
 * remedy. */
acq_status acq_complex_read(const char *path, const acq_graph *graph, acq_complex **out,
                            acq_error *error);
acq_status acq_complex_write(const char *path, const acq_complex *model, const acq_graph *graph,
                             const acq_metadata *metadata, size_t n_metadata, acq_error *error);

/* model is borrowed. */
acq_status acq_complex_new_row_model(const acq_complex *model, const acq_graph *graph,
                                     acq_row_model **out, acq_error *error);

#endif
