/* members.h - a scratch set of entities whose cost follows its members, not the graph.
 *
 * Up to ACQ_EXACT_BITMAP_ENTITIES entities: a bitmap, with a list of its words that are not zero,
 * so that clearing costs what filling did. Beyond: a hash table with room for twice the members,
 * open addressing, id + 1 in a slot, 0 when it is free.
 *
 * Each use begins with open(n): an empty set for at most n members. */
#ifndef ACQ_SEARCH_EXACT_MEMBERS_H
#define ACQ_SEARCH_EXACT_MEMBERS_H

#include "base/types.h"

#ifndef ACQ_EXACT_BITMAP_ENTITIES
#define ACQ_EXACT_BITMAP_ENTITIES (1U << 18)
#endif

typedef struct members {
    uint64_t *bits;    /* NULL: the table is used */
    uint32_t *touched; /* words of bits that are not 0 */
    uint32_t n_touched;
    uint32_t *slots;
    uint32_t mask; /* slots in use - 1 */
    size_t capacity;
} members;

/* deinit also after a failure. */
acq_status acq_exact_members_init(members *set, uint32_t n_entities);
void acq_exact_members_deinit(members *set);

/* An empty set for at most n members. O(n + members before). */
acq_status acq_exact_members_open(members *set, size_t n);

size_t acq_exact_members_get_memory(const members *set, uint32_t n_entities);

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

#endif
