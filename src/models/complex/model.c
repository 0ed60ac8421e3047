/* model.c - the vectors of ComplEx in memory; see complex.h. */
#include "models/complex/parts.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"

acq_status acq_complex_check_sizes(uint32_t n_relations, uint32_t rank, acq_error *error)
{
    if (rank == 0 || rank > ACQ_COMPLEX_RANK_MOST)
        return acq_fail(error, ACQ_ERR_USAGE, "ComplEx has a rank of 1 to %d, not %u",
                        ACQ_COMPLEX_RANK_MOST, rank);
    if (n_relations % 2 != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "relations come in pairs; %u is odd", n_relations);
    return ACQ_OK;
}

acq_status acq_complex_new_zero(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                                acq_complex **out, acq_error *error)
{
    const acq_shape shapes[] = {{"entities", n_entities, 2 * rank},
                                {"relations", n_relations / 2, 2 * rank}};
    acq_complex *model = acq_zalloc(1, sizeof *model);
    if (model == NULL)
        return acq_fail_memory(error);
    model->rank = rank;
    model->n_entities = n_entities;
    model->n_relations = n_relations;
    if (acq_parameters_init(&model->parameters, shapes, 2) != ACQ_OK) {
        acq_complex_free(model);
        return acq_fail_memory(error);
    }
    *out = model;
    return ACQ_OK;
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

void acq_complex_draw(float *vector, uint32_t rank, double scale, uint64_t seed, uint64_t stream)
{
    acq_random random = acq_random_start(seed, 0x636f6d706c657800ULL + stream);
    for (uint32_t i = 0; i < rank; i++)
        draw_pair(&random, scale, &vector[i], &vector[rank + i]);
}

acq_status acq_complex_new(uint32_t n_entities, uint32_t n_relations, uint32_t rank, double scale,
                           uint64_t seed, acq_complex **out, acq_error *error)
{
    acq_complex *model = NULL;
    acq_status status = acq_complex_check_sizes(n_relations, rank, error);
    if (status == ACQ_OK)
        status = acq_complex_new_zero(n_entities, n_relations, rank, &model, error);
    if (status != ACQ_OK)
        return status;
    for (uint32_t e = 0; e < n_entities; e++)
        acq_complex_draw(acq_complex_get_entity(model, e), rank, scale, seed, 2 * (uint64_t)e);
    for (uint32_t r = 0; r < n_relations; r += 2)
        acq_complex_draw(acq_complex_get_relation(model, r), rank, scale, seed, (uint64_t)r + 1);
    *out = model;
    return ACQ_OK;
}
