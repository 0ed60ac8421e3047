/* cpu.c - see cpu.h. The compiler's run time checks CPUID and, by XGETBV, that the system saves
 * the registers. */
#include "tensor/cpu.h"

#ifdef ACQ_CPU_X86

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

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

#ifdef ACQ_HAS_AVX512_BF16
bool acq_cpu_has_avx512_bf16(void)
{
    return acq_cpu_has_avx512() && __builtin_cpu_supports("avx512bf16");
}
#else /* a compiler that does not know it */
bool acq_cpu_has_avx512_bf16(void)
{
    return false;
}
#endif

/* The compiler's run time does not know AMX yet: CPUID leaf 7, then what the system saves. */
static bool has_amx_bf16(void)
{
    const unsigned tiles = 1U << 24, products = 1U << 22, os_saves = 1U << 27;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & os_saves))
        return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & tiles) || !(d & products))
        return false;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low >> 17 & 3) == 3; /* shapes and contents of tiles */
}

#ifdef __linux__
static bool may_use_tiles(void)
{
    const long request = 0x1023, tile_contents = 18; /* ARCH_REQ_XCOMP_PERM */
    return syscall(SYS_arch_prctl, request, tile_contents) == 0;
}
#else
static bool may_use_tiles(void)
{
    return false;
}
#endif

bool acq_cpu_has_amx_bf16(void)
{
    return has_amx_bf16() && may_use_tiles();
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

bool acq_cpu_has_avx512_bf16(void)
{
    return false;
}

bool acq_cpu_has_amx_bf16(void)
{
    return false;
}

#endif
