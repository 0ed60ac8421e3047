/* parts.h - what the files of ComplEx share, its training included. */
#ifndef ACQ_MODELS_COMPLEX_PARTS_H
#define ACQ_MODELS_COMPLEX_PARTS_H

#include "models/complex/model.h"

enum { ACQ_COMPLEX_RANK_MOST = 1 << 16 };

acq_status acq_complex_check_sizes(uint32_t n_relations, uint32_t rank, acq_error *error);

/* All vectors are zero; the sizes have been checked. */
acq_status acq_complex_new_zero(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                                acq_complex **out, acq_error *error);

/* One vector from N(0, scale^2); a stream per vector, so that adding entities changes no other. */
void acq_complex_draw(float *vector, uint32_t rank, double scale, uint64_t seed, uint64_t stream);

static inline float *acq_complex_get_entity(const acq_complex *model, acq_ent entity)
{
    return model->parameters.values + (size_t)entity * 2 * model->rank;
}

/* The vector of the even relation of the pair: that of an odd one is its conjugate. */
static inline float *acq_complex_get_relation(const acq_complex *model, acq_rel relation)
{
    return model->parameters.values + model->parameters.tensors[1].offset +
           (size_t)(relation / 2) * 2 * model->rank;
}

#endif
