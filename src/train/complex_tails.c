/* complex_tails.c - the loss of tails: one softmax a row, over the entities of the batch.
 *
 *   Q [rows x 2d] = head times relation        E [n x 2d] = the entities of the softmax
 *   S = Q E'      G = facts of the row * softmax(S) - 1 at true tails
 *   dQ = G E      dE = G' Q                    dhead = dQ conj(relation), drelation = dQ conj(head)
 *
 * S becomes G in place; G' is written out, so that all three products read rows. */
#include "train/complex_trainer.h"

#include <math.h>
#include <string.h>

enum { SOFTMAX_ROWS = 16, TURN = 16 };

typedef struct tails_work {
    acq_complex_trainer *self;
    size_t score_ld, turned_ld;
    acq_complex_right entities_down; /* E' : [2d x n] */
    acq_complex_right entities;      /* E  : [n x 2d] */
    acq_complex_right queries;       /* Q  : [rows x 2d] */
} tails_work;

static acq_status make_room(tails_work *work)
{
    acq_complex_trainer *self = work->self;
    const acq_complex_batch *batch = &self->batch;
    size_t n = batch->n_softmax, rows = batch->n_rows;
    bool half = self->is_half;
    work->score_ld = n + ACQ_COMPLEX_PAD;
    work->turned_ld = rows + ACQ_COMPLEX_PAD;
    bool failed =
        acq_floats_need(&self->queries, rows, self->ld) != ACQ_OK ||
        acq_floats_need(&self->query_gradient, rows, self->ld) != ACQ_OK ||
        acq_floats_need(&self->scores, rows, work->score_ld) != ACQ_OK ||
        acq_floats_need(&self->turned, n, work->turned_ld) != ACQ_OK ||
        acq_floats_need(&self->gradient, batch->n_touched, self->ld) != ACQ_OK ||
        acq_complex_shape(&self->packs[0], self->width, n, half, &work->entities_down) != ACQ_OK ||
        acq_complex_shape(&self->packs[1], n, self->width, half, &work->entities) != ACQ_OK ||
        acq_complex_shape(&self->packs[2], rows, self->width, half, &work->queries) != ACQ_OK;
    return failed ? ACQ_ERR_MEMORY : ACQ_OK;
}

/* One panel of E' and as many rows of E. */
static acq_status pack_entities(void *context, size_t item, unsigned thread)
{
    const tails_work *work = context;
    const acq_complex_trainer *self = work->self;
    size_t first = item * ACQ_PANEL, left = self->batch.n_softmax - first;
    size_t n = left < ACQ_PANEL ? left : ACQ_PANEL;
    const float *rows[ACQ_PANEL];
    (void)thread;
    for (size_t j = 0; j < ACQ_PANEL; j++)
        rows[j] = acq_complex_trainer_entity(self, self->batch.entities[first + (j < n ? j : 0)]);
    acq_complex_pack_columns(self->kernels, &work->entities_down, first, rows);
    for (size_t j = 0; j < n; j += 2)
        acq_complex_pack_rows(self->kernels, &work->entities, first + j, rows[j],
                              j + 1 < n ? rows[j + 1] : NULL);
    return ACQ_OK;
}

static float *make_query(const acq_complex_trainer *self, size_t i)
{
    const acq_complex_row *row = &self->batch.rows[i];
    float *query = self->queries.at + i * self->ld;
    self->kernels->complex_product(self->rank, self->rank,
                                   acq_complex_trainer_entity(self, row->head),
                                   acq_complex_trainer_relation(self, row->relation),
                                   row->relation % 2 != 0 ? ACQ_COMPLEX_CONJUGATE : 0, query);
    return query;
}

static acq_status make_two_queries(void *context, size_t item, unsigned thread)
{
    const tails_work *work = context;
    const acq_complex_trainer *self = work->self;
    const float *first = make_query(self, 2 * item);
    const float *second = 2 * item + 1 < self->batch.n_rows ? make_query(self, 2 * item + 1) : NULL;
    (void)thread;
    acq_complex_pack_rows(self->kernels, &work->queries, 2 * item, first, second);
    return ACQ_OK;
}

/* S to G in place; the loss of the row. */
static double score_to_gradient(const acq_complex_trainer *self, const acq_complex_row *row,
                                float *scores)
{
    const acq_kernels *kernels = self->kernels;
    const acq_complex_batch *batch = &self->batch;
    float *near = scores + batch->n_true, *far = near + batch->n_near;
    double loss = 0;
    float most = batch->near_shift > batch->far_shift ? batch->near_shift : batch->far_shift;
    float top = kernels->find_max(batch->n_softmax, scores) + most;
    for (uint32_t j = 0; j < row->n_tails; j++)
        loss += (double)(top - scores[self->local[row->tails[j]]]);
    float sum = kernels->exp_sum(batch->n_true, top, scores);
    sum += kernels->exp_sum(batch->n_near, top - batch->near_shift, near);
    sum += kernels->exp_sum(batch->n_far, top - batch->far_shift, far);
    kernels->scale(batch->n_softmax, (float)row->n_tails / sum, scores);
    for (uint32_t j = 0; j < row->n_tails; j++)
        scores[self->local[row->tails[j]]] -= 1;
    return loss + row->n_tails * log((double)sum);
}

static acq_status softmax_rows(void *context, size_t item, unsigned thread)
{
    const tails_work *work = context;
    acq_complex_trainer *self = work->self;
    size_t first = item * SOFTMAX_ROWS, end = first + SOFTMAX_ROWS;
    (void)thread;
    for (size_t i = first; i < end && i < self->batch.n_rows; i++)
        self->row_losses[i] =
            score_to_gradient(self, &self->batch.rows[i], self->scores.at + i * work->score_ld);
    return ACQ_OK;
}

/* TURN columns of G become rows of G'. */
static acq_status turn_columns(void *context, size_t item, unsigned thread)
{
    const tails_work *work = context;
    const acq_complex_trainer *self = work->self;
    size_t first = item * TURN, left = self->batch.n_softmax - first;
    size_t n = left < TURN ? left : TURN, rows = self->batch.n_rows;
    (void)thread;
    for (size_t i = 0; i < rows; i += TURN)
        for (size_t j = 0; j < n; j++)
            for (size_t k = i; k < i + TURN && k < rows; k++)
                self->turned.at[(first + j) * work->turned_ld + k] =
                    self->scores.at[k * work->score_ld + first + j];
    return ACQ_OK;
}

/* Some components of dQ to heads and relations. */
static acq_status spread_queries(void *context, size_t item, unsigned thread)
{
    const acq_complex_trainer *self = context;
    const acq_kernels *kernels = self->kernels;
    size_t at = item * ACQ_COMPLEX_COMPONENTS, half = self->rank, left = half - at;
    size_t n = left < ACQ_COMPLEX_COMPONENTS ? left : ACQ_COMPLEX_COMPONENTS;
    (void)thread;
    for (size_t i = 0; i < self->batch.n_rows; i++) {
        const acq_complex_row *row = &self->batch.rows[i];
        bool is_odd = row->relation % 2 != 0;
        const float *dq = self->query_gradient.at + i * self->ld + at;
        const float *head = acq_complex_trainer_entity(self, row->head) + at;
        const float *relation = acq_complex_trainer_relation(self, row->relation) + at;
        float *dr = self->relation_gradient + row->relation / 2 * self->width + at;
        kernels->complex_product(n, half, dq, relation,
                                 ACQ_COMPLEX_ADD | (is_odd ? 0 : ACQ_COMPLEX_CONJUGATE),
                                 acq_complex_trainer_slope(self, row->head) + at);
        kernels->complex_product(n, half, is_odd ? head : dq, is_odd ? dq : head,
                                 ACQ_COMPLEX_ADD | ACQ_COMPLEX_CONJUGATE, dr);
    }
    return ACQ_OK;
}

static void clear_gradients(acq_complex_trainer *self)
{
    size_t n = self->batch.n_touched - self->batch.n_softmax;
    memset(self->gradient.at + self->batch.n_softmax * self->ld, 0, n * self->ld * sizeof(float));
    memset(self->relation_gradient, 0, self->n_pairs * self->width * sizeof(float));
}

acq_status acq_complex_tails(acq_complex_trainer *self, double *loss)
{
    tails_work work = {.self = self};
    const acq_complex_batch *batch = &self->batch;
    if (make_room(&work) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_pool_run(self->pool, acq_complex_count_blocks(batch->n_softmax, ACQ_PANEL), pack_entities,
                 &work);
    acq_pool_run(self->pool, acq_complex_count_blocks(batch->n_rows, 2), make_two_queries, &work);
    acq_status status = acq_complex_multiply(self, batch->n_rows, self->queries.at, self->ld,
                                             &work.entities_down, self->scores.at, work.score_ld);
    if (status != ACQ_OK)
        return status;
    acq_pool_run(self->pool, acq_complex_count_blocks(batch->n_rows, SOFTMAX_ROWS), softmax_rows,
                 &work);
    acq_pool_run(self->pool, acq_complex_count_blocks(batch->n_softmax, TURN), turn_columns, &work);
    status = acq_complex_multiply(self, batch->n_rows, self->scores.at, work.score_ld,
                                  &work.entities, self->query_gradient.at, self->ld);
    if (status == ACQ_OK)
        status = acq_complex_multiply(self, batch->n_softmax, self->turned.at, work.turned_ld,
                                      &work.queries, self->gradient.at, self->ld);
    if (status != ACQ_OK)
        return status;
    clear_gradients(self);
    acq_pool_run(self->pool, acq_complex_count_blocks(self->rank, ACQ_COMPLEX_COMPONENTS),
                 spread_queries, self);
    for (size_t i = 0; i < batch->n_rows; i++)
        *loss += self->row_losses[i];
    return ACQ_OK;
}
