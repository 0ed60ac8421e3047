/* gemm_peak.c - the peak of one core: twelve independent chains of multiply and add, which never
 * leave their registers. Compiled with -ffp-contract=fast: a step is one fused instruction. */
#include "gemm.h"

#include "common.h"
#include "tensor/kernels.h"

enum { CHAINS = 12, ROUNDS = 20, STEPS = 200000 };

/* The empty instruction keeps the compiler from thinking the chains through. */
#define DEFINE_CHAINS(name, set, bytes)                                                            \
    __attribute__((target(set))) static void name(void)                                            \
    {                                                                                              \
        typedef float vec __attribute__((vector_size(bytes)));                                     \
        vec x = {1}, y = {1}, a = x, b = x, c = x, d = x, e = x, f = x, g = x, h = x, i = x,       \
            j = x, k = x, l = x;                                                                   \
        for (int step = 0; step < STEPS; step++) {                                                 \
            a += x * y, b += x * y, c += x * y, d += x * y, e += x * y, f += x * y;                \
            g += x * y, h += x * y, i += x * y, j += x * y, k += x * y, l += x * y;                \
            __asm__ volatile(""                                                                    \
                             : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g),      \
                               "+v"(h), "+v"(i), "+v"(j), "+v"(k), "+v"(l), "+v"(x), "+v"(y));     \
        }                                                                                          \
    }

#ifdef ACQ_CPU_X86
DEFINE_CHAINS(run_sse, "sse2", 16)
DEFINE_CHAINS(run_avx2, "avx2,fma", 32)
DEFINE_CHAINS(run_avx512, "avx512f,fma", 64)

double gemm_get_peak(void)
{
    size_t lanes = acq_cpu_has_avx512() ? 16 : acq_cpu_has_avx2() ? 8 : 4;
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_cpu_ms();
        lanes == 16 ? run_avx512() : lanes == 8 ? run_avx2() : run_sse();
        double rate = 2e-6 * CHAINS * STEPS * (double)lanes / (bench_cpu_ms() - start);
        best = rate > best ? rate : best;
    }
    return best;
}
#else
double gemm_get_peak(void)
{
    return 0; /* not measured */
}
#endif
