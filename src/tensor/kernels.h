/* kernels.h - the arithmetic that networks run on, one table of functions per instruction set.
 *
 * The same source (kernels_set.c) is compiled for each set; acq_kernels_get_best picks the widest
 * one that this processor has and that reproduces a small known product. All matrices are row
 * major. Forward and backward stand side by side; backward functions overwrite what belongs to
 * the input (dx) and add to what belongs to the parameters (dw).
 *
 * Every row of a product is computed in the same order whatever the number of rows, so a query
 * alone and a query in a batch give the same bits on one instruction set. Kernels cannot fail
 * and do not allocate. */
#ifndef ACQ_TENSOR_KERNELS_H
#define ACQ_TENSOR_KERNELS_H

#include "base/types.h"

/* ---- processor ----
 *
 * What this processor and its operating system have, asked at run time, and how much of it
 * may be used.
 *
 * Sets of instructions round differently, so numbers repeat to the last bit on one set only. A
 * limit makes a newer processor compute as an older one. It holds for the whole process, as
 * kernels are chosen once for the process, and is set once: the first call of acq_cpu_limit or the
 * first question about the processor settles it, in one atomic step, and what is settled never
 * changes. */

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

/* ---- the right-hand side of a product, laid out for the kernels ----
 *
 *   b [k x n]  ->  panels of ACQ_PANEL columns:  panel p holds b[0][16p..], b[1][16p..], ...
 *
 * The last panel is filled up with zeros. Weights are packed when a model is loaded or changed. */

enum { ACQ_PANEL = 16 };

typedef struct acq_packed {
    size_t k, n;
    float *panels; /* 64-byte aligned, ceil(n / 16) * k * 16 floats */
    void *block;   /* what is freed */
} acq_packed;

/* Room for b[k x n]; zeroed. */
acq_status acq_packed_init(acq_packed *packed, size_t k, size_t n);
void acq_packed_deinit(acq_packed *packed); /* a zeroed one is legal */

/* Weights are kept as PyTorch keeps them, w[n_out x n_in] with leading dimension ldw.
 * fill: b = w' (k = n_in, n = n_out), for y = x w'; only the first k columns of w are read.
 * fill_transposed: b = w (k = n_out, n = n_in), for dx = dy w. */
void acq_packed_fill(acq_packed *packed, const float *w, size_t ldw);
void acq_packed_fill_transposed(acq_packed *packed, const float *w, size_t ldw);

/* ---- kernels ---- */

enum { ACQ_GEMM_ADD = 1, ACQ_GEMM_RELU = 2 };

/* DistMult messages along edges that are grouped by node and relation; leading dimensions are in
 * floats. Sources and the nodes that gather and scatter take are rows of in, out and states. */
typedef struct acq_messages {
    const uint32_t *rows;      /* node v has the groups rows[v] .. rows[v + 1] */
    const uint32_t *relations; /* of each group */
    const uint32_t *begins;    /* group g has the sources begins[g] .. begins[g + 1] */
    const uint32_t *sources;
    size_t width;         /* a multiple of 16 */
    const float *vectors; /* [relations x width] */
    const float *in;
    size_t ld_in;
    float *out;
    size_t ld_out;
    const float *states; /* with dvectors */
    size_t ld_states;
    float *dvectors; /* [relations x width]; NULL: not wanted */
} acq_messages;

typedef struct acq_pna_start { /* what a node aggregates besides its edges */
    const float *boundary;     /* one more message; NULL: zeros */
    float *dboundary;          /* gets its slope added; NULL: not wanted */
    uint32_t n_zero;           /* more messages, all 0 */
} acq_pna_start;

enum { ACQ_COMPLEX_ADD = 1, ACQ_COMPLEX_CONJUGATE = 2 };

typedef struct acq_kernels {
    const char *name; /* "generic", "avx2", "avx512" */

    /* c[m x n] = a[m x k] b[k x n] + bias[n]; ADD: added to what c holds; RELU: then max(0, .).
     * bias may be NULL. lda and ldc are in floats. */
    void (*gemm)(size_t m, const float *a, size_t lda, const acq_packed *b, const float *bias,
                 unsigned flags, float *c, size_t ldc);

    /* dw[n x k] (leading dimension ldw) += dy[m x n]' a[m x k]; the gradient of weights that are
     * kept as rows of outputs. */
    void (*gemm_weights)(size_t m, size_t n, size_t k, const float *dy, size_t ldy, const float *a,
                         size_t lda, float *dw, size_t ldw);

    /* dbias[n] += column sums of dy[m x n]. */
    void (*sum_rows)(size_t m, size_t n, const float *dy, size_t ldy, float *dbias);

    /* y = (x - mean) / sqrt(variance + 1e-5) * gain + shift, each row apart. stats[m x 2] gets
     * mean and 1/sqrt for backward; may be NULL. y may be x. */
    void (*layer_norm)(size_t m, size_t n, const float *x, const float *gain, const float *shift,
                       float *y, float *stats);
    /* dx may be dy. */
    void (*layer_norm_backward)(size_t m, size_t n, const float *x, const float *gain,
                                const float *stats, const float *dy, float *dx, float *dgain,
                                float *dshift);

    /* y = base + max(0, layer_norm x), in the same steps; y may be x. */
    void (*norm_residual)(size_t m, size_t n, const float *x, const float *gain, const float *shift,
                          const float *base, size_t ld_base, float *y);

    /* In place: x = max(0, x), and dy = 0 where y is 0. */
    void (*relu)(size_t n, float *x);
    void (*relu_backward)(size_t n, const float *y, float *dy);

    /* PyTorch's GRU cell after its two products: gi = W_i z + b_i and gh = W_h h + b_h, both
     * [m x 3d] in the order reset, update, new.
     *   r = sigmoid(gi_r + gh_r)  u = sigmoid(gi_u + gh_u)  n = tanh(gi_n + r gh_n)
     *   out = (1 - u) n + u h
     * gates[m x 3d] gets r, u, n for backward; may be NULL. out may be h. */
    void (*gru)(size_t m, size_t d, const float *gi, const float *gh, const float *h, float *out,
                float *gates);
    /* dh gets only the direct part u dout: the caller adds W_h' dgh. */
    void (*gru_backward)(size_t m, size_t d, const float *gates, const float *gh, const float *h,
                         const float *dout, float *dgi, float *dgh, float *dh);

    /* acc[i] = max(acc[i], x[i]); with arg: arg[i] = index where x[i] is greater than acc[i]. */
    void (*max)(size_t n, const float *x, float *acc);
    void (*max_index)(size_t n, const float *x, uint32_t index, float *acc, uint32_t *arg);

    void (*add)(size_t n, const float *x, float *acc);                      /* acc += x */
    void (*add_to)(size_t n, const float *x, const float *y, float *out);   /* out = x + y */
    void (*scale)(size_t n, float factor, float *x);                        /* x *= factor */
    void (*add_scaled)(size_t n, float factor, const float *x, float *acc); /* acc += factor x */
    float (*dot)(size_t n, const float *x, const float *y);
    /* out[i] = x[i][0..n) . w for m rows. */
    void (*dot_rows)(size_t m, size_t n, const float *x, size_t ldx, const float *w, float *out);

    /* For each of n nodes (NULL: the first n), with S = sum of in[source] over a group:
     *   out[node] += vectors[relation] * S    dvectors[relation] += states[node] * S */
    void (*gather)(const acq_messages *m, size_t n, const uint32_t *nodes);
    /* The same for networks that only run: row i of out is that of nodes[i], overwritten; dvectors
     * is not looked at. For states that do not stay in the cache. */
    void (*gather_rows)(const acq_messages *m, size_t n, const uint32_t *nodes);
    /* The same edges the other way: for every source of each node
     *   out[source] += vectors[relation] * in[node]
     *   dvectors[relation] += in[node] * states[source] */
    void (*scatter)(const acq_messages *m, size_t n, const uint32_t *nodes);

    /* Mean, max, min and standard deviation (each m->width numbers of out) of the messages
     * in[source] * vectors[relation] to a node, of the boundary and of zeros. m->out is not used;
     * backward takes it for the slope by in. A variance below 1e-6 counts as that. */
    void (*pna)(const acq_messages *m, uint32_t node, const acq_pna_start *start, float *out);
    /* Adds to m->out[source], m->dvectors and start->dboundary; of equal extremes the first one
     * gets the slope. */
    void (*pna_backward)(const acq_messages *m, uint32_t node, const acq_pna_start *start,
                         const float *out, const float *dout);

    /* out = x y for n complex numbers, real parts at x[0..n), imaginary ones at x[half..half + n),
     * and so for y and out; CONJUGATE: x conj(y); ADD: added to what out holds. */
    void (*complex_product)(size_t n, size_t half, const float *x, const float *y, unsigned flags,
                            float *out);

    /* To bfloat16 (bf16.h): out[i] = x[i], and out[2 i], out[2 i + 1] = x[i], y[i]. Finite values
     * are rounded as acq_bf16_from_float rounds them. */
    void (*narrow)(size_t n, const float *x, uint16_t *out);
    void (*narrow_pairs)(size_t n, const float *x, const float *y, uint16_t *out);

    float (*find_max)(size_t n, const float *x); /* -inf when n is 0 */
    /* x = exp(x - shift), where the argument is clipped at +-87; returns the sum. */
    float (*exp_sum)(size_t n, float shift, float *x);

    /* n complex numbers x as above, g = gradient + slope of n3 * sum of |x|^3:
     *   squares += g^2    x -= rate * g / (sqrt(squares) + 1e-10) */
    void (*adagrad_n3)(size_t n, size_t half, float rate, float n3, const float *gradient,
                       float *squares, float *x);
} acq_kernels;

/* One table per instruction set; those of x86-64 are there only. */
extern const acq_kernels acq_kernels_generic;
extern const acq_kernels acq_kernels_avx2;
extern const acq_kernels acq_kernels_avx512;

/* The widest set that works here and that acq_cpu_limit allows; the same pointer every time, from
 * any thread. */
const acq_kernels *acq_kernels_get_best(void);

/* By name, for tests and benchmarks; NULL when unknown, or when this processor lacks it or the
 * limit forbids it. */
const acq_kernels *acq_kernels_find(const char *name);

#endif
