/* bf16_avx512.h - the product of bf16.h by the dot products of AVX-512; only where the compiler
 * knows them. */
#ifndef ACQ_TENSOR_BF16_AVX512_H
#define ACQ_TENSOR_BF16_AVX512_H

#include "tensor/bf16.h"

acq_bf16_gemm acq_bf16_gemm_avx512; /* needs acq_cpu_has_avx512_bf16 */

#endif
