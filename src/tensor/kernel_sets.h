/* kernel_sets.h - the tables behind acq_kernels_get_best, one per file kernels_*.c. */
#ifndef ACQ_TENSOR_KERNEL_SETS_H
#define ACQ_TENSOR_KERNEL_SETS_H

#include "tensor/kernels.h"

extern const acq_kernels acq_kernels_generic;
extern const acq_kernels acq_kernels_avx2;   /* only on x86-64 */
extern const acq_kernels acq_kernels_avx512; /* only on x86-64 */

#endif
