/* peak.h - the fastest that our matrix products get on this machine, to hold networks against;
 * gemm.h has the peak of the machine itself. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include "tensor/kernels.h"

/* GFLOPS of one thread: the best of several products whose operands stay in the cache. */
double bench_measure_peak(const acq_kernels *kernels);

#endif
