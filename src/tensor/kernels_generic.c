/* kernels_generic.c - the kernels for any processor: vectors of four floats, which the compiler
 * turns into what the platform has. */
#define TABLE       acq_kernels_generic
#define SET_NAME    "generic"
#define LANES       4
#define TILE_ROWS   2
#define TILE_PANELS 1
#include "tensor/kernels.inc"
