/* packed.h - the right-hand side of a product, laid out for the kernels.
 *
 *   b [k x n]  ->  panels of ACQ_PANEL columns:  panel p holds b[0][16p..], b[1][16p..], ...
 *
 * The last panel is filled up with zeros. Weights are packed when a model is loaded or changed. */
#ifndef ACQ_TENSOR_PACKED_H
#define ACQ_TENSOR_PACKED_H

#include "base/types.h"

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

#endif
