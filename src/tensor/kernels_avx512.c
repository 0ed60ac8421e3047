/* kernels_avx512.c - the kernels for AVX-512: 24 of 32 registers hold a tile of 12 x 32. */
#define TABLE    acq_kernels_avx512
#define SET_NAME "avx512"
#include "tensor/wide_tile.h"
#include "tensor/kernels.inc"
