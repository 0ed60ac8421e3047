/* complex_update.c - the end of a step, and what the stages share; see complex_trainer.h. */
#include "train/complex_trainer.h"

#include "base/memory.h"
#include "base/threads.h"

enum { ALIGNMENT = 64, VECTORS = 32 };

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

acq_status acq_complex_shape(acq_floats *floats, size_t k, size_t n, acq_packed *out)
{
    acq_status status =
        acq_floats_need(floats, acq_complex_count_blocks(n, ACQ_PANEL) * ACQ_PANEL, k);
    *out = (acq_packed){.k = k, .n = n, .panels = floats->at};
    return status;
}

typedef struct product {
    const acq_kernels *kernels;
    size_t m, lda, ldc;
    const float *a;
    const acq_packed *b;
    float *c;
} product;

static acq_status multiply_rows(void *context, size_t item, unsigned thread)
{
    const product *all = context;
    size_t first = item * ACQ_COMPLEX_ROWS, left = all->m - first;
    (void)thread;
    all->kernels->gemm(left < ACQ_COMPLEX_ROWS ? left : ACQ_COMPLEX_ROWS, all->a + first * all->lda,
                       all->lda, all->b, NULL, 0, all->c + first * all->ldc, all->ldc);
    return ACQ_OK;
}

void acq_complex_multiply(const acq_complex_trainer *self, size_t m, const float *a, size_t lda,
                          const acq_packed *b, float *c, size_t ldc)
{
    product all = {self->kernels, m, lda, ldc, a, b, c};
    acq_threads_run(self->params->n_threads, acq_complex_count_blocks(m, ACQ_COMPLEX_ROWS),
                    multiply_rows, &all);
}

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
    unsigned threads = self->params->n_threads;
    acq_threads_run(threads, acq_complex_count_blocks(self->batch.n_touched, VECTORS),
                    update_entities, &work);
    acq_threads_run(threads, self->n_pairs, update_relation, &work);
}
