/* packed.c - see packed.h. */
#include "tensor/packed.h"

#include "base/memory.h"

enum { ALIGNMENT = 64 };

static size_t count_panels(const acq_packed *packed)
{
    return packed->n / ACQ_PANEL + (packed->n % ACQ_PANEL != 0);
}

acq_status acq_packed_init(acq_packed *packed, size_t k, size_t n)
{
    acq_packed made = {.k = k, .n = n};
    size_t lines, bytes;
    if (__builtin_mul_overflow(count_panels(&made), k, &lines) ||
        __builtin_mul_overflow(lines, ACQ_PANEL * sizeof(float), &bytes) ||
        __builtin_add_overflow(bytes, ALIGNMENT, &bytes))
        return ACQ_ERR_MEMORY;
    made.block = acq_zalloc(bytes, 1);
    if (made.block == NULL)
        return ACQ_ERR_MEMORY;
    size_t past = (uintptr_t)made.block % ALIGNMENT;
    made.panels = (float *)((char *)made.block + (ALIGNMENT - past) % ALIGNMENT);
    *packed = made;
    return ACQ_OK;
}

void acq_packed_deinit(acq_packed *packed)
{
    acq_free(packed->block);
    *packed = (acq_packed){0};
}

/* b[l][j] = w[l * row + j * column], panel by panel: what is written is in one piece. */
static void fill(acq_packed *packed, const float *w, size_t row, size_t column)
{
    float *to = packed->panels;
    for (size_t begin = 0; begin < packed->n; begin += ACQ_PANEL) {
        size_t n = packed->n - begin < ACQ_PANEL ? packed->n - begin : ACQ_PANEL;
        for (size_t l = 0; l < packed->k; l++, to += ACQ_PANEL)
            for (size_t j = 0; j < n; j++)
                to[j] = w[l * row + (begin + j) * column];
    }
}

void acq_packed_fill(acq_packed *packed, const float *w, size_t ldw)
{
    fill(packed, w, 1, ldw);
}

void acq_packed_fill_transposed(acq_packed *packed, const float *w, size_t ldw)
{
    fill(packed, w, ldw, 1);
}
