/* bf16_emulated.h - the tiled product of bf16.h on tiles in software. The processor may add
 * in another order and rounds what is denormal to 0; layout and edges are the same. */
#ifndef TEST_BF16_EMULATED_H
#define TEST_BF16_EMULATED_H

#include "tensor/bf16.h"

acq_bf16_gemm acq_bf16_gemm_emulated;

#endif
