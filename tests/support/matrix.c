/* matrix.c - see matrix.h. */
#include "support/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GUARD = 37 }; /* odd: a row may start anywhere */

static const uint32_t guard_bits = 0x7fc0dead;

static size_t count_floats(const matrix *m)
{
    return m->rows * m->ld + 2 * GUARD;
}

static bool is_element(const matrix *m, size_t i)
{
    return i >= GUARD && i < GUARD + m->rows * m->ld && (i - GUARD) % m->ld < m->cols;
}

matrix matrix_new(acq_random *random, size_t rows, size_t cols, size_t ld, double scale)
{
    matrix m = {.rows = rows, .cols = cols, .ld = ld};
    m.block = malloc(count_floats(&m) * sizeof(float));
    assert_non_null(m.block);
    m.at = m.block + GUARD;
    for (size_t i = 0; i < count_floats(&m); i++)
        if (is_element(&m, i))
            m.block[i] = (float)((2 * acq_random_unit(random) - 1) * scale);
        else
            memcpy(&m.block[i], &guard_bits, sizeof guard_bits);
    return m;
}

matrix matrix_copy(const matrix *from)
{
    matrix m = *from;
    m.block = malloc(count_floats(&m) * sizeof(float));
    assert_non_null(m.block);
    memcpy(m.block, from->block, count_floats(&m) * sizeof(float));
    m.at = m.block + GUARD;
    return m;
}

void matrix_free(matrix *m)
{
    free(m->block);
}

void matrix_check(const matrix *m)
{
    for (size_t i = 0; i < count_floats(m); i++)
        if (!is_element(m, i))
            assert_memory_equal(&m->block[i], &guard_bits, sizeof guard_bits);
}
