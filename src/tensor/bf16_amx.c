/* bf16_amx.c - the three tile operations of bf16_tiles.inc as AMX instructions.
 *
 * What is tested where: the loops, the packing and the edges of bf16_tiles.inc run in the tests on
 * every machine, on tiles emulated in software. The instructions below run only where there is
 * AMX, and there a product of whole numbers must come out right before they are used; they were
 * not run on the machine they were written on. */
#include "tensor/bf16.h"

#include <immintrin.h>

typedef struct tile_shapes { /* palette 1: rows and bytes per row of each tile */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_shapes;

_Static_assert(sizeof(tile_shapes) == 64, "the processor reads 64 bytes");

static void begin_tiles(void)
{
    tile_shapes shapes = {.palette = 1};
    for (size_t t = 0; t < 8; t++) {
        shapes.row_bytes[t] = 64;
        shapes.rows[t] = 16;
    }
    _tile_loadconfig(&shapes);
}

#define GEMM                    acq_bf16_gemm_amx
#define TILES_BEGIN             begin_tiles()
#define TILES_END               _tile_release()
#define TILE_ZERO(t)            _tile_zero(t)
#define TILE_LOAD(t, at, step)  _tile_loadd(t, at, step)
#define TILE_DOT(c, a, b)       _tile_dpbf16ps(c, a, b)
#define TILE_STORE(t, at, step) _tile_stored(t, at, step)
#include "tensor/bf16_tiles.inc"
