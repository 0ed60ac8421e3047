/* complex_batch.c - what one step of a ComplEx training works on; see complex_trainer.h.
 *
 * Rows are shuffled anew in each epoch. Of entities that are no true tail of the batch,
 * `candidates` are drawn without repeats; each stands for as many as were not drawn. */
#include "train/complex_trainer.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"

enum { ORDER_STREAM = 1, DRAW_STREAM = 2 };

static uint64_t get_stream(uint64_t kind, uint64_t counter)
{
    return acq_random_mix(0x7261696e65727300ULL + kind) ^ counter;
}

static acq_status add_rows(acq_complex_trainer *self, acq_rel relation, size_t *room,
                           acq_error *error)
{
    const acq_links *links;
    acq_status status = acq_graph_open_links(self->graph, relation, &links, error);
    if (status != ACQ_OK)
        return status;
    if (ACQ_RESERVE(self->rows, *room, self->n_rows + links->n_heads + 1) != ACQ_OK)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        if (row.n > 0)
            self->rows[self->n_rows++] =
                (acq_complex_row){links->heads[i], relation, row.tails, (uint32_t)row.n};
    }
    return ACQ_OK;
}

acq_status acq_complex_list_rows(acq_complex_trainer *self, acq_error *error)
{
    size_t room = 0;
    for (acq_rel relation = 0; relation < 2 * self->n_pairs; relation++) {
        acq_status status = add_rows(self, relation, &room, error);
        if (status != ACQ_OK)
            return status;
    }
    if (self->n_rows == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "the graph has no facts to train on; import some");
    if (self->n_rows > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "the graph has too many facts to train on");
    self->order = acq_alloc(self->n_rows, sizeof *self->order);
    return self->order == NULL ? acq_fail_memory(error) : ACQ_OK;
}

void acq_complex_order_rows(acq_complex_trainer *self, uint64_t epoch)
{
    acq_random random = acq_random_start(self->params->seed, get_stream(ORDER_STREAM, epoch));
    for (size_t i = 0; i < self->n_rows; i++)
        self->order[i] = (uint32_t)i;
    for (size_t i = self->n_rows; i > 1; i--) {
        size_t j = acq_random_below(&random, i);
        uint32_t moved = self->order[i - 1];
        self->order[i - 1] = self->order[j];
        self->order[j] = moved;
    }
    self->epoch = epoch;
}

static void choose_rows(acq_complex_trainer *self, uint64_t step)
{
    uint64_t n = acq_complex_count_batches(self), epoch = step / n;
    size_t first = (size_t)(step % n) * self->params->batch, left = self->n_rows - first;
    if (self->epoch != epoch)
        acq_complex_order_rows(self, epoch);
    self->batch.n_rows = left < self->params->batch ? left : self->params->batch;
    for (size_t i = 0; i < self->batch.n_rows; i++)
        self->batch.rows[i] = self->rows[self->order[first + i]];
}

static acq_status touch(acq_complex_trainer *self, acq_ent entity, uint32_t count)
{
    acq_complex_batch *batch = &self->batch;
    uint32_t *local = &self->local[entity];
    if (*local == ACQ_NO_ID) {
        size_t need = batch->n_touched + 1;
        if (ACQ_RESERVE(batch->entities, batch->entities_room, need) != ACQ_OK ||
            ACQ_RESERVE(batch->counts, batch->counts_room, need) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        *local = (uint32_t)batch->n_touched++;
        batch->entities[*local] = entity;
        batch->counts[*local] = 0;
    }
    batch->counts[*local] += count;
    return ACQ_OK;
}

static acq_status touch_tails(acq_complex_trainer *self)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < self->batch.n_rows; i++) {
        const acq_complex_row *row = &self->batch.rows[i];
        self->relation_counts[row->relation / 2] += row->n_tails;
        for (uint32_t j = 0; j < row->n_tails && status == ACQ_OK; j++)
            status = touch(self, row->tails[j], 1);
    }
    self->batch.n_true = self->batch.n_touched;
    return status;
}

/* All entities, or so many drawn ones besides the true tails. */
static acq_status touch_candidates(acq_complex_trainer *self, uint64_t step)
{
    acq_complex_batch *batch = &self->batch;
    acq_random random = acq_random_start(self->params->seed, get_stream(DRAW_STREAM, step));
    size_t others = self->n_entities - batch->n_true, wanted = self->params->candidates;
    acq_status status = ACQ_OK;
    batch->shift = 0;
    if (wanted == 0 || wanted >= others) {
        for (acq_ent e = 0; e < self->n_entities && status == ACQ_OK; e++)
            status = touch(self, e, 0);
    } else {
        batch->shift = logf((float)others / (float)wanted);
        while (batch->n_touched < batch->n_true + wanted && status == ACQ_OK)
            status = touch(self, (acq_ent)acq_random_below(&random, self->n_entities), 0);
    }
    batch->n_softmax = batch->n_touched;
    return status;
}

acq_status acq_complex_choose(acq_complex_trainer *self, uint64_t step)
{
    acq_complex_batch *batch = &self->batch;
    choose_rows(self, step);
    acq_status status = touch_tails(self);
    if (status == ACQ_OK)
        status = touch_candidates(self, step);
    for (size_t i = 0; i < batch->n_rows && status == ACQ_OK; i++)
        status = touch(self, batch->rows[i].head, batch->rows[i].n_tails);
    return status;
}

void acq_complex_forget(acq_complex_trainer *self)
{
    for (size_t i = 0; i < self->batch.n_touched; i++)
        self->local[self->batch.entities[i]] = ACQ_NO_ID;
    for (uint32_t i = 0; i < self->n_pairs; i++)
        self->relation_counts[i] = 0;
    self->batch.n_touched = 0;
}
