/* rows.c - ComplEx as a row model.
 *
 * A link of an even relation r scores (x r) . y for its head x and tail y, and its inverse is
 * asked with y as head: the sum must run over the same terms in the same order to give the same
 * bits. So tails are always the left side of a product, in blocks, and the asked heads the right
 * one: as they are against heads times r when r is even, and times r against the heads as they
 * are when r is odd. Either way each sum is one chain over k of the same products. A reciprocal
 * model has a vector for the odd relation too, and asks with it as with an even one.
 *
 *   tails, TAILS at a time [T x 2d]  x  heads, BATCH at a time [2d x H]  =  [T x H] -> out [H x T]
 *
 * Nothing is kept per model, and a scratch is a few blocks, whatever the number of entities. */
#include "models/complex/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/kernels.h"

/* ---- products ----
 *
 * The large products of a ComplEx training; see model.h. Where the
 * processor multiplies bfloat16 faster than f32, both sides are rounded to that and sums stay f32:
 * a softmax and a gradient of noisy batches do not miss the digits. */

enum {
    DEPTH_PART = 64,
    MOST_ROWS = 144,
    TILE = 12
}; /* of columns packed at a time; rows of a work item and of a tile */

static void clear_filling(const acq_bf16_packed *half)
{
    size_t from = half->k + half->k % 2, n = (half->k_filled - from) * ACQ_PANEL;
    for (size_t j = 0; j < half->n && n > 0; j += ACQ_PANEL)
        memset(half->panels + j * half->k_filled + from * ACQ_PANEL, 0, n * sizeof(acq_bf16));
}

acq_status acq_complex_shape(acq_floats *floats, size_t k, size_t n, bool is_half,
                             acq_complex_right *out)
{
    size_t panels = acq_complex_count_blocks(n, ACQ_PANEL) * ACQ_PANEL;
    size_t depth = is_half ? acq_bf16_fill_depth(k) / 2 : k;
    acq_status status = acq_floats_need(floats, panels, depth);
    *out = (acq_complex_right){
        .is_half = is_half,
        .full = {.k = k, .n = n, .panels = floats->at},
        .half = {
            .k = k, .n = n, .k_filled = acq_bf16_fill_depth(k), .panels = (acq_bf16 *)floats->at}};
    if (status == ACQ_OK && is_half)
        clear_filling(&out->half);
    return status;
}

/* Pairs of components of each vector side by side, 16 vectors after each other. */
static void pack_columns_half(const acq_kernels *kernels, const acq_bf16_packed *half, size_t first,
                              const float *const vectors[ACQ_PANEL])
{
    acq_bf16 part[ACQ_PANEL][DEPTH_PART];
    acq_bf16 *to = half->panels + first * half->k_filled;
    for (size_t l = 0; l < half->k; l += DEPTH_PART) {
        size_t n = half->k - l < DEPTH_PART ? half->k - l : DEPTH_PART;
        for (size_t j = 0; j < ACQ_PANEL; j++) {
            kernels->narrow(n, vectors[j] + l, part[j]);
            if (n % 2 != 0)
                part[j][n] = 0;
        }
        for (size_t i = 0; i < n; i += 2, to += 2 * ACQ_PANEL)
            for (size_t j = 0; j < ACQ_PANEL; j++)
                memcpy(to + 2 * j, &part[j][i], 2 * sizeof *to);
    }
}

void acq_complex_pack_columns(const acq_kernels *kernels, const acq_complex_right *right,
                              size_t first, const float *const vectors[ACQ_PANEL])
{
    if (right->is_half) {
        pack_columns_half(kernels, &right->half, first, vectors);
        return;
    }
    float *to = right->full.panels + first * right->full.k;
    for (size_t l = 0; l < right->full.k; l++, to += ACQ_PANEL)
        for (size_t j = 0; j < ACQ_PANEL; j++)
            to[j] = vectors[j][l];
}

static void pack_row(const acq_packed *packed, size_t l, const float *row)
{
    for (size_t column = 0; column < packed->n; column += ACQ_PANEL) {
        size_t left = packed->n - column, n = left < ACQ_PANEL ? left : ACQ_PANEL;
        float *to = packed->panels + column * packed->k + l * ACQ_PANEL;
        memcpy(to, row + column, n * sizeof *to);
        memset(to + n, 0, (ACQ_PANEL - n) * sizeof *to);
    }
}

static void pack_pair(const acq_kernels *kernels, const acq_bf16_packed *half, size_t l,
                      const float *row, const float *next)
{
    static const float zeros[ACQ_PANEL];
    for (size_t column = 0; column < half->n; column += ACQ_PANEL) {
        size_t left = half->n - column, n = left < ACQ_PANEL ? left : ACQ_PANEL;
        acq_bf16 *to = half->panels + column * half->k_filled + l * ACQ_PANEL;
        kernels->narrow_pairs(n, row + column, next == NULL ? zeros : next + column, to);
        memset(to + 2 * n, 0, 2 * (ACQ_PANEL - n) * sizeof *to);
    }
}

void acq_complex_pack_rows(const acq_kernels *kernels, const acq_complex_right *right, size_t l,
                           const float *row, const float *next)
{
    if (right->is_half) {
        pack_pair(kernels, &right->half, l, row, next);
        return;
    }
    pack_row(&right->full, l, row);
    if (next != NULL)
        pack_row(&right->full, l + 1, next);
}

typedef struct product {
    const acq_complex_gradient *self;
    size_t m, lda, ldc, rows; /* rows of an item */
    const float *a;
    const acq_complex_right *b;
    float *c;
} product;

static acq_status multiply_half(const product *all, size_t first, size_t m, unsigned thread)
{
    acq_floats *scratch = &all->self->narrowed[thread];
    size_t k = all->b->half.k, ld = acq_bf16_fill_depth(k) + 2 * ACQ_COMPLEX_PAD;
    if (acq_floats_need(scratch, m, ld / 2) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_bf16 *a = (acq_bf16 *)scratch->at;
    for (size_t i = 0; i < m; i++)
        all->self->kernels->narrow(k, all->a + (first + i) * all->lda, a + i * ld);
    acq_bf16_get_best()(m, a, ld, &all->b->half, all->c + first * all->ldc, all->ldc);
    return ACQ_OK;
}

static acq_status multiply_rows(void *context, size_t item, unsigned thread)
{
    const product *all = context;
    size_t first = item * all->rows, left = all->m - first;
    size_t m = left < all->rows ? left : all->rows;
    if (all->b->is_half)
        return multiply_half(all, first, m, thread);
    all->self->kernels->gemm(m, all->a + first * all->lda, all->lda, &all->b->full, NULL, 0,
                             all->c + first * all->ldc, all->ldc);
    return ACQ_OK;
}

/* Many rows at a time, since all of b passes by for each item, but the same number of items for
 * each thread, filled up to whole tiles. */
static size_t choose_rows(const acq_complex_gradient *self, size_t m)
{
    size_t share = acq_complex_count_blocks(m, self->n_threads);
    size_t n_items = acq_complex_count_blocks(share, MOST_ROWS);
    return acq_complex_count_blocks(acq_complex_count_blocks(share, n_items), TILE) * TILE;
}

acq_status acq_complex_multiply(const acq_complex_gradient *self, size_t m, const float *a,
                                size_t lda, const acq_complex_right *b, float *c, size_t ldc)
{
    product all = {self, m, lda, ldc, choose_rows(self, m), a, b, c};
    return m == 0 ? ACQ_OK
                  : acq_pool_run(self->pool, acq_complex_count_blocks(m, all.rows), multiply_rows,
                                 &all);
}

/* ---- rows ---- */

enum {
    TAILS = 192, /* entities in a block of the left side */
    BATCH = 128, /* heads in a block of the right side */
    PAD = 16,    /* rows that lie powers of two apart would share a few lines of the first cache */
};

typedef struct complex_rows {
    acq_row_model base;
    const acq_complex *model;
    const acq_kernels *kernels;
} complex_rows;

typedef struct scratch {
    acq_packed heads; /* [2d x BATCH] */
    float *queries;   /* [BATCH x 2d] */
    float *tails;     /* [TAILS x (2d + PAD)] */
    float *scores;    /* [TAILS x BATCH] */
} scratch;

static void free_scratch(const acq_row_model *self, void *memory)
{
    scratch *mine = memory;
    (void)self;
    if (mine == NULL)
        return;
    acq_packed_deinit(&mine->heads);
    acq_free(mine->queries);
    acq_free(mine->tails);
    acq_free(mine->scores);
    acq_free(mine);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const complex_rows *rows = (const complex_rows *)self;
    size_t width = 2 * (size_t)rows->model->rank;
    scratch *mine = acq_zalloc(1, sizeof *mine);
    if (mine == NULL)
        return acq_fail_memory(error);
    mine->queries = acq_alloc(BATCH * width, sizeof(float));
    mine->tails = acq_alloc(TAILS * (width + PAD), sizeof(float));
    mine->scores = acq_alloc((size_t)TAILS * BATCH, sizeof(float));
    if (mine->queries == NULL || mine->tails == NULL || mine->scores == NULL ||
        acq_packed_init(&mine->heads, width, BATCH) != ACQ_OK) {
        free_scratch(self, mine);
        return acq_fail_memory(error);
    }
    *out = mine;
    return ACQ_OK;
}

/* The vector of an entity, times that of the relation unless this is NULL. */
static void copy_vector(const complex_rows *rows, acq_ent entity, const float *relation, float *to)
{
    uint32_t rank = rows->model->rank;
    const float *from = acq_complex_get_entity(rows->model, entity);
    if (relation == NULL)
        memcpy(to, from, 2 * (size_t)rank * sizeof *to); /* NOLINT: vectors are never NULL */
    else
        rows->kernels->complex_product(rank, rank, from, relation, 0, to);
}

static void pack_heads(const complex_rows *rows, scratch *mine, const acq_ent *heads, size_t n,
                       const float *relation)
{
    size_t width = 2 * (size_t)rows->model->rank;
    for (size_t i = 0; i < n; i++)
        copy_vector(rows, heads[i], relation, mine->queries + i * width);
    mine->heads.n = n;
    acq_packed_fill(&mine->heads, mine->queries, width);
}

static acq_status fail_overflow(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the ComplEx model gives scores that are not finite; train it anew");
}

/* Vectors of tails, one below the other. */
typedef struct tail_block {
    const float *vectors;
    size_t ld, n;
} tail_block;

/* Scores of a block of tails by the packed heads, turned into rows of heads; false: weights are
 * finite when they are read, yet a sum of large ones is not. */
static bool score_block(const complex_rows *rows, scratch *mine, const tail_block *tails,
                        float *out, size_t out_row)
{
    size_t n = tails->n, n_heads = mine->heads.n;
    rows->kernels->gemm(n, tails->vectors, tails->ld, &mine->heads, NULL, 0, mine->scores, BATCH);
    bool is_finite = true;
    for (size_t i = 0; i < n_heads; i++)
        for (size_t j = 0; j < n; j++) {
            float score = mine->scores[j * BATCH + i];
            is_finite &= fabsf(score) <= FLT_MAX;
            out[i * out_row + j] = score;
        }
    return is_finite;
}

/* All entities as they are lie in the model already: copying them would take as long as a product
 * with a few heads. */
static tail_block take_tails(const complex_rows *rows, scratch *mine,
                             const acq_row_request *request, const float *relation, size_t first)
{
    size_t left = request->n_tails - first, width = 2 * (size_t)rows->model->rank;
    tail_block block = {mine->tails, width + PAD, left < TAILS ? left : TAILS};
    if (request->tails == NULL && relation == NULL)
        return (tail_block){acq_complex_get_entity(rows->model, (acq_ent)first), width, block.n};
    for (size_t j = 0; j < block.n; j++) {
        acq_ent tail = request->tails == NULL ? (acq_ent)(first + j) : request->tails[first + j];
        copy_vector(rows, tail, relation, mine->tails + j * block.ld);
    }
    return block;
}

static bool score_heads(const complex_rows *rows, scratch *mine, const acq_row_request *request,
                        const float *relation, float *out)
{
    bool is_finite = true;
    for (size_t first = 0; first < request->n_tails; first += TAILS) {
        tail_block tails = take_tails(rows, mine, request, relation, first);
        is_finite &= score_block(rows, mine, &tails, out + first, request->n_tails);
    }
    return is_finite;
}

/* Nothing is known of entities and relations that came after the training. */
static void forget_unknown(const acq_complex *model, const acq_row_request *request)
{
    bool is_whole =
        model->known_entities == model->n_entities && model->known_relations == model->n_relations;
    for (size_t i = 0; i < request->n_heads && !is_whole; i++) {
        bool is_known =
            request->heads[i] < model->known_entities && request->relation < model->known_relations;
        for (size_t j = 0; j < request->n_tails; j++) {
            acq_ent tail = request->tails == NULL ? (acq_ent)j : request->tails[j];
            if (!is_known || tail >= model->known_entities)
                request->out[i * request->n_tails + j] = ACQ_NO_SCORE;
        }
    }
}

static acq_status score(const acq_row_model *self, void *memory, const acq_row_request *request,
                        acq_error *error)
{
    const complex_rows *rows = (const complex_rows *)self;
    scratch *mine = memory;
    const float *vector = acq_complex_get_relation(rows->model, request->relation);
    bool is_odd = acq_complex_is_conjugate(rows->model->is_reciprocal, request->relation);
    bool is_finite = true;
    for (size_t first = 0; first < request->n_heads; first += BATCH) {
        size_t left = request->n_heads - first, n = left < BATCH ? left : BATCH;
        pack_heads(rows, mine, request->heads + first, n, is_odd ? NULL : vector);
        is_finite &= score_heads(rows, mine, request, is_odd ? vector : NULL,
                                 request->out + first * request->n_tails);
    }
    forget_unknown(rows->model, request);
    return is_finite ? ACQ_OK : fail_overflow(error);
}

static void free_rows(acq_row_model *self)
{
    acq_free(self);
}

static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                      .free_scratch = free_scratch,
                                      .score = score,
                                      .free = free_rows};

acq_status acq_complex_new_row_model(const acq_complex *model, const acq_graph *graph,
                                     acq_row_model **out, acq_error *error)
{
    if (model->n_entities != acq_graph_get_n_entities(graph) ||
        model->n_relations != acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the model has %u entities and %u relations, the graph %u and %u; train "
                        "one on this graph",
                        model->n_entities, model->n_relations / 2, acq_graph_get_n_entities(graph),
                        acq_graph_get_n_relations(graph) / 2);
    complex_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){.ops = &ops,
                                 .graph = graph,
                                 .kind = "complex",
                                 .batch = BATCH,
                                 .is_symmetric = !model->is_reciprocal};
    rows->model = model;
    rows->kernels = acq_kernels_get_best();
    *out = &rows->base;
    return ACQ_OK;
}
