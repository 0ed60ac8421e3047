/* sets.h - sets of entities: a scratch set, and sorted lists against rows of links.
 *
 * members  a set whose cost follows its members, not the graph. Up to ACQ_EXACT_BITMAP_ENTITIES
 *          entities: a bitmap, with a list of its words that are not zero, so that clearing costs
 *          what filling did. Beyond: a hash table with room for twice the members, open addressing,
 *          id + 1 in a slot, 0 when it is free. Each use begins with open(n): an empty set for at
 *          most n members. The first one allocates; many searches never need it.
 *
 * lists    sizes differ by orders of magnitude in practice, so each operation walks the smaller
 *          side and gallops through the larger one. `out` may be `set` itself. All return the size
 *          of the result. */
#ifndef ACQ_SEARCH_EXACT_SETS_H
#define ACQ_SEARCH_EXACT_SETS_H

#include "graph/links.h"
#include "search/literal.h"

#ifndef ACQ_EXACT_BITMAP_ENTITIES
#define ACQ_EXACT_BITMAP_ENTITIES (1U << 18)
#endif

typedef struct members {
    uint32_t n_entities;
    uint64_t *bits;    /* NULL: the table is used */
    uint32_t *touched; /* words of bits that are not 0 */
    uint32_t n_touched;
    uint32_t *slots;
    uint32_t mask; /* slots in use - 1 */
    size_t capacity;
} members;

void acq_exact_members_init(members *set, uint32_t n_entities);
void acq_exact_members_deinit(members *set);

/* An empty set for at most n members. O(n + members before). */
acq_status acq_exact_members_open(members *set, size_t n);

size_t acq_exact_members_get_memory(const members *set);

/* Fibonacci hashing: neighbouring ids, which are common, go far apart. */
static inline uint32_t members_slot(const members *set, acq_ent e)
{
    uint32_t slot = (uint32_t)((e * 0x9e3779b97f4a7c15ULL) >> 32) & set->mask;
    while (set->slots[slot] != 0 && set->slots[slot] != e + 1)
        slot = (slot + 1) & set->mask;
    return slot;
}

static inline bool members_has(const members *set, acq_ent e)
{
    if (set->bits != NULL)
        return (set->bits[e >> 6] >> (e & 63)) & 1;
    return set->slots[members_slot(set, e)] != 0;
}

static inline void members_add(members *set, acq_ent e)
{
    if (set->bits == NULL) {
        set->slots[members_slot(set, e)] = e + 1;
        return;
    }
    if (set->bits[e >> 6] == 0)
        set->touched[set->n_touched++] = e >> 6;
    set->bits[e >> 6] |= 1ULL << (e & 63);
}

/* First index at or behind `from` with values[index] >= wanted, or n. O(log of the distance). */
uint32_t acq_exact_seek(const acq_ent *values, uint32_t from, uint32_t n, acq_ent wanted);

/* Is a so much longer than b that seeking in it beats walking along it? */
#ifndef ACQ_EXACT_FAR
#define ACQ_EXACT_FAR 8
#endif
static inline bool acq_exact_is_far_longer(size_t a, size_t b)
{
    return a / ACQ_EXACT_FAR > b;
}

/* Members with a positive literal: set & row. out: min(n, row.n). */
uint32_t acq_exact_keep_row(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out);

/* Members without a link that makes the negated literal false: set \ row. out: n. */
uint32_t acq_exact_drop_row(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out);

/* Tails of a row whose score makes the positive literal true. out: row.n. */
uint32_t acq_exact_copy_row(acq_row row, const acq_cutoff *cut, acq_ent *out);

/* Union of two sets. out: n + m, distinct from both. */
uint32_t acq_exact_unite(const acq_ent *a, uint32_t n, const acq_ent *b, uint32_t m, acq_ent *out);

/* Ascending order; scratch has room for n. O(n) per byte of the largest value. */
void acq_exact_sort(acq_ent *set, acq_ent *scratch, uint32_t n);

#endif
