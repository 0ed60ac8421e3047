/* products.c - the large products of a ComplEx training; see gradient.h. Where the
 * processor multiplies bfloat16 faster than f32, both sides are rounded to that and sums stay f32:
 * a softmax and a gradient of noisy batches do not miss the digits. */
#include <string.h>

#include "models/complex/gradient.h"

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
