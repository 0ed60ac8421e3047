/* bf16_avx512.c - see bf16_avx512.h. A tile of 12 rows by two panels stays in registers while k
 * runs, as in gemm.inc, and each step takes a pair of k: one instruction multiplies two bfloat16
 * values of each lane by a pair of a that is spread over all, and adds both. k is cut into blocks
 * so that two panels stay in the first cache; rows and a depth of k are taken so that they stay in
 * the second, while all panels pass by once. */
#include "tensor/bf16.h"

#include <immintrin.h>
#include <string.h>

enum {
    PANEL = 16, /* columns */
    TILE_ROWS = 12,
    K_BLOCK = 256,
    K_DEPTH = 8 * K_BLOCK,
    ROW_BLOCK = 12 * TILE_ROWS
};

typedef struct strip { /* rows of a against one or two panels, over one block of k */
    const acq_bf16 *a;
    size_t lda;
    const acq_bf16 *panel, *next; /* the same one when there is no second */
    size_t n_pairs;
    bool has_half; /* one more of k, which has no partner */
    bool adds;     /* to what c holds */
    float *c;
    size_t ldc;
    size_t n; /* columns, at most two panels */
} strip;

#define INLINE static inline __attribute__((always_inline))

static __mmask16 get_mask(size_t n)
{
    return n >= PANEL ? 0xffff : (__mmask16)((1U << n) - 1);
}

INLINE __m512bh spread_pair(const acq_bf16 *at)
{
    int32_t pair;
    memcpy(&pair, at, sizeof pair);
    return (__m512bh)_mm512_set1_epi32(pair);
}

INLINE __m512bh load_pairs(const acq_bf16 *panel, size_t pair)
{
    return (__m512bh)_mm512_load_si512(panel + pair * 2 * PANEL);
}

/* Inlined for each constant number of rows and panels. */
INLINE void tile(size_t rows, size_t panels, const strip *s)
{
    __m512 sums[TILE_ROWS][2];
    __mmask16 masks[2] = {get_mask(s->n), s->n > PANEL ? get_mask(s->n - PANEL) : 0};
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (size_t p = 0; p < panels; p++)
            sums[r][p] = s->adds ? _mm512_maskz_loadu_ps(masks[p], s->c + r * s->ldc + p * PANEL)
                                 : _mm512_setzero_ps();
    for (size_t l = 0; l < s->n_pairs; l++) {
        __m512bh line[2] = {load_pairs(s->panel, l), load_pairs(s->next, l)};
#pragma GCC unroll 12
        for (size_t r = 0; r < rows; r++) {
            __m512bh pair = spread_pair(s->a + r * s->lda + 2 * l);
#pragma GCC unroll 2
            for (size_t p = 0; p < panels; p++)
                sums[r][p] = _mm512_dpbf16_ps(sums[r][p], pair, line[p]);
        }
    }
    for (size_t r = 0; s->has_half && r < rows; r++) {
        const acq_bf16 pair[2] = {s->a[r * s->lda + 2 * s->n_pairs], 0};
        __m512bh left = spread_pair(pair);
        sums[r][0] = _mm512_dpbf16_ps(sums[r][0], left, load_pairs(s->panel, s->n_pairs));
        if (panels > 1)
            sums[r][1] = _mm512_dpbf16_ps(sums[r][1], left, load_pairs(s->next, s->n_pairs));
    }
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (size_t p = 0; p < panels; p++)
            _mm512_mask_storeu_ps(s->c + r * s->ldc + p * PANEL, masks[p], sums[r][p]);
}

#define TILES(rows)                                                                                \
    for (; m >= (rows); m -= (rows), s.a += (rows)*s.lda, s.c += (rows)*s.ldc)                     \
    tile(rows, panels, &s)

INLINE void run_strip(size_t m, size_t panels, strip s)
{
    TILES(TILE_ROWS);
    TILES(4);
    TILES(1);
}

static void run_pair(size_t m, const strip *s)
{
    run_strip(m, 2, *s);
}

static void run_single(size_t m, const strip *s)
{
    run_strip(m, 1, *s);
}

/* One block of rows and of k against two panels. */
static void run_panels(size_t m, size_t k, strip s)
{
    s.n_pairs = k / 2;
    s.has_half = k % 2 != 0;
    if (s.n > PANEL)
        run_pair(m, &s);
    else
        run_single(m, &s);
}

/* One block of rows and a depth of k, all columns. */
static void run_block(size_t m, const acq_bf16_packed *b, size_t from, size_t depth, strip start)
{
    for (size_t j = 0; j < b->n; j += 2 * PANEL) {
        strip s = start;
        const acq_bf16 *panel = b->panels + j * b->k_filled;
        s.c += j;
        s.n = b->n - j < 2 * PANEL ? b->n - j : 2 * PANEL;
        size_t l = 0;
        do {
            size_t k = depth - l < K_BLOCK ? depth - l : K_BLOCK;
            s.a = start.a + l;
            s.adds = from + l > 0;
            s.panel = panel + (from + l) * PANEL;
            s.next = s.n > PANEL ? s.panel + PANEL * b->k_filled : s.panel;
            run_panels(m, k, s);
            l += k;
        } while (l < depth);
    }
}

void acq_bf16_gemm_avx512(size_t m, const acq_bf16 *a, size_t lda, const acq_bf16_packed *b,
                          float *c, size_t ldc)
{
    for (size_t i = 0; i < m; i += ROW_BLOCK) {
        size_t rows = m - i < ROW_BLOCK ? m - i : ROW_BLOCK, from = 0;
        do {
            size_t k = b->k - from < K_DEPTH ? b->k - from : K_DEPTH;
            strip start = {.a = a + i * lda + from, .lda = lda, .c = c + i * ldc, .ldc = ldc};
            run_block(rows, b, from, k, start);
            from += k;
        } while (from < b->k);
    }
}
