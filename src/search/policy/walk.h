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

#include "base/hash.h"
#include "search/search.h"

/* ---- board ----
 *
 * The computational graph of a query (paper, section 4.1): what stays during a search.
 *
 *   terms     the variables that occur and the constants, each entity once; variables first
 *   literals  the literals of the problem, those inside clauses too, each once
 *   nodes     one per top-level literal and one per clause (a literal of higher arity)
 *   edges     (term, node) where the node mentions the term; listed per term
 *
 * Two literals that say the same, r(x,y) and inverse(r)(y,x) included, are one: their nodes have
 * the same neighbours and labels, and every aggregation is a maximum, so nothing changes.
 *
 * PE label of (node, value a of term z): can the node hold with z = a?
 *   r(z, y)            1 when a heads a link of r whose score lets the literal hold; other
 *                      constants are ignored (per relation, side and value)
 *   r(z, z)            1 when r(a, a) lets it hold
 *   negated, z = y     1 (negated r(z, z) too)
 *   clause             its tree over these; a literal without z: 1 when any link of r lets it
 *                      hold, or when it is negated
 * The links are those of the predictor, or of the observed graph (closed-world approximation). */

typedef enum acq_pe { ACQ_PE_EXACT, ACQ_PE_OBSERVED, ACQ_PE_NONE } acq_pe; /* NONE: all 0 */

/* A literal at one of its terms: which values of the term make it hold depends on the other. */
typedef struct acq_board_touch {
    uint32_t literal;
    uint32_t other; /* term at the other end; the term itself for r(z,z) */
    bool at_left;   /* the term is the head */
} acq_board_touch;

typedef struct acq_board_term {
    uint32_t variable; /* of the problem; ACQ_NO_ID: a constant */
    acq_ent value;     /* of a constant */
    uint32_t n_touches;
    const acq_board_touch *touches; /* one per literal that mentions the term */
} acq_board_term;

typedef struct acq_board_literal {
    acq_literal literal;
    uint32_t left, right;   /* terms */
    const acq_links *links; /* of the relation, of its inverse; NULL for equalities */
    const acq_links *inverse;
    const acq_links *pe_links; /* the same where PE labels come from; NULL: ACQ_PE_NONE too */
    const acq_links *pe_inverse;
    float cut;        /* a link decides it (holds, or fails if negated) from this score on */
    bool is_possible; /* by PE: some pair of entities may make it hold */
} acq_board_literal;

typedef struct acq_board_node {
    const acq_branch *tree; /* NULL: a literal */
    uint32_t literal;       /* its number, or */
    const uint32_t *leaves; /* the literal numbers of the tree's leaves from left to right */
    uint32_t n_leaves;
} acq_board_node;

/* A leaf of a clause that mentions a term, by its number among the leaves and the touches. */
typedef struct acq_board_leaf {
    uint32_t leaf, touch;
} acq_board_leaf;

typedef struct acq_board {
    acq_arena arena;
    const acq_predictor *predictor;
    acq_scoring scoring;
    acq_pe pe;
    uint32_t n_entities, n_variables; /* of the problem */
    uint32_t n_terms, n_free_terms;   /* the first n_free_terms are variables */
    acq_board_term *terms;
    uint32_t n_literals;
    acq_board_literal *literals;       /* the top-level ones first */
    uint32_t n_nodes, n_literal_nodes; /* node i < n_literal_nodes is literal i; then clauses */
    acq_board_node *nodes;
    /* Edges of term t: edge_nodes[first_edges[t] .. first_edges[t + 1]). */
    uint32_t *first_edges, *edge_nodes;
    /* By node, so edge j < n_literal_edges[t] is at touch j, and the rest are clauses, */
    uint32_t *n_literal_edges;
    /* whose leaves with the term are edge_leaves[first_leaves[e] .. first_leaves[e + 1]). */
    uint32_t *first_leaves;
    acq_board_leaf *edge_leaves;
    uint32_t most_edges;  /* of one term */
    uint32_t most_inner;  /* of one term: touches of literals that are only inside clauses */
    uint32_t most_leaves; /* of one clause */
    /* No assignment scores more: what is known from single literals (their best link, the row of
     * a constant). Below the threshold there is no answer, and `why` is the number of a literal
     * that says so (ACQ_NO_ID: a clause, or none). */
    double bound;
    uint32_t why;
} acq_board;

/* The problem and the predictor must outlive the board. Opens the links of its relations. A
 * problem whose free variables were fixed has them as constants already. */
acq_status acq_board_new(const acq_problem *problem, const acq_predictor *predictor,
                         const acq_scoring *scoring, acq_pe pe, acq_board **out, acq_error *error);
void acq_board_free(acq_board *board);

/* What acq_board_new begins with (board_build.c): terms, literals without links, nodes, edges.
 * Fails only when memory is out. */
acq_status acq_board_build(const acq_problem *problem, acq_board *board);

/* Does the literal hold for these two values (score at or above the threshold in force)? */
bool acq_board_holds(const acq_board *board, uint32_t literal, acq_ent left, acq_ent right);

/* PE label of value a of a term at its edge j, from the definition: O(edges of the literal). The
 * walk computes them for whole classes; this is what it must agree with. */
bool acq_board_is_potential(const acq_board *board, uint32_t term, uint32_t j, acq_ent a);

/* ---- walk ---- */

typedef struct acq_walk_members acq_walk_members; /* of one variable */

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

/* ---- choice ----
 *
 * From logits to a value: a clipped softmax over classes, weighted by their sizes.
 *
 *   o'(c) = max(o(c) - max over the term of o, -100)    p(value in c) = exp o'(c) / sum size exp o'
 *
 * In double: exp(-100) is no normal float. Every value keeps at least e^-100 / |D|. */

/* Probability of one member of each class, by class number; the sum of size * p over the classes
 * of a term is 1. logits are those of the walk's rows. totals has room for the terms. */
void acq_choice_get_probabilities(const acq_walk *walk, const float *logits, double *p,
                                  double *totals);

/* Draws every free term from p: a class, then a member. Random numbers depend on (seed, stream,
 * step, term) alone. chosen gets the class of each free term; room is for n_terms doubles. */
void acq_choice_draw(const acq_walk *walk, const double *p, uint64_t seed, uint64_t stream,
                     uint64_t step, acq_ent *values, uint32_t *chosen, double *room);

/* dlogits of weight * sum over free terms of log(p(chosen) + floor), added to dlogits; room is for
 * 3 n_terms doubles. */
void acq_choice_backward(const acq_walk *walk, const float *logits, const double *p,
                         const uint32_t *chosen, double floor, double weight, double *room,
                         float *dlogits);

/* sum over free terms of log(p(chosen) + floor). */
double acq_choice_get_log(const acq_walk *walk, const double *p, const uint32_t *chosen,
                          double floor);

/* ---- inside ----
 *
 * What walk.c stands on: the members of classes, by partition refinement
 * (walk.c), and the labels of edges, per class (walk_labels.c).
 *
 *   slots   [ 5 | 9 | 2 | 7 | 1 | 8 ]      values that ever differed from the rest
 *             \__a__/   \__b__/  c         a class is a segment
 *   where   entity -> 1 + slot; 0: never touched, a member of `rest`
 *
 * Splitting by a set moves the members it hits to the front of their segments; a segment that is
 * hit in part is cut there, and its front becomes a new class. */

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
