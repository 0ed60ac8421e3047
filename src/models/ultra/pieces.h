/* pieces.h - several arrays of floats in one block, each on a cache line of its own. */
#ifndef ACQ_MODELS_ULTRA_PIECES_H
#define ACQ_MODELS_ULTRA_PIECES_H

#include "base/types.h"

typedef struct acq_piece {
    float **at;
    size_t n_floats;
} acq_piece;

/* Sets every *at; the floats are zero. *block is freed with acq_free. */
acq_status acq_pieces_allocate(const acq_piece *pieces, size_t n, void **block);

#endif
