/* cpu.h - what this processor and its operating system have, asked at run time, and how much of it
 * may be used.
 *
 * Sets of instructions round differently, so numbers repeat to the last bit on one set only. A
 * limit makes a newer processor compute as an older one. It holds for the whole process, as
 * kernels are chosen once for the process, and is set once: the first call of acq_cpu_limit or the
 * first question about the processor settles it, in one atomic step, and what is settled never
 * changes. */
#ifndef ACQ_TENSOR_CPU_H
#define ACQ_TENSOR_CPU_H

#include "base/types.h"

#if defined(__x86_64__)
#define ACQ_CPU_X86
#endif

typedef enum acq_cpu_level { /* each with all before it */
                             ACQ_CPU_GENERIC,
                             ACQ_CPU_AVX2,
                             ACQ_CPU_AVX512,
                             ACQ_CPU_AVX512_BF16,
                             ACQ_CPU_AMX, /* whatever there is: the default */
                             ACQ_N_CPU_LEVELS
} acq_cpu_level;

/* "generic", "avx2", "avx512", "avx512-bf16", "amx"; ACQ_N_CPU_LEVELS when unknown. */
acq_cpu_level acq_cpu_level_find(const char *name);
const char *acq_cpu_level_get_name(acq_cpu_level level);

/* Nothing beyond `most` is used from now on. ACQ_ERR_USAGE when another limit is settled already:
 * call it before anything is computed. */
acq_status acq_cpu_limit(acq_cpu_level most, acq_error *error);

/* Is it there, and within the limit? */
bool acq_cpu_has_avx2(void);   /* with FMA */
bool acq_cpu_has_avx512(void); /* F, BW, DQ and VL, with FMA */
bool acq_cpu_has_avx512_bf16(void);

/* AMX tiles and their bfloat16 product; asks the system for permission to use them, which holds
 * for the whole process. */
bool acq_cpu_has_amx_bf16(void);

#endif
