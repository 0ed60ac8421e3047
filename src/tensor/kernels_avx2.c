/* kernels_avx2.c - the kernels for AVX2 and FMA: 12 of 16 registers hold a tile of 6 x 16. */
#define TABLE       acq_kernels_avx2
#define SET_NAME    "avx2"
#define LANES       8
#define TILE_ROWS   6
#define TILE_PANELS 1
#include "tensor/kernels.inc"
