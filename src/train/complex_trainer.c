/* complex_trainer.c - the memory of a training and what its stages share. */
#include "train/complex_trainer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { ALIGNMENT = 64 };

acq_status acq_floats_need(acq_floats *floats, size_t rows, size_t cols)
{
    size_t n, bytes;
    if (__builtin_mul_overflow(rows, cols, &n) ||
        __builtin_mul_overflow(n + n / 8, sizeof(float), &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return ACQ_ERR_MEMORY;
    if (floats->block != NULL && n <= floats->room)
        return ACQ_OK;
    acq_floats_deinit(floats);
    floats->block = acq_alloc(bytes + ALIGNMENT, 1);
    if (floats->block == NULL)
        return ACQ_ERR_MEMORY;
    uintptr_t past = (uintptr_t)floats->block % ALIGNMENT;
    floats->at = (float *)((char *)floats->block + (ALIGNMENT - past) % ALIGNMENT);
    floats->room = bytes / sizeof(float);
    return ACQ_OK;
}

void acq_floats_deinit(acq_floats *floats)
{
    acq_free(floats->block);
    *floats = (acq_floats){0};
}

static acq_status init_state(acq_complex_trainer *self)
{
    uint32_t width = (uint32_t)self->width;
    const acq_shape shapes[] = {{"entities", self->n_entities, width},
                                {"relations", self->n_pairs, width},
                                {"entities/squares", self->n_entities, width},
                                {"relations/squares", self->n_pairs, width}};
    if (acq_parameters_init(&self->state, shapes, 4) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    self->entities = self->state.values + self->state.tensors[0].offset;
    self->relations = self->state.values + self->state.tensors[1].offset;
    self->entity_squares = self->state.values + self->state.tensors[2].offset;
    self->relation_squares = self->state.values + self->state.tensors[3].offset;
    return ACQ_OK;
}

static acq_status init_arrays(acq_complex_trainer *self)
{
    self->relation_gradient = acq_zalloc(self->n_pairs * self->width, sizeof(float));
    self->relation_counts = acq_zalloc(self->n_pairs, sizeof *self->relation_counts);
    self->narrowed = acq_zalloc(self->n_threads, sizeof *self->narrowed);
    self->local = acq_alloc(self->n_entities, sizeof *self->local);
    self->met = acq_zalloc(self->n_entities, sizeof *self->met);
    self->near = acq_alloc(self->n_entities, sizeof *self->near);
    self->batch.rows = acq_alloc(self->params->batch, sizeof *self->batch.rows);
    self->row_losses = acq_alloc(self->params->batch, sizeof *self->row_losses);
    if (self->relation_gradient == NULL || self->relation_counts == NULL || self->local == NULL ||
        self->narrowed == NULL || self->met == NULL || self->near == NULL ||
        self->batch.rows == NULL || self->row_losses == NULL)
        return ACQ_ERR_MEMORY;
    memset(self->local, 0xff, self->n_entities * sizeof *self->local);
    return init_state(self);
}

acq_status acq_complex_trainer_init(acq_complex_trainer *self, const acq_graph *graph,
                                    const acq_train_complex_params *params, acq_error *error)
{
    *self = (acq_complex_trainer){
        .graph = graph,
        .params = params,
        .kernels = acq_kernels_get_best(),
        .n_threads = params->n_threads == 0 ? 1 : params->n_threads,
        .is_half = acq_train_complex_is_half(params),
        .rank = params->rank,
        .n_entities = acq_graph_get_n_entities(graph),
        .n_pairs = acq_graph_get_n_relations(graph) / 2,
        .width = 2 * (size_t)params->rank,
        .ld = 2 * (size_t)params->rank + ACQ_COMPLEX_PAD,
        .loss = NAN,
    };
    acq_status status = acq_complex_list_rows(self, error);
    if (status != ACQ_OK)
        return status;
    acq_complex_order_rows(self, 0);
    if (init_arrays(self) != ACQ_OK)
        return acq_fail_memory(error);
    return acq_pool_new(params->n_threads, &self->pool, error);
}

void acq_complex_trainer_deinit(acq_complex_trainer *self)
{
    acq_floats *floats[] = {&self->queries,       &self->query_gradient, &self->scores,
                            &self->turned,        &self->gradient,       &self->fact_queries,
                            &self->fact_gradient, &self->fact_scores};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        acq_floats_deinit(floats[i]);
    for (size_t i = 0; i < 3; i++)
        acq_floats_deinit(&self->packs[i]);
    for (size_t i = 0; i < 4; i++)
        acq_floats_deinit(&self->relation_packs[i]);
    for (size_t i = 0; self->narrowed != NULL && i < self->n_threads; i++)
        acq_floats_deinit(&self->narrowed[i]);
    acq_free(self->narrowed);
    acq_pool_free(self->pool);
    acq_parameters_deinit(&self->state);
    acq_free(self->links);
    acq_free(self->rows);
    acq_free(self->batches);
    acq_free(self->facts);
    acq_free(self->fact_order);
    acq_free(self->order);
    acq_free(self->relation_gradient);
    acq_free(self->relation_counts);
    acq_free(self->local);
    acq_free(self->met);
    acq_free(self->near);
    acq_free(self->batch.rows);
    acq_free(self->batch.entities);
    acq_free(self->batch.counts);
    acq_free(self->row_losses);
}
