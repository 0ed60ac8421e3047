/* gradient.c - see model.h.
 *
 * The loss of tails: one softmax a row, over the entities of the batch.
 *
 *   Q [rows x 2d] = head times relation        E [n x 2d] = the entities of the softmax
 *   S = Q E'      G = facts of the row * softmax(S) - 1 at true tails
 *   dQ = G E      dE = G' Q                    dhead = dQ conj(relation), drelation = dQ conj(head)
 *
 * S becomes G in place; G' is written out, so that all three products read rows. Of several ranks
 * each has some components of all vectors: their scores are added up, and what follows is of its
 * own components alone.
 *
 * The loss of relations: given head and tail, a softmax over all directed relations. With
 * q = head conj(tail), an even relation scores a - b and its inverse a + b, where
 *
 *   a = Re q . Re r    b = Im q . Im r
 *
 * so two products of half the width give both (reciprocal: a - b is all there is). The inverse of a
 * fact has the same loss (its scores are the same ones, swapped), so each fact is worked on once,
 * and counts twice. Facts are taken in slices, which bounds the memory of a large batch. A row of
 * scores is
 *
 *   [ a | b ]  ->  [ even | odd ]  ->  slopes of these  ->  slopes of [ a | b ]      in place */
#include "models/complex/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { SOFTMAX_ROWS = 16, TURN = 16, SLICE = 1024, FACT_ROWS = 16, CHECKED = 64, ALIGNMENT = 64 };

static inline float *get_entity(const acq_complex_gradient *self, acq_ent entity)
{
    return self->entities + (size_t)entity * self->width;
}

static inline float *get_relation(const acq_complex_gradient *self, acq_rel relation)
{
    return self->relations +
           (size_t)acq_complex_get_vector(self->is_reciprocal, relation) * self->width;
}

/* The gradient of a touched entity. */
static inline float *get_slope(const acq_complex_gradient *self, acq_ent entity)
{
    return self->gradient.at + self->local[entity] * self->ld;
}

static bool are_finite(const float *values, size_t n)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bad |= (bits & 0x7f800000U) == 0x7f800000U;
    }
    return bad == 0;
}

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

acq_status acq_complex_gradient_init(acq_complex_gradient *self, const acq_complex *model,
                                     size_t batch, unsigned n_threads, acq_error *error)
{
    *self = (acq_complex_gradient){
        .kernels = acq_kernels_get_best(),
        .n_threads = n_threads == 0 ? 1 : n_threads,
        .rank = model->rank,
        .n_entities = model->n_entities,
        .n_relations = model->n_relations,
        .is_reciprocal = model->is_reciprocal,
        .n_vectors = acq_complex_get_vector(model->is_reciprocal, model->n_relations),
        .width = 2 * (size_t)model->rank,
        .ld = 2 * (size_t)model->rank + ACQ_COMPLEX_PAD,
        .entities = acq_complex_get_entity(model, 0),
        .relations = acq_complex_get_relation(model, 0)};
    self->relation_gradient = acq_zalloc(self->n_vectors * self->width, sizeof(float));
    self->narrowed = acq_zalloc(self->n_threads, sizeof *self->narrowed);
    self->local = acq_alloc(self->n_entities, sizeof *self->local);
    self->batch.rows = acq_alloc(batch, sizeof *self->batch.rows);
    self->row_losses = acq_alloc(batch, sizeof *self->row_losses);
    if (self->relation_gradient == NULL || self->narrowed == NULL || self->local == NULL ||
        self->batch.rows == NULL || self->row_losses == NULL)
        return acq_fail_memory(error);
    memset(self->local, 0xff, self->n_entities * sizeof *self->local);
    return acq_pool_new(n_threads, &self->pool, error);
}

void acq_complex_gradient_deinit(acq_complex_gradient *self)
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
    acq_free(self->relation_work);
    acq_free(self->relation_gradient);
    acq_free(self->facts);
    acq_free(self->local);
    acq_free(self->batch.rows);
    acq_free(self->batch.entities);
    acq_free(self->batch.counts);
    acq_free(self->row_losses);
}

typedef struct tails_work {
    acq_complex_gradient *self;
    size_t score_ld, turned_ld;
    acq_complex_right entities_down; /* E' : [2d x n] */
    acq_complex_right entities;      /* E  : [n x 2d] */
    acq_complex_right queries;       /* Q  : [rows x 2d] */
} tails_work;

static acq_status make_room(tails_work *work)
{
    acq_complex_gradient *self = work->self;
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
    const acq_complex_gradient *self = work->self;
    size_t first = item * ACQ_PANEL, left = self->batch.n_softmax - first;
    size_t n = left < ACQ_PANEL ? left : ACQ_PANEL;
    const float *rows[ACQ_PANEL];
    (void)thread;
    for (size_t j = 0; j < ACQ_PANEL; j++)
        rows[j] = get_entity(self, self->batch.entities[first + (j < n ? j : 0)]);
    acq_complex_pack_columns(self->kernels, &work->entities_down, first, rows);
    for (size_t j = 0; j < n; j += 2)
        acq_complex_pack_rows(self->kernels, &work->entities, first + j, rows[j],
                              j + 1 < n ? rows[j + 1] : NULL);
    return ACQ_OK;
}

static float *make_query(const acq_complex_gradient *self, size_t i)
{
    const acq_complex_row *row = &self->batch.rows[i];
    float *query = self->queries.at + i * self->ld;
    self->kernels->complex_product(
        self->rank, self->rank, get_entity(self, row->head), get_relation(self, row->relation),
        acq_complex_is_conjugate(self->is_reciprocal, row->relation) ? ACQ_COMPLEX_CONJUGATE : 0,
        query);
    return query;
}

static acq_status make_two_queries(void *context, size_t item, unsigned thread)
{
    const tails_work *work = context;
    const acq_complex_gradient *self = work->self;
    const float *first = make_query(self, 2 * item);
    const float *second = 2 * item + 1 < self->batch.n_rows ? make_query(self, 2 * item + 1) : NULL;
    (void)thread;
    acq_complex_pack_rows(self->kernels, &work->queries, 2 * item, first, second);
    return ACQ_OK;
}

/* S to G in place; the loss of the row. */
static double score_to_gradient(const acq_complex_gradient *self, const acq_complex_row *row,
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
    acq_complex_gradient *self = work->self;
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
    const acq_complex_gradient *self = work->self;
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
    const acq_complex_gradient *self = context;
    const acq_kernels *kernels = self->kernels;
    size_t at = item * ACQ_COMPLEX_COMPONENTS, half = self->rank, left = half - at;
    size_t n = left < ACQ_COMPLEX_COMPONENTS ? left : ACQ_COMPLEX_COMPONENTS;
    (void)thread;
    for (size_t i = 0; i < self->batch.n_rows; i++) {
        const acq_complex_row *row = &self->batch.rows[i];
        bool is_odd = acq_complex_is_conjugate(self->is_reciprocal, row->relation);
        size_t own = acq_complex_get_vector(self->is_reciprocal, row->relation);
        const float *dq = self->query_gradient.at + i * self->ld + at;
        const float *head = get_entity(self, row->head) + at;
        const float *relation = get_relation(self, row->relation) + at;
        float *dr = self->relation_gradient + own * self->width + at;
        kernels->complex_product(n, half, dq, relation,
                                 ACQ_COMPLEX_ADD | (is_odd ? 0 : ACQ_COMPLEX_CONJUGATE),
                                 get_slope(self, row->head) + at);
        kernels->complex_product(n, half, is_odd ? head : dq, is_odd ? dq : head,
                                 ACQ_COMPLEX_ADD | ACQ_COMPLEX_CONJUGATE, dr);
    }
    return ACQ_OK;
}

static void clear_gradients(acq_complex_gradient *self)
{
    size_t n = self->batch.n_touched - self->batch.n_softmax;
    memset(self->gradient.at + self->batch.n_softmax * self->ld, 0, n * self->ld * sizeof(float));
    memset(self->relation_gradient, 0, self->n_vectors * self->width * sizeof(float));
}

/* Each rank has the share of its components. */
static acq_status add_ranks(const acq_complex_gradient *self, float *scores, size_t n)
{
    return self->ranks == NULL ? ACQ_OK : self->ranks->sum(self->ranks->context, scores, n, NULL);
}

static acq_status compute_tails(acq_complex_gradient *self, double *loss)
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
    if (status == ACQ_OK)
        status = add_ranks(self, self->scores.at, batch->n_rows * work.score_ld);
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

struct acq_complex_relation_work {
    acq_complex_gradient *self;
    const acq_complex_fact *facts[SLICE];
    double losses[SLICE];
    size_t n;
    size_t score_ld;
    acq_complex_right down[2]; /* real and imaginary parts as [d x pairs] */
    acq_complex_right rows[2]; /* as [pairs x d] */
};

typedef struct acq_complex_relation_work relation_work;

static acq_status make_relation_room(relation_work *work)
{
    acq_complex_gradient *self = work->self;
    work->score_ld = 2 * (size_t)self->n_vectors + ACQ_COMPLEX_PAD;
    if (acq_floats_need(&self->fact_queries, SLICE, self->ld) != ACQ_OK ||
        acq_floats_need(&self->fact_gradient, SLICE, self->ld) != ACQ_OK ||
        acq_floats_need(&self->fact_scores, SLICE, work->score_ld) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (size_t side = 0; side < 2; side++) {
        acq_floats *packs = &self->relation_packs[2 * side];
        size_t n = self->n_vectors, d = self->rank;
        bool half = self->is_half;
        if (acq_complex_shape(&packs[0], d, n, half, &work->down[side]) != ACQ_OK ||
            acq_complex_shape(&packs[1], n, d, half, &work->rows[side]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return ACQ_OK;
}

/* Real or imaginary parts of a panel of relations, as columns and as rows. */
static acq_status pack_relations(void *context, size_t item, unsigned thread)
{
    relation_work *work = context;
    const acq_complex_gradient *self = work->self;
    size_t side = item % 2, first = item / 2 * ACQ_PANEL, left = self->n_vectors - first;
    size_t n = left < ACQ_PANEL ? left : ACQ_PANEL;
    const float *parts[ACQ_PANEL];
    (void)thread;
    for (size_t j = 0; j < ACQ_PANEL; j++)
        parts[j] = self->relations + (first + (j < n ? j : 0)) * self->width + side * self->rank;
    acq_complex_pack_columns(self->kernels, &work->down[side], first, parts);
    for (size_t j = 0; j < n; j += 2)
        acq_complex_pack_rows(self->kernels, &work->rows[side], first + j, parts[j],
                              j + 1 < n ? parts[j + 1] : NULL);
    return ACQ_OK;
}

static acq_status make_fact_queries(void *context, size_t item, unsigned thread)
{
    const relation_work *work = context;
    const acq_complex_gradient *self = work->self;
    (void)thread;
    for (size_t i = item * FACT_ROWS; i < (item + 1) * FACT_ROWS && i < work->n; i++)
        self->kernels->complex_product(self->rank, self->rank,
                                       get_entity(self, work->facts[i]->head),
                                       get_entity(self, work->facts[i]->tail),
                                       ACQ_COMPLEX_CONJUGATE, self->fact_queries.at + i * self->ld);
    return ACQ_OK;
}

/* even = a - b, odd = a + b; for slopes da = deven + dodd, db = dodd - deven. */
static void cross(size_t n, float *first, float *second, bool is_slope)
{
    for (size_t i = 0; i < n; i++) {
        float a = first[i], b = second[i];
        first[i] = is_slope ? a + b : a - b;
        second[i] = is_slope ? b - a : a + b;
    }
}

/* Reciprocal: scores are a - b, and the slope of b is minus that of a. */
static void subtract(size_t n, float *first, float *second, bool is_slope)
{
    for (size_t i = 0; i < n; i++)
        if (is_slope)
            second[i] = -first[i];
        else
            first[i] -= second[i];
}

/* Where both directions share a vector, a fact counts twice: for itself and for its inverse. */
static double relation_slopes(const acq_complex_gradient *self, uint32_t vector, float *scores)
{
    size_t n = self->n_vectors, n_scores = self->is_reciprocal ? n : 2 * n;
    double weight = (self->is_reciprocal ? 1 : 2) * self->relation_weight;
    void (*combine)(size_t, float *, float *, bool) = self->is_reciprocal ? subtract : cross;
    combine(n, scores, scores + n, false);
    float top = self->kernels->find_max(n_scores, scores), own = scores[vector];
    float sum = self->kernels->exp_sum(n_scores, top, scores);
    self->kernels->scale(n_scores, (float)(weight / (double)sum), scores);
    scores[vector] -= (float)weight;
    combine(n, scores, scores + n, true);
    return weight * (log((double)sum) + (double)(top - own));
}

static acq_status softmax_facts(void *context, size_t item, unsigned thread)
{
    relation_work *work = context;
    const acq_complex_gradient *self = work->self;
    size_t first = item * FACT_ROWS, end = first + FACT_ROWS;
    (void)thread;
    for (size_t i = first; i < end && i < work->n; i++)
        work->losses[i] = relation_slopes(self, work->facts[i]->vector,
                                          self->fact_scores.at + i * work->score_ld);
    return ACQ_OK;
}

/* Some components of all gradients: relations first, then heads and tails by way of q. */
static acq_status spread_facts(void *context, size_t item, unsigned thread)
{
    const relation_work *work = context;
    const acq_complex_gradient *self = work->self;
    const acq_kernels *kernels = self->kernels;
    size_t at = item * ACQ_COMPLEX_COMPONENTS, half = self->rank, left = half - at;
    size_t n = left < ACQ_COMPLEX_COMPONENTS ? left : ACQ_COMPLEX_COMPONENTS;
    (void)thread;
    for (size_t side = 0; side < 2; side++)
        kernels->gemm_weights(work->n, self->n_vectors, n,
                              self->fact_scores.at + side * self->n_vectors, work->score_ld,
                              self->fact_queries.at + side * half + at, self->ld,
                              self->relation_gradient + side * half + at, self->width);
    for (size_t i = 0; i < work->n; i++) {
        const acq_complex_fact *fact = work->facts[i];
        const float *dq = self->fact_gradient.at + i * self->ld + at;
        kernels->complex_product(n, half, dq, get_entity(self, fact->tail) + at, ACQ_COMPLEX_ADD,
                                 get_slope(self, fact->head) + at);
        kernels->complex_product(n, half, get_entity(self, fact->head) + at, dq,
                                 ACQ_COMPLEX_ADD | ACQ_COMPLEX_CONJUGATE,
                                 get_slope(self, fact->tail) + at);
    }
    return ACQ_OK;
}

/* Both parts: a's columns of each by the relations' parts, into c's columns. */
static acq_status multiply_parts(const relation_work *work, const float *a, size_t a_part,
                                 size_t lda, const acq_complex_right parts[2], float *c,
                                 size_t c_part, size_t ldc)
{
    acq_status status = ACQ_OK;
    for (size_t side = 0; side < 2 && status == ACQ_OK; side++)
        status = acq_complex_multiply(work->self, work->n, a + side * a_part, lda, &parts[side],
                                      c + side * c_part, ldc);
    return status;
}

static acq_status run_slice(relation_work *work, double *loss)
{
    acq_complex_gradient *self = work->self;
    float *scores = self->fact_scores.at;
    acq_pool_run(self->pool, acq_complex_count_blocks(work->n, FACT_ROWS), make_fact_queries, work);
    acq_status status = multiply_parts(work, self->fact_queries.at, self->rank, self->ld,
                                       work->down, scores, self->n_vectors, work->score_ld);
    if (status == ACQ_OK)
        status = add_ranks(self, scores, work->n * work->score_ld);
    if (status == ACQ_OK)
        acq_pool_run(self->pool, acq_complex_count_blocks(work->n, FACT_ROWS), softmax_facts, work);
    if (status == ACQ_OK)
        status = multiply_parts(work, scores, self->n_vectors, work->score_ld, work->rows,
                                self->fact_gradient.at, self->rank, self->ld);
    if (status != ACQ_OK)
        return status;
    acq_pool_run(self->pool, acq_complex_count_blocks(self->rank, ACQ_COMPLEX_COMPONENTS),
                 spread_facts, work);
    for (size_t i = 0; i < work->n; i++)
        *loss += work->losses[i];
    work->n = 0;
    return ACQ_OK;
}

static acq_status add_relations(acq_complex_gradient *self, double *loss)
{
    relation_work *work = self->relation_work;
    if (self->relation_weight == 0)
        return ACQ_OK;
    if (work == NULL)
        work = self->relation_work = acq_zalloc(1, sizeof *work);
    if (work == NULL)
        return ACQ_ERR_MEMORY;
    work->self = self;
    if (make_relation_room(work) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_pool_run(self->pool, 2 * acq_complex_count_blocks(self->n_vectors, ACQ_PANEL),
                 pack_relations, work);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < self->batch.n_facts && status == ACQ_OK; i++) {
        work->facts[work->n++] = &self->facts[self->batch.facts[i]];
        if (work->n == SLICE || i + 1 == self->batch.n_facts)
            status = run_slice(work, loss);
    }
    return status;
}

acq_status acq_complex_gradient_compute(acq_complex_gradient *self, double *tails,
                                        double *relations)
{
    *tails = *relations = 0;
    acq_status status = compute_tails(self, tails);
    return status == ACQ_OK ? add_relations(self, relations) : status;
}

/* The first item are the relations, each of the others some entities. */
static acq_status check_finite(void *context, size_t item, unsigned thread)
{
    const acq_complex_gradient *self = context;
    size_t first = (item - 1) * CHECKED, end = item * CHECKED;
    bool is_finite = item > 0 || are_finite(self->relation_gradient, self->n_vectors * self->width);
    (void)thread;
    for (size_t i = first; item > 0 && i < end && i < self->batch.n_touched && is_finite; i++)
        is_finite = are_finite(self->gradient.at + i * self->ld, self->width);
    return is_finite ? ACQ_OK : ACQ_ERR_INPUT;
}

bool acq_complex_gradient_is_finite(const acq_complex_gradient *self)
{
    size_t n_items = 1 + acq_complex_count_blocks(self->batch.n_touched, CHECKED);
    return acq_pool_run(self->pool, n_items, check_finite, (void *)self) == ACQ_OK;
}
