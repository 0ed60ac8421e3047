/* complex_relations.c - the loss of relations: given head and tail, a softmax over all directed
 * relations.
 *
 * With q = head conj(tail), an even relation scores a - b and its inverse a + b, where
 *
 *   a = Re q . Re r    b = Im q . Im r
 *
 * so two products of half the width give both. The inverse of a fact has the same loss (its scores
 * are the same ones, swapped), so each fact is worked on once, and counts twice. Facts are taken
 * in slices, which bounds the memory of a large batch. A row of scores is
 *
 *   [ a | b ]  ->  [ even | odd ]  ->  slopes of these  ->  slopes of [ a | b ]      in place */
#include "train/complex_trainer.h"

#include <math.h>
#include <string.h>

enum { SLICE = 1024, FACT_ROWS = 16 };

typedef struct relation_work {
    acq_complex_trainer *self;
    const acq_complex_fact *facts[SLICE];
    double losses[SLICE];
    size_t n;
    size_t score_ld;
    acq_complex_right down[2]; /* real and imaginary parts as [d x pairs] */
    acq_complex_right rows[2]; /* as [pairs x d] */
} relation_work;

static acq_status prepare(relation_work *work)
{
    acq_complex_trainer *self = work->self;
    work->score_ld = 2 * (size_t)self->n_pairs + ACQ_COMPLEX_PAD;
    if (acq_floats_need(&self->fact_queries, SLICE, self->ld) != ACQ_OK ||
        acq_floats_need(&self->fact_gradient, SLICE, self->ld) != ACQ_OK ||
        acq_floats_need(&self->fact_scores, SLICE, work->score_ld) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (size_t side = 0; side < 2; side++) {
        acq_floats *packs = &self->relation_packs[2 * side];
        const float *part = self->relations + side * self->rank;
        size_t n = self->n_pairs;
        if (acq_complex_shape(&packs[0], self->rank, n, false, &work->down[side]) != ACQ_OK ||
            acq_complex_shape(&packs[1], n, self->rank, false, &work->rows[side]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        acq_packed_fill(&work->down[side].full, part, self->width);
        acq_packed_fill_transposed(&work->rows[side].full, part, self->width);
    }
    return ACQ_OK;
}

static acq_status make_query(void *context, size_t item, unsigned thread)
{
    const relation_work *work = context;
    const acq_complex_trainer *self = work->self;
    const acq_complex_fact *fact = work->facts[item];
    (void)thread;
    self->kernels->complex_product(self->rank, self->rank,
                                   acq_complex_trainer_entity(self, fact->head),
                                   acq_complex_trainer_entity(self, fact->tail),
                                   ACQ_COMPLEX_CONJUGATE, self->fact_queries.at + item * self->ld);
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

static double score_to_gradient(const acq_complex_trainer *self, uint32_t pair, float *scores)
{
    size_t n = self->n_pairs;
    double weight = 2 * self->relation_weight;
    cross(n, scores, scores + n, false);
    float top = self->kernels->find_max(2 * n, scores), own = scores[pair];
    float sum = self->kernels->exp_sum(2 * n, top, scores);
    self->kernels->scale(2 * n, (float)(weight / (double)sum), scores);
    scores[pair] -= (float)weight;
    cross(n, scores, scores + n, true);
    return weight * (log((double)sum) + (double)(top - own));
}

static acq_status softmax_facts(void *context, size_t item, unsigned thread)
{
    relation_work *work = context;
    const acq_complex_trainer *self = work->self;
    size_t first = item * FACT_ROWS, end = first + FACT_ROWS;
    (void)thread;
    for (size_t i = first; i < end && i < work->n; i++)
        work->losses[i] = score_to_gradient(self, work->facts[i]->pair,
                                            self->fact_scores.at + i * work->score_ld);
    return ACQ_OK;
}

/* Some components of all gradients: relations first, then heads and tails by way of q. */
static acq_status spread_facts(void *context, size_t item, unsigned thread)
{
    const relation_work *work = context;
    const acq_complex_trainer *self = work->self;
    const acq_kernels *kernels = self->kernels;
    size_t at = item * ACQ_COMPLEX_COMPONENTS, half = self->rank, left = half - at;
    size_t n = left < ACQ_COMPLEX_COMPONENTS ? left : ACQ_COMPLEX_COMPONENTS;
    (void)thread;
    for (size_t side = 0; side < 2; side++)
        kernels->gemm_weights(work->n, self->n_pairs, n,
                              self->fact_scores.at + side * self->n_pairs, work->score_ld,
                              self->fact_queries.at + side * half + at, self->ld,
                              self->relation_gradient + side * half + at, self->width);
    for (size_t i = 0; i < work->n; i++) {
        const acq_complex_fact *fact = work->facts[i];
        const float *dq = self->fact_gradient.at + i * self->ld + at;
        kernels->complex_product(n, half, dq, acq_complex_trainer_entity(self, fact->tail) + at,
                                 ACQ_COMPLEX_ADD, acq_complex_trainer_slope(self, fact->head) + at);
        kernels->complex_product(n, half, acq_complex_trainer_entity(self, fact->head) + at, dq,
                                 ACQ_COMPLEX_ADD | ACQ_COMPLEX_CONJUGATE,
                                 acq_complex_trainer_slope(self, fact->tail) + at);
    }
    return ACQ_OK;
}

/* Products of f32 cannot fail. */
static void multiply(const relation_work *work, const float *a, size_t lda,
                     const acq_complex_right *b, float *c, size_t ldc)
{
    (void)acq_complex_multiply(work->self, work->n, a, lda, b, c, ldc);
}

static void run_slice(relation_work *work, double *loss)
{
    acq_complex_trainer *self = work->self;
    acq_pool_run(self->pool, work->n, make_query, work);
    for (size_t side = 0; side < 2; side++)
        multiply(work, self->fact_queries.at + side * self->rank, self->ld, &work->down[side],
                 self->fact_scores.at + side * self->n_pairs, work->score_ld);
    acq_pool_run(self->pool, acq_complex_count_blocks(work->n, FACT_ROWS), softmax_facts, work);
    for (size_t side = 0; side < 2; side++)
        multiply(work, self->fact_scores.at + side * self->n_pairs, work->score_ld,
                 &work->rows[side], self->fact_gradient.at + side * self->rank, self->ld);
    acq_pool_run(self->pool, acq_complex_count_blocks(self->rank, ACQ_COMPLEX_COMPONENTS),
                 spread_facts, work);
    for (size_t i = 0; i < work->n; i++)
        *loss += work->losses[i];
    work->n = 0;
}

acq_status acq_complex_relations(acq_complex_trainer *self, double *loss)
{
    relation_work work = {.self = self};
    if (self->relation_weight == 0)
        return ACQ_OK;
    if (prepare(&work) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < self->batch.n_facts; i++) {
        work.facts[work.n++] = &self->facts[self->batch.facts[i]];
        if (work.n == SLICE)
            run_slice(&work, loss);
    }
    if (work.n > 0)
        run_slice(&work, loss);
    return ACQ_OK;
}
