/* cpu.c - see cpu.h. The compiler's run time checks CPUID and, by XGETBV, that the system saves
 * the registers. */
#include "tensor/cpu.h"

#ifdef ACQ_CPU_X86

bool acq_cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool acq_cpu_has_avx512(void)
{
    return acq_cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

#else

bool acq_cpu_has_avx2(void)
{
    return false;
}

bool acq_cpu_has_avx512(void)
{
    return false;
}

#endif
