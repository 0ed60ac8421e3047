/* cpu.h - what this processor and its operating system have, asked at run time. */
#ifndef ACQ_TENSOR_CPU_H
#define ACQ_TENSOR_CPU_H

#include "base/types.h"

#if defined(__x86_64__)
#define ACQ_CPU_X86
#endif

bool acq_cpu_has_avx2(void);   /* with FMA */
bool acq_cpu_has_avx512(void); /* F, BW, DQ and VL, with FMA */
bool acq_cpu_has_avx512_bf16(void);

/* AMX tiles and their bfloat16 product; asks the system for permission to use them, which holds
 * for the whole process. */
bool acq_cpu_has_amx_bf16(void);

#endif
