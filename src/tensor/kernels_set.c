/* kernels_set.c - one table of kernels, compiled once for each instruction set (CMakeLists.txt),
 * with the options for that set and with -ffp-contract=fast: a * b + c is one fused step where the
 * processor has it, the same everywhere.
 *
 *   ACQ_SET                   which set: the table is acq_kernels_<set>
 *   LANES                     floats per vector: 4, 8 or 16
 *   TILE_ROWS, TILE_PANELS    the part of a product that is kept in registers: with AVX2, 12 of 16
 *                             hold a tile of 6 x 16; with AVX-512, 24 of 32 a tile of 12 x 32 */
#include "tensor/kernels.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#define UNROLL   _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")
#else
#define UNROLL   _Pragma("GCC unroll 16")
#define UNROLL_4 _Pragma("GCC unroll 4")
#endif

/* clang-format off: the parts in their order. */
#include "tensor/simd.inc"
#include "tensor/gemm.inc"
#include "tensor/layers.inc"
#include "tensor/messages.inc"
/* clang-format on */

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)     TEXT_(a)

const acq_kernels JOIN(acq_kernels_, ACQ_SET) = {
    .name = TEXT(ACQ_SET),
    .gemm = gemm,
    .gemm_weights = gemm_weights,
    .sum_rows = sum_rows,
    .layer_norm = layer_norm,
    .layer_norm_backward = layer_norm_backward,
    .norm_residual = norm_residual,
    .relu = relu,
    .relu_backward = relu_backward,
    .gru = gru,
    .gru_backward = gru_backward,
    .max = max,
    .max_index = max_index,
    .add = add,
    .add_to = add_to,
    .scale = scale,
    .add_scaled = add_scaled,
    .dot = dot,
    .dot_rows = dot_rows,
    .gather = gather,
    .gather_rows = gather_rows,
    .scatter = scatter,
    .pna = pna,
    .pna_backward = pna_backward,
    .complex_product = complex_product,
    .narrow = narrow,
    .narrow_pairs = narrow_pairs,
    .find_max = find_max,
    .exp_sum = exp_sum,
    .adagrad_n3 = adagrad_n3,
};
