/* matrix.h - matrices of random floats for tests of kernels.
 *
 *   NaN NaN ... [row 0: cols floats | gap to ld] [row 1 | gap] ... NaN NaN
 *
 * Everything around the elements is one not-a-number pattern: a kernel that reads it spoils its
 * result, one that writes it is found by matrix_check. Rows start off any alignment. */
#ifndef TEST_MATRIX_H
#define TEST_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

typedef struct matrix {
    float *at;
    size_t rows, cols, ld;
    float *block;
} matrix;

/* Elements uniform in (-scale, scale); ld >= cols. */
matrix matrix_new(acq_random *random, size_t rows, size_t cols, size_t ld, double scale);
matrix matrix_copy(const matrix *from);
void matrix_free(matrix *m);

static inline float matrix_get(const matrix *m, size_t row, size_t col)
{
    return m->at[row * m->ld + col];
}

void matrix_check(const matrix *m); /* fails the test when something around was written */

#endif
