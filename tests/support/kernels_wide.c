/* kernels_wide.c - the kernels with the tile of AVX-512, compiled for any processor: its logic is
 * tested also where the instructions are missing. */
#define ACQ_SET     wide
#define LANES       16
#define TILE_ROWS   12
#define TILE_PANELS 2
#include "support/kernel_list.h"
#include "tensor/kernels_set.c"
