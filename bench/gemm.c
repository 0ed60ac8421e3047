/* gemm.c - GFLOPS of one core on the products of the policy network and of a link predictor: our
 * kernels, OpenBLAS and oneDNN, beside the peak of the machine.
 *
 * Every product is checked against sums in double precision before it is timed. The peers take
 * turns, so that the load of the machine meets all alike; a number is the median of ROUNDS. */
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "common.h"

enum { ROUNDS = 7, N_PEERS = 4 };

static const size_t shapes[][3] = {
    {1300, 32, 32},   {1300, 32, 96},   {1300, 32, 128}, {1300, 128, 128},
    {1300, 128, 384}, {1300, 128, 512}, {64, 32, 32},    {1000, 2000, 14505},
};

static const gemm_peer *const peers[N_PEERS] = {&gemm_ours, &gemm_openblas, &gemm_onednn,
                                                &gemm_onednn_packed};

static float *make_floats(size_t n, uint64_t stream)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    acq_random random = acq_random_start(1, stream);
    if (x == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = (float)acq_random_unit(&random) - .5f;
    return x;
}

static void check_row(const gemm_case *gemm, size_t row, const char *name)
{
    for (size_t j = 0; j < gemm->n; j++) {
        double sum = 0, size = 0;
        for (size_t l = 0; l < gemm->k; l++) {
            double term = (double)gemm->a[row * gemm->k + l] * (double)gemm->b[l * gemm->n + j];
            sum += term;
            size += fabs(term);
        }
        if (!(fabs((double)gemm->c[row * gemm->n + j] - sum) <=
              6e-8 * (double)(gemm->k + 4) * size))
            bench_die("%s: element (%zu, %zu) is wrong", name, row, j);
    }
}

static void check(const gemm_case *gemm, const gemm_peer *peer, void *prepared)
{
    memset(gemm->c, 0, gemm->m * gemm->n * sizeof *gemm->c);
    peer->run(prepared, gemm);
    check_row(gemm, 0, peer->name);
    check_row(gemm, gemm->m / 2, peer->name);
    check_row(gemm, gemm->m - 1, peer->name);
}

/* GFLOPS over about a twentieth of a second, or one product when that takes longer. */
static double measure(const gemm_case *gemm, const gemm_peer *peer, void *prepared)
{
    double flops = 2.0 * (double)gemm->m * (double)gemm->k * (double)gemm->n;
    size_t times = 1 + (size_t)(4e9 / flops);
    double start = bench_cpu_ms();
    for (size_t i = 0; i < times; i++)
        peer->run(prepared, gemm);
    return 1e-6 * flops * (double)times / (bench_cpu_ms() - start);
}

static void measure_all(const gemm_case *gemm, double rates[N_PEERS])
{
    void *prepared[N_PEERS];
    double runs[N_PEERS][ROUNDS];
    for (size_t p = 0; p < N_PEERS; p++) {
        prepared[p] = peers[p]->prepare(gemm);
        check(gemm, peers[p], prepared[p]);
    }
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t p = 0; p < N_PEERS; p++)
            runs[p][round] = measure(gemm, peers[p], prepared[p]);
    for (size_t p = 0; p < N_PEERS; p++) {
        rates[p] = bench_median(runs[p], ROUNDS);
        peers[p]->finish(prepared[p]);
    }
}

static void print_shape(const size_t shape[3], double peak)
{
    gemm_case gemm = {.m = shape[0], .k = shape[1], .n = shape[2]};
    double rates[N_PEERS];
    gemm.a = make_floats(gemm.m * gemm.k, 1);
    gemm.b = make_floats(gemm.k * gemm.n, 2);
    gemm.c = make_floats(gemm.m * gemm.n, 3);
    measure_all(&gemm, rates);
    printf("| %zu x %zu x %zu |", gemm.m, gemm.k, gemm.n);
    for (size_t p = 0; p < N_PEERS; p++)
        printf(" %.1f (%.0f %%) |", rates[p], 100 * rates[p] / peak);
    printf("\n");
    fflush(stdout);
    free(gemm.a);
    free(gemm.b);
    free(gemm.c);
}

int main(void)
{
    double peak = gemm_get_peak();
    printf("GFLOPS of one core, %.1f at most; in brackets the share of that.\n\n| m x k x n |",
           peak);
    for (size_t p = 0; p < N_PEERS; p++)
        printf(" %s |", peers[p]->name);
    printf("\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        print_shape(shapes[i], peak);
    return 0;
}
