/* sort_packed.h - links as single words, head in the upper half, so that comparing words compares
 * (head, tail). Two thirds of the memory of an acq_link, and sorted without its score. */
#ifndef ACQ_STORE_IMPORT_SORT_PACKED_H
#define ACQ_STORE_IMPORT_SORT_PACKED_H

#include "base/types.h"

typedef uint64_t acq_packed;

static inline acq_packed acq_packed_make(acq_ent head, acq_ent tail)
{
    return (acq_packed)head << 32 | tail;
}

static inline acq_ent acq_packed_head(acq_packed link)
{
    return (acq_ent)(link >> 32);
}

static inline acq_ent acq_packed_tail(acq_packed link)
{
    return (acq_ent)link;
}

/* The same link, seen from its tail. */
static inline acq_packed acq_packed_turn(acq_packed link)
{
    return link << 32 | link >> 32;
}

/* Ascending; scratch has room for n. Every id is below 2^id_bits. O(n) passes over the used bits.
 */
void acq_packed_sort(acq_packed *links, acq_packed *scratch, size_t n, unsigned id_bits);

/* Leaves each of the sorted links once; returns how many are left. */
size_t acq_packed_unique(acq_packed *links, size_t n);

/* Both inputs are sorted and distinct, and so is the union in `out`; returns its size. */
size_t acq_packed_unite(const acq_packed *a, size_t n_a, const acq_packed *b, size_t n_b,
                        acq_packed *out);

#endif
