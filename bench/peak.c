/* peak.c - see peak.h. Each size runs in slices of a few milliseconds, and the best slice counts:
 * a peak is what the machine can do when nothing else disturbs it. */
#include "peak.h"

#include "base/memory.h"
#include "common.h"

enum { ROWS = 240, N_SLICES = 12, N_SIZES = 3 };

static const double SLICE_MS = 4;
static const size_t sizes[N_SIZES] = {64, 128, 256};

typedef struct operands {
    acq_packed right;
    float *left, *product;
} operands;

static void init(operands *o, size_t size)
{
    o->left = acq_alloc(ROWS * size, sizeof *o->left);
    o->product = acq_zalloc(ROWS * size, sizeof *o->product);
    if (o->left == NULL || o->product == NULL || acq_packed_init(&o->right, size, size) != ACQ_OK)
        bench_die("out of memory");
    for (size_t i = 0; i < ROWS * size; i++)
        o->left[i] = (float)(i % 7) * 0.125F;
    acq_packed_fill(&o->right, o->left, size);
}

static void deinit(operands *o)
{
    acq_packed_deinit(&o->right);
    acq_free(o->left);
    acq_free(o->product);
}

static double measure_slice(const acq_kernels *kernels, const operands *o, size_t size)
{
    double begin = bench_cpu_ms(), ms;
    size_t n = 0;
    do {
        kernels->gemm(ROWS, o->left, size, &o->right, NULL, 0, o->product, size);
        n++;
        ms = bench_cpu_ms() - begin;
    } while (ms < SLICE_MS);
    return 2.0 * ROWS * (double)size * (double)size * (double)n / ms * 1e-6;
}

double bench_measure_peak(const acq_kernels *kernels)
{
    double best = 0;
    for (size_t i = 0; i < N_SIZES; i++) {
        operands o = {0};
        init(&o, sizes[i]);
        for (int slice = 0; slice < N_SLICES; slice++) {
            double gflops = measure_slice(kernels, &o, sizes[i]);
            best = gflops > best ? gflops : best;
        }
        deinit(&o);
    }
    return best;
}
