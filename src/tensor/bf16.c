/* bf16.c - see bf16.h: rounding, packing, the product for any processor and the choice. */
#include "tensor/bf16.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tensor/kernels.h"

enum { ALIGNMENT = 64 };

acq_bf16 acq_bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (acq_bf16)(bits >> 16 | 0x40);
    return (acq_bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void acq_bf16_draw(const float *values, size_t n, uint64_t chances, acq_bf16 *out)
{
    enum { AT_ONCE = 4, INFINITE = 0x7f80 };
    uint64_t drawn = 0, key = acq_random_mix(chances);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        drawn = i % AT_ONCE == 0 ? acq_random_mix(key + i) : drawn >> 16;
        uint32_t rounded = (bits + (uint32_t)(drawn & 0xffff)) >> 16;
        out[i] = (acq_bf16)((rounded & INFINITE) == INFINITE ? bits >> 16 : rounded);
    }
}

float acq_bf16_to_float(acq_bf16 value)
{
    uint32_t bits = (uint32_t)value << 16;
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* Where b[l][j] stands. */
static size_t get_place(const acq_bf16_packed *packed, size_t l, size_t j)
{
    size_t panel = j / ACQ_PANEL * ACQ_PANEL * packed->k_filled;
    return panel + l / 2 * (2 * ACQ_PANEL) + j % ACQ_PANEL * 2 + l % 2;
}

static bool count_bytes(const acq_bf16_packed *packed, size_t *bytes)
{
    size_t columns = packed->n + (ACQ_PANEL - packed->n % ACQ_PANEL) % ACQ_PANEL;
    return columns >= packed->n && packed->k_filled >= packed->k &&
           !__builtin_mul_overflow(columns, packed->k_filled, bytes) &&
           !__builtin_mul_overflow(*bytes, sizeof(acq_bf16), bytes) &&
           !__builtin_add_overflow(*bytes, ALIGNMENT, bytes);
}

acq_status acq_bf16_packed_init(acq_bf16_packed *packed, size_t k, size_t n, const float *w,
                                size_t ldw)
{
    acq_bf16_packed made = {.k = k, .n = n, .k_filled = acq_bf16_fill_depth(k)};
    size_t bytes;
    if (!count_bytes(&made, &bytes) || (made.block = acq_zalloc(bytes, 1)) == NULL)
        return ACQ_ERR_MEMORY;
    size_t past = (uintptr_t)made.block % ALIGNMENT;
    made.panels = (acq_bf16 *)((char *)made.block + (ALIGNMENT - past) % ALIGNMENT);
    for (size_t j = 0; j < n; j++)
        for (size_t l = 0; l < k; l++)
            made.panels[get_place(&made, l, j)] = acq_bf16_from_float(w[j * ldw + l]);
    *packed = made;
    return ACQ_OK;
}

void acq_bf16_packed_deinit(acq_bf16_packed *packed)
{
    acq_free(packed->block);
    *packed = (acq_bf16_packed){0};
}

/* The product for any processor: blocks of both sides in f32, on the stack. */

enum { M_BLOCK = 16, K_BLOCK = 128 }; /* 16 kB: threads may have small stacks */

static void widen_rows(size_t m, size_t k, const acq_bf16 *a, size_t lda, float *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++)
            out[i * K_BLOCK + l] = acq_bf16_to_float(a[i * lda + l]);
}

/* Rows [from, from + k) of the panel at column j; from is even. */
static void widen_panel(const acq_bf16_packed *b, size_t from, size_t k, size_t j, float *out)
{
    const acq_bf16 *pairs = b->panels + get_place(b, from, j);
    for (size_t l = 0; l < k; l++)
        for (size_t c = 0; c < ACQ_PANEL; c++)
            out[l * ACQ_PANEL + c] =
                acq_bf16_to_float(pairs[l / 2 * (2 * ACQ_PANEL) + 2 * c + l % 2]);
}

static void add_block(size_t m, const float *rows, const acq_bf16_packed *b, size_t from, size_t k,
                      float *c, size_t ldc)
{
    _Alignas(ALIGNMENT) float panel[K_BLOCK * ACQ_PANEL];
    const acq_kernels *kernels = acq_kernels_get_best();
    for (size_t j = 0; j < b->n; j += ACQ_PANEL) {
        size_t n = b->n - j < ACQ_PANEL ? b->n - j : ACQ_PANEL;
        acq_packed right = {.k = k, .n = n, .panels = panel};
        widen_panel(b, from, k, j, panel);
        kernels->gemm(m, rows, K_BLOCK, &right, NULL, from == 0 ? 0 : ACQ_GEMM_ADD, c + j, ldc);
    }
}

void acq_bf16_gemm_generic(size_t m, const acq_bf16 *a, size_t lda, const acq_bf16_packed *b,
                           float *c, size_t ldc)
{
    float rows[M_BLOCK * K_BLOCK];
    for (size_t i = 0; i < m; i += M_BLOCK) {
        size_t height = m - i < M_BLOCK ? m - i : M_BLOCK;
        size_t l = 0;
        do {
            size_t k = b->k - l < K_BLOCK ? b->k - l : K_BLOCK;
            widen_rows(height, k, a + i * lda + l, lda, rows);
            add_block(height, rows, b, l, k, c + i * ldc, ldc);
            l += k;
        } while (l < b->k);
    }
}

#if defined(ACQ_HAS_AMX) || defined(ACQ_HAS_AVX512_BF16)
/* Whole numbers are exact in every order. */
static bool reproduces_product(acq_bf16_gemm *gemm)
{
    enum { M = 37, K = 32, N = 37 };
    _Alignas(ALIGNMENT) acq_bf16 panels[48 * K] = {0};
    acq_bf16 a[M * K];
    float got[M * N], want[M * N];
    acq_bf16_packed b = {.k = K, .n = N, .k_filled = K, .panels = panels};
    for (size_t i = 0; i < M * K; i++)
        a[i] = acq_bf16_from_float((float)(i * 7 % 11) - 5);
    for (size_t l = 0; l < K; l++)
        for (size_t j = 0; j < N; j++)
            panels[get_place(&b, l, j)] = acq_bf16_from_float((float)((l * N + j) * 5 % 13) - 6);
    gemm(M, a, K, &b, got, N);
    acq_bf16_gemm_generic(M, a, K, &b, want, N);
    for (size_t i = 0; i < M * N; i++)
        if (got[i] != want[i])
            return false;
    return true;
}

acq_bf16_gemm *acq_bf16_find(const char *name)
{
#ifdef ACQ_HAS_AMX
    if (strcmp(name, "amx") == 0 && acq_cpu_has_amx_bf16() && reproduces_product(acq_bf16_gemm_amx))
        return acq_bf16_gemm_amx;
#endif
#ifdef ACQ_HAS_AVX512_BF16
    if (strcmp(name, "avx512") == 0 && acq_cpu_has_avx512_bf16() &&
        reproduces_product(acq_bf16_gemm_avx512))
        return acq_bf16_gemm_avx512;
#endif
    return NULL;
}
#else
acq_bf16_gemm *acq_bf16_find(const char *name)
{
    (void)name;
    return NULL;
}
#endif

static acq_bf16_gemm *choose(void)
{
    acq_bf16_gemm *found = acq_bf16_find("amx");
    if (found == NULL)
        found = acq_bf16_find("avx512");
    return found == NULL ? acq_bf16_gemm_generic : found;
}

acq_bf16_gemm *acq_bf16_get_best(void)
{
    static _Atomic(acq_bf16_gemm *) best;
    acq_bf16_gemm *known = atomic_load_explicit(&best, memory_order_acquire);
    if (known == NULL) {
        known = choose();
        atomic_store_explicit(&best, known, memory_order_release);
    }
    return known;
}

bool acq_bf16_is_fast(void)
{
    return acq_bf16_get_best() != acq_bf16_gemm_generic;
}
