/* cpu.c - see cpu.h. The compiler's run time checks CPUID and, by XGETBV, that the system saves
 * the registers. */
#include "tensor/cpu.h"

#include <stdatomic.h>
#include <string.h>

static const char *const NAMES[] = {"generic", "avx2", "avx512", "avx512-bf16", "amx"};

acq_cpu_level acq_cpu_level_find(const char *name)
{
    for (int i = 0; i < ACQ_N_CPU_LEVELS; i++)
        if (strcmp(NAMES[i], name) == 0)
            return (acq_cpu_level)i;
    return ACQ_N_CPU_LEVELS;
}

const char *acq_cpu_level_get_name(acq_cpu_level level)
{
    return level < ACQ_N_CPU_LEVELS ? NAMES[level] : "unknown";
}

/* The limit becomes `most` unless it is settled; returns what it is. */
static acq_cpu_level settle(acq_cpu_level most)
{
    enum { OPEN = 0 };
    static atomic_int settled = OPEN; /* a level + 1 */
    int now = OPEN;
    if (atomic_compare_exchange_strong(&settled, &now, (int)most + 1))
        return most;
    return (acq_cpu_level)(now - 1);
}

acq_status acq_cpu_limit(acq_cpu_level most, acq_error *error)
{
    if (most >= ACQ_N_CPU_LEVELS)
        return acq_fail(error, ACQ_ERR_USAGE, "unknown level of instructions");
    acq_cpu_level now = settle(most);
    if (now == most)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "instructions up to %s are in use already; limit them to %s before anything "
                    "else is called",
                    NAMES[now], NAMES[most]);
}

#ifdef ACQ_CPU_X86

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool allows(acq_cpu_level level)
{
    return settle(ACQ_CPU_AMX) >= level;
}

bool acq_cpu_has_avx2(void)
{
    return allows(ACQ_CPU_AVX2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool acq_cpu_has_avx512(void)
{
    return allows(ACQ_CPU_AVX512) && acq_cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

#ifdef ACQ_HAS_AVX512_BF16
bool acq_cpu_has_avx512_bf16(void)
{
    return allows(ACQ_CPU_AVX512_BF16) && acq_cpu_has_avx512() &&
           __builtin_cpu_supports("avx512bf16");
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
    return allows(ACQ_CPU_AMX) && has_amx_bf16() && may_use_tiles();
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
