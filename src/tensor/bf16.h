/* bf16.h - products of bfloat16 matrices with sums in f32, for scores against many entities.
 *
 * The right-hand side is packed once:
 *
 *   b [k x n]  ->  panels of 16 columns; a panel holds, for each pair of rows l = 0, 2, 4...,
 *                  b[l][0] b[l+1][0] b[l][1] b[l+1][1] ... b[l][15] b[l+1][15]
 *
 * k is filled up with zeros to a multiple of 32, n to one of 16. That is the layout of AMX tiles
 * and of the dot products of AVX-512; processors without either convert blocks to f32 and use
 * the kernels. */
#ifndef ACQ_TENSOR_BF16_H
#define ACQ_TENSOR_BF16_H

#include "base/types.h"

typedef uint16_t acq_bf16; /* the upper half of an IEEE single */

/* To the nearest, ties to even; what is not a number stays so. */
acq_bf16 acq_bf16_from_float(float value);
float acq_bf16_to_float(acq_bf16 value);
/* Up or down by chance, so that they are right on average. Finite ones; the same for the same
 * `chances`. */
void acq_bf16_draw(const float *values, size_t n, uint64_t chances, acq_bf16 *out);

typedef struct acq_bf16_packed {
    size_t k, n, k_filled;
    acq_bf16 *panels; /* 64-byte aligned */
    void *block;
} acq_bf16_packed;

/* k as it is filled up. */
static inline size_t acq_bf16_fill_depth(size_t k)
{
    return (k + 31) / 32 * 32;
}

/* b = w' for w[n x k] with leading dimension ldw, rounded. */
acq_status acq_bf16_packed_init(acq_bf16_packed *packed, size_t k, size_t n, const float *w,
                                size_t ldw);
void acq_bf16_packed_deinit(acq_bf16_packed *packed); /* a zeroed one is legal */

/* c[m x n] = a[m x k] b. */
typedef void acq_bf16_gemm(size_t m, const acq_bf16 *a, size_t lda, const acq_bf16_packed *b,
                           float *c, size_t ldc);

/* The fastest one that this processor has, that the system and acq_cpu_limit permit and that
 * reproduces a small known product; the same every time, from any thread. */
acq_bf16_gemm *acq_bf16_get_best(void);

/* Whether that one is faster than products of f32. */
bool acq_bf16_is_fast(void);

acq_bf16_gemm acq_bf16_gemm_generic;
acq_bf16_gemm acq_bf16_gemm_avx512; /* only where the compiler knows it; needs
                                       acq_cpu_has_avx512_bf16 */
acq_bf16_gemm acq_bf16_gemm_amx;    /* likewise; needs acq_cpu_has_amx_bf16 */

/* By name, for tests: "amx", "avx512"; NULL when unknown or when this processor lacks it. */
acq_bf16_gemm *acq_bf16_find(const char *name);

#endif
