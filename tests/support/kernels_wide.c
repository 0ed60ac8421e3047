/* kernels_wide.c - the kernels with the tile of AVX-512, compiled for any processor: its logic is
 * tested also where the instructions are missing. */
#define TABLE    acq_kernels_wide
#define SET_NAME "wide"
#include "support/kernel_list.h"
#include "tensor/wide_tile.h"
#include "tensor/kernels.inc"
