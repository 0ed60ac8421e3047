/* bf16_emulated.c - see bf16_emulated.h. */
#include "support/bf16_emulated.h"

#include <string.h>

typedef union emulated_tile {
    float sums[16][16];
    acq_bf16 values[16][32];
} emulated_tile;

static _Thread_local emulated_tile tiles[8];

static void load_tile(size_t t, const void *at, size_t step)
{
    for (size_t i = 0; i < 16; i++)
        memcpy(tiles[t].values[i], (const char *)at + i * step, 64);
}

static void store_tile(size_t t, void *at, size_t step)
{
    for (size_t i = 0; i < 16; i++)
        memcpy((char *)at + i * step, tiles[t].sums[i], 64);
}

/* Pairs of rows of b stand side by side, as pairs of columns of a do. */
static void dot_tiles(size_t c, size_t a, size_t b)
{
    for (size_t i = 0; i < 16; i++)
        for (size_t l = 0; l < 32; l++)
            for (size_t j = 0; j < 16; j++)
                tiles[c].sums[i][j] += acq_bf16_to_float(tiles[a].values[i][l]) *
                                       acq_bf16_to_float(tiles[b].values[l / 2][2 * j + l % 2]);
}

#define GEMM                    acq_bf16_gemm_emulated
#define TILES_BEGIN             memset(tiles, 0xff, sizeof tiles)
#define TILES_END               memset(tiles, 0xff, sizeof tiles)
#define TILE_ZERO(t)            memset(&tiles[t], 0, sizeof tiles[t])
#define TILE_LOAD(t, at, step)  load_tile(t, at, step)
#define TILE_DOT(c, a, b)       dot_tiles(c, a, b)
#define TILE_STORE(t, at, step) store_tile(t, at, step)
#include "tensor/bf16_tiles.inc"
