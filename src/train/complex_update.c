/* complex_update.c - the end of a step: Adagrad, with the slope of N3 by the number of facts. */
#include "train/complex_trainer.h"

enum { VECTORS = 32 };

typedef struct update_work {
    const acq_complex_trainer *self;
    float rate;
} update_work;

static acq_status update_entities(void *context, size_t item, unsigned thread)
{
    const update_work *work = context;
    const acq_complex_trainer *self = work->self;
    const acq_complex_batch *batch = &self->batch;
    size_t first = item * VECTORS, end = first + VECTORS;
    (void)thread;
    for (size_t i = first; i < end && i < batch->n_touched; i++) {
        size_t at = batch->entities[i] * self->width;
        self->kernels->adagrad_n3(
            self->rank, self->rank, work->rate, (float)(self->params->n3 * batch->counts[i]),
            self->gradient.at + i * self->ld, self->entity_squares + at, self->entities + at);
    }
    return ACQ_OK;
}

static acq_status update_relation(void *context, size_t pair, unsigned thread)
{
    const update_work *work = context;
    const acq_complex_trainer *self = work->self;
    size_t at = pair * self->width;
    (void)thread;
    self->kernels->adagrad_n3(
        self->rank, self->rank, work->rate, (float)(self->params->n3 * self->relation_counts[pair]),
        self->relation_gradient + at, self->relation_squares + at, self->relations + at);
    return ACQ_OK;
}

void acq_complex_update(acq_complex_trainer *self, double rate)
{
    update_work work = {self, (float)rate};
    acq_pool_run(self->pool, acq_complex_count_blocks(self->batch.n_touched, VECTORS),
                 update_entities, &work);
    acq_pool_run(self->pool, self->n_pairs, update_relation, &work);
}
