/* walk_parts.h - what walk.c stands on: the members of classes, by partition refinement
 * (walk_members.c), and the labels of edges, per class (walk_labels.c).
 *
 *   slots   [ 5 | 9 | 2 | 7 | 1 | 8 ]      values that ever differed from the rest
 *             \__a__/   \__b__/  c         a class is a segment
 *   where   entity -> 1 + slot; 0: never touched, a member of `rest`
 *
 * Splitting by a set moves the members it hits to the front of their segments; a segment that is
 * hit in part is cut there, and its front becomes a new class. */
#ifndef ACQ_SEARCH_POLICY_WALK_PARTS_H
#define ACQ_SEARCH_POLICY_WALK_PARTS_H

#include "search/policy/walk.h"

typedef struct acq_walk_slot {
    acq_ent value;
    uint32_t class_number;
} acq_walk_slot;

struct acq_walk_members {
    uint32_t *where; /* zeroed pages that are never touched cost nothing */
    acq_walk_slot *slots;
    size_t n_slots, capacity;
    uint32_t rest;    /* the class of the untouched values; ACQ_NO_ID: all are touched */
    uint32_t current; /* the class of the value assigned; ACQ_NO_ID: none yet */
};

/* Makes room for n classes in all. */
acq_status acq_walk_reserve_classes(acq_walk *walk, size_t n);

/* Into a walk without classes. */
acq_status acq_walk_copy_classes(acq_walk *walk, const acq_walk *from);

/* The first class of a term is the term's number; room must be there. */
void acq_walk_add_first_class(acq_walk *walk, uint32_t term, uint32_t size);

/* Splits the classes of a free term so that the set is a union of classes, and lists these in
 * walk->covered. The values are distinct. O(n). */
acq_status acq_walk_split(acq_walk *walk, uint32_t term, const acq_ent *set, size_t n,
                          uint32_t *n_covered);

/* ---- labels ---- */

/* Splits by PE and sets the PE labels; LE labels stay 0. */
acq_status acq_walk_add_potential(acq_walk *walk);

/* LE labels at the touches whose other end changed, splitting by their rows, and those of the
 * clauses; walk->values, holds and changed are those of the new assignment. The value assigned
 * may be split off afterwards: it takes its labels along. */
acq_status acq_walk_update_labels(acq_walk *walk);

#endif
