/* gemm.h - products c[m x n] = a[m x k] b[k x n] by our kernels and by matrix libraries, all on
 * one thread, row major. A peer that needs b in its own layout makes that before it is timed. */
#ifndef BENCH_GEMM_H
#define BENCH_GEMM_H

#include <stddef.h>

typedef struct gemm_case {
    size_t m, k, n;
    float *a, *b, *c;
} gemm_case;

typedef struct gemm_peer {
    const char *name;
    void *(*prepare)(const gemm_case *gemm);
    void (*run)(void *prepared, const gemm_case *gemm);
    void (*finish)(void *prepared);
} gemm_peer;

extern const gemm_peer gemm_ours, gemm_openblas, gemm_onednn, gemm_onednn_packed;

/* GFLOPS of fused steps in registers alone, on the widest vectors of this processor. */
double gemm_get_peak(void);

#endif
