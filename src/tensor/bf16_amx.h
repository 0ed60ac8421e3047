/* bf16_amx.h - the product of bf16.h on the tiles of AMX; only where the compiler knows them. */
#ifndef ACQ_TENSOR_BF16_AMX_H
#define ACQ_TENSOR_BF16_AMX_H

#include "tensor/bf16.h"

acq_bf16_gemm acq_bf16_gemm_amx; /* needs acq_cpu_has_amx_bf16 */

#endif
