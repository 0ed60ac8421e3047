/* kernels.c - packing, and the choice among the sets of kernels.
 *
 * A set counts only when the processor and the system have it and when it reproduces a small
 * product of whole numbers, which is exact in every order. The choice is made once; threads that
 * make it at the same time make the same one. */
#include "tensor/kernels.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"

/* ---- processor ----
 *
 * The compiler's run time checks CPUID and, by XGETBV, that the system saves
 * the registers. */

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

/* ---- kernels ---- */

enum { ALIGNMENT = 64 };

static size_t count_panels(const acq_packed *packed)
{
    return packed->n / ACQ_PANEL + (packed->n % ACQ_PANEL != 0);
}

acq_status acq_packed_init(acq_packed *packed, size_t k, size_t n)
{
    acq_packed made = {.k = k, .n = n};
    size_t lines, bytes;
    if (__builtin_mul_overflow(count_panels(&made), k, &lines) ||
        __builtin_mul_overflow(lines, ACQ_PANEL * sizeof(float), &bytes) ||
        __builtin_add_overflow(bytes, ALIGNMENT, &bytes))
        return ACQ_ERR_MEMORY;
    made.block = acq_zalloc(bytes, 1);
    if (made.block == NULL)
        return ACQ_ERR_MEMORY;
    size_t past = (uintptr_t)made.block % ALIGNMENT;
    made.panels = (float *)((char *)made.block + (ALIGNMENT - past) % ALIGNMENT);
    *packed = made;
    return ACQ_OK;
}

void acq_packed_deinit(acq_packed *packed)
{
    acq_free(packed->block);
    *packed = (acq_packed){0};
}

/* b[l][j] = w[l * row + j * column], panel by panel: what is written is in one piece. */
static void fill(acq_packed *packed, const float *w, size_t row, size_t column)
{
    float *to = packed->panels;
    for (size_t begin = 0; begin < packed->n; begin += ACQ_PANEL) {
        size_t n = packed->n - begin < ACQ_PANEL ? packed->n - begin : ACQ_PANEL;
        for (size_t l = 0; l < packed->k; l++, to += ACQ_PANEL)
            for (size_t j = 0; j < n; j++)
                to[j] = w[l * row + (begin + j) * column];
    }
}

void acq_packed_fill(acq_packed *packed, const float *w, size_t ldw)
{
    fill(packed, w, 1, ldw);
}

void acq_packed_fill_transposed(acq_packed *packed, const float *w, size_t ldw)
{
    fill(packed, w, ldw, 1);
}

/* ---- the choice ---- */

typedef struct kernel_set {
    const acq_kernels *kernels;
    bool (*is_present)(void);
} kernel_set;

static const kernel_set sets[] = {
/* widest first */
#ifdef ACQ_CPU_X86
    {&acq_kernels_avx512, acq_cpu_has_avx512},
    {&acq_kernels_avx2, acq_cpu_has_avx2},
#endif
    {&acq_kernels_generic, NULL},
};

enum { N_SETS = sizeof sets / sizeof *sets, CHECK_M = 29, CHECK_K = 7, CHECK_N = 37 };

static float get_whole_number(size_t i)
{
    return (float)(int)(i * 7 % 11) - 5;
}

static void fill_whole_numbers(size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = get_whole_number(i);
}

static float multiply_plainly(const float *a, const float *w, size_t i, size_t j)
{
    float sum = 0;
    for (size_t l = 0; l < CHECK_K; l++)
        sum += a[i * CHECK_K + l] * w[j * CHECK_K + l];
    return sum;
}

static bool reproduces_product(const acq_kernels *kernels)
{
    float a[CHECK_M * CHECK_K], w[CHECK_N * CHECK_K], c[CHECK_M * CHECK_N];
    _Alignas(64) float panels[3 * ACQ_PANEL * CHECK_K] = {0};
    acq_packed b = {.k = CHECK_K, .n = CHECK_N, .panels = panels};
    fill_whole_numbers(CHECK_M * CHECK_K, a);
    fill_whole_numbers(CHECK_N * CHECK_K, w);
    acq_packed_fill(&b, w, CHECK_K);
    kernels->gemm(CHECK_M, a, CHECK_K, &b, NULL, 0, c, CHECK_N);
    for (size_t i = 0; i < CHECK_M; i++)
        for (size_t j = 0; j < CHECK_N; j++)
            if (c[i * CHECK_N + j] != multiply_plainly(a, w, i, j))
                return false;
    return true;
}

static bool works(const kernel_set *set)
{
    return set->is_present == NULL || (set->is_present() && reproduces_product(set->kernels));
}

const acq_kernels *acq_kernels_get_best(void)
{
    static _Atomic(const acq_kernels *) best;
    const acq_kernels *known = atomic_load_explicit(&best, memory_order_acquire);
    for (size_t i = 0; known == NULL; i++)
        if (works(&sets[i]))
            known = sets[i].kernels;
    atomic_store_explicit(&best, known, memory_order_release);
    return known;
}

const acq_kernels *acq_kernels_find(const char *name)
{
    for (size_t i = 0; i < N_SETS; i++)
        if (strcmp(sets[i].kernels->name, name) == 0)
            return works(&sets[i]) ? sets[i].kernels : NULL;
    return NULL;
}
