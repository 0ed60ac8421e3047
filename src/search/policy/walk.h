/* walk.h - a search on a board: the current assignment and the classes of values.
 *
 * Two values of a term are in one class while they have had the same PE labels, the same LE
 * labels at every step and have been assigned at the same steps: then the network cannot tell
 * them apart (exact lumping). A step changes the assignment; the labels that depend on it are
 * updated for the literals it touches, and classes whose members begin to differ are split.
 *
 *   classes of all terms in one numbering, 0 .. n_classes-1, never renumbered:
 *   class_terms   [ 0 | 0 | 1 | 2 | 0 | ... ]     term
 *   sizes         [14k| 12| 1 | ...         ]     members; the sum over a term is its domain
 *   assigned      [ 0 | 1 | 1 |             ]     its one member is the current value
 *   labels        most_edges bytes per class: 2 * PE + LE at each edge of its term
 *   origins       the class that held its members before the last set; itself if it is older
 *
 * Members are kept per variable by partition refinement: `order` is a permutation of the values
 * that ever differed from the rest, each class a segment of it; values never touched are the
 * implicit members of the variable's first class ("rest"), so cost and memory follow the values
 * touched and not the number of entities. Splitting by a set costs the size of the set.
 * Every class has at least one member: a set that covers a class does not split it. */
#ifndef ACQ_SEARCH_POLICY_WALK_H
#define ACQ_SEARCH_POLICY_WALK_H

#include "base/random.h"
#include "search/policy/board.h"

typedef struct acq_walk_members acq_walk_members; /* of one variable; walk_parts.h */

typedef struct acq_walk {
    const acq_board *board;
    acq_ent *values; /* of the terms; constants included */
    uint32_t n_classes;
    uint32_t n_before; /* n_classes before the last set; 0 after init */
    uint32_t *class_terms, *sizes, *origins;
    uint8_t *assigned;
    uint8_t *labels; /* n_classes * board->most_edges */
    /* inside */
    size_t capacity;   /* of classes; one block, class_terms is its start */
    uint8_t *inner;    /* most_inner per class: the same for literals only inside clauses */
    uint32_t *starts;  /* of each class: its first slot; unused for rest and constants */
    uint32_t *next;    /* of each class: another one of its term; ACQ_NO_ID: the last */
    uint32_t *hits;    /* of each class: members hit by the split in progress, else 0 */
    uint32_t *covered; /* the classes that the set of the last split consists of */
    acq_ent *list;     /* scratch: a row without the links whose score is too low */
    size_t list_capacity;
    acq_walk_members *members; /* of the free terms; values and the next three are in its block */
    bool *holds;               /* per literal: under the current assignment */
    bool *changed;             /* per term: by the set in progress */
    uint8_t *leaves;           /* scratch: truths of the leaves of a clause */
    bool is_set;
    size_t bytes; /* held */
} acq_walk;

/* The classes by PE labels alone: no assignment yet, LE labels 0. There must be an entity. O(heads
 * of the links of the literals). */
acq_status acq_walk_init(acq_walk *walk, const acq_board *board);
/* Another walk in the same state: O(values touched) and at most 3 + n_free_terms allocations. from
 * must not have been set yet. */
acq_status acq_walk_init_copy(acq_walk *walk, const acq_walk *from);
void acq_walk_deinit(acq_walk *walk); /* a zeroed one is legal */

/* Every free term to a value uniform over all entities. */
void acq_walk_draw_uniform(const acq_walk *walk, acq_random *random, acq_ent *values);

/* Assigns values[0 .. n_free_terms) and updates classes and labels: O(rows of the values that
 * changed + touches * classes). On ACQ_ERR_MEMORY the walk can only be freed. */
acq_status acq_walk_set(acq_walk *walk, const acq_ent *values);

/* A member of a class, uniform. */
acq_ent acq_walk_draw_member(const acq_walk *walk, uint32_t class_number, acq_random *random);

/* The class of a value of a term. */
uint32_t acq_walk_find_class(const acq_walk *walk, uint32_t term, acq_ent value);

/* values of the terms to values of the problem's variables (ACQ_NO_ID: does not occur). */
void acq_walk_get_assignment(const acq_walk *walk, acq_ent *values);

/* NULL, or which invariant does not hold; O(terms * entities), for tests. */
const char *acq_walk_check(const acq_walk *walk);

#endif
