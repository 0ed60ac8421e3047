/* wide_tile.h - the tile of 12 x 32 for processors with 32 registers of 16 floats. */
#ifndef ACQ_TENSOR_WIDE_TILE_H
#define ACQ_TENSOR_WIDE_TILE_H

#define LANES       16
#define TILE_ROWS   12
#define TILE_PANELS 2

#endif
