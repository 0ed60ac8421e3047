/* pieces.c - see pieces.h. */
#include "models/ultra/pieces.h"

#include "base/memory.h"

enum { ALIGNMENT = 64, STRIDE = ALIGNMENT / sizeof(float) };

static size_t round_up(size_t n_floats)
{
    return (n_floats + STRIDE - 1) / STRIDE * STRIDE;
}

acq_status acq_pieces_allocate(const acq_piece *pieces, size_t n, void **block)
{
    size_t total = STRIDE;
    for (size_t i = 0; i < n; i++)
        total += round_up(pieces[i].n_floats);
    *block = acq_zalloc(total, sizeof(float));
    if (*block == NULL)
        return ACQ_ERR_MEMORY;
    size_t past = (uintptr_t)*block % ALIGNMENT;
    float *next = (float *)((char *)*block + (ALIGNMENT - past) % ALIGNMENT);
    for (size_t i = 0; i < n; i++) {
        *pieces[i].at = next;
        next += round_up(pieces[i].n_floats);
    }
    return ACQ_OK;
}
