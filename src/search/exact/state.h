/* state.h - where a search stands: a domain per node, a trail to undo, a queue of changes.
 *
 *   domains  node -> sorted values (in the arena), or "all entities" without a list
 *   trail    (node, old domain), newest last
 *   queue    nodes whose domain changed since their neighbours were revised
 *
 * Domains only shrink; shrinking writes a new list and keeps the old one for the trail, so undo
 * is a matter of pointers: reset the arena to its mark and pop the trail. A node is fixed when
 * its list has one value. */
#ifndef ACQ_SEARCH_EXACT_STATE_H
#define ACQ_SEARCH_EXACT_STATE_H

#include "graph/links.h"
#include "search/literal.h"
#include "search/search.h"

/* ---- sets ----
 *
 * Sets of entities: a scratch set, and sorted lists against rows of links.
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

/* ---- state ---- */

/* ---- model ----
 *
 * a problem compiled for constraint search: variables, arcs between them, clauses.
 *
 * Unit equalities are solved first: variables that must be equal become one node, or a value.
 * All binary literals between the same two nodes form one edge, so that parallel atoms are
 * judged together; identical atoms are kept once. A node that hangs on one other node by a
 * single positive atom and nothing else is a leaf: its neighbour's support says all about it,
 * so it is left out of the search and gets its value at the end.
 *
 *   node x ──edge── node y      edge: positive atoms | negated atoms | "differ"
 *     │ unary: rows of constants, excluded rows and values, loops r(x,x) */

typedef struct model_atom {
    const acq_links *xy; /* from the edge's x to its y */
    const acq_links *yx;
} model_atom;

typedef struct model_edge {
    uint32_t x, y;           /* nodes, x < y */
    const model_atom *atoms; /* positive ones first */
    uint32_t n_positive, n_negated;
    bool differ;
} model_edge;

/* Is one atom the whole constraint? Then a common member is a support. */
static inline bool is_simple(const model_edge *edge)
{
    return edge->n_positive == 1 && edge->n_negated == 0 && !edge->differ;
}

typedef enum unary_kind {
    UNARY_ROW,     /* value is in row */
    UNARY_NOT_ROW, /* value is not in row */
    UNARY_LOOP,    /* r(x, x) */
    UNARY_NOT_LOOP,
    UNARY_NOT_VALUE,
} unary_kind;

typedef struct model_unary {
    unary_kind kind;
    acq_row row;
    const acq_links *links;
    acq_ent value;
    struct model_unary *next;
} model_unary;

typedef struct model_node {
    model_unary *unaries;
    const model_edge **edges; /* of this node */
    uint32_t n_edges;
    uint32_t *clauses; /* indices of clauses that mention it */
    uint32_t n_clauses;
    bool is_free;
    bool is_leaf;
} model_node;

typedef struct model_literal {
    bool is_equality, is_negated;
    acq_rel relation;
    acq_place left, right; /* node numbers or entities */
    const acq_links *forward, *backward;
} model_literal;

typedef struct model_branch {
    acq_branch_kind kind;
    model_literal literal;
    struct model_branch **children;
    uint32_t n_children;
} model_branch;

typedef struct model_clause {
    model_branch *root;
    uint32_t *nodes; /* distinct */
    uint32_t n_nodes;
    uint32_t n_literals;
} model_clause;

typedef struct model {
    uint32_t n_entities;
    uint32_t n_nodes;
    model_node *nodes;
    model_edge *edges;
    uint32_t n_edges;
    model_clause *clauses;
    uint32_t n_clauses;
    model_literal *ground; /* literals without variables */
    uint32_t n_ground;
    acq_place *places; /* of each variable of the problem: its node or its value */
    bool is_binary;    /* every link scores 1: one threshold decides everything */
    bool is_false;     /* contradictory equalities */
} model;

/* Everything is allocated in `arena`. keep_free: free variables are never leaves, because their
 * values are enumerated. */
acq_status acq_exact_model_build(const acq_problem *problem, const acq_predictor *predictor,
                                 bool keep_free, acq_arena *arena, model *out, acq_error *error);

typedef struct domain {
    const acq_ent *values;
    uint32_t n;
    bool is_all;
} domain;

typedef struct change {
    uint32_t node;
    domain old;
} change;

enum { ACQ_EXACT_LEVEL_BYTES = 88 }; /* about the size of a solve_level */

typedef struct state {
    const model *m;
    acq_cutoff cut;
    acq_arena *arena;
    domain *domains;
    change *trail;
    size_t n_trail, trail_capacity;
    uint32_t *queue;
    uint32_t n_queue;
    bool *queued;
    members members; /* scratch set of entities */
    uint32_t *marks; /* scratch stamp per node */
    uint32_t *clause_marks;
    uint32_t mark;           /* the latest stamp of both */
    uint32_t *order;         /* scratch list of nodes */
    uint32_t *counts;        /* scratch count per node */
    struct component *found; /* scratch of acq_exact_solve */
    size_t found_capacity;
    struct solve_level *levels; /* of acq_exact_solve */
    size_t n_levels, levels_capacity;
    size_t other_memory; /* bytes held elsewhere for the same search */
    acq_budget *budget;
    acq_status status; /* ACQ_ERR_MEMORY once an allocation failed */
    uint64_t nodes, revisions;
    acq_arena_mark base; /* where the arena stands before any search */
} state;

typedef struct state_mark {
    acq_arena_mark arena;
    size_t n_trail;
} state_mark;

/* Allocates what the state needs in `arena`; the trail is on the heap: deinit frees it. */
acq_status acq_exact_state_init(state *s, const model *m, acq_arena *arena, acq_budget *budget);
void acq_exact_state_deinit(state *s);

static inline bool is_fixed(const state *s, uint32_t node)
{
    return s->domains[node].n == 1 && !s->domains[node].is_all;
}

/* Bytes that count against the memory budget. */
size_t acq_exact_get_memory(const state *s);

/* False once the budget is spent or memory is out: every loop stops then. */
bool acq_exact_go_on(state *s, size_t work);

state_mark acq_exact_get_mark(const state *s);
void acq_exact_undo(state *s, state_mark mark);
void acq_exact_undo_all(state *s);

/* A list of up to n values to be filled, then shrunk by set_domain. NULL: memory is out. */
acq_ent *acq_exact_new_list(state *s, uint32_t n);

/* Empties s->members for up to n of them. False: memory is out. */
bool acq_exact_open_members(state *s, size_t n);

/* Makes list[0..n) the domain of node, records the old one and queues the node. list must come
 * from the latest new_list. False when n is 0 or memory is out. */
bool acq_exact_set_domain(state *s, uint32_t node, acq_ent *list, uint32_t n);

/* Fixes the node to one value. */
bool acq_exact_fix(state *s, uint32_t node, acq_ent value);

/* A new stamp for marks and clause_marks: nothing carries it. */
void acq_exact_renew_mark(state *s);

void acq_exact_enqueue(state *s, uint32_t node);

/* what is done with a state: starting domains, arc consistency, clauses, branching. */

/* ---- start.c, revise.c: arc consistency, a node's domain by what its neighbour still allows ----
 */

/* The starting domain of every node from constants, supports and loops, arc consistent as far as
 * edges go; false: one is empty. Nodes without a positive literal keep all entities, and nodes
 * that acq_exact_restrict has fixed before keep their value. */
bool acq_exact_start(state *s);

/* Does the node's own part of the query (constants, loops, exclusions) allow the value? */
bool acq_exact_allows(const state *s, uint32_t node, acq_ent value);

/* Fixes the node to a value if its domain still has it; false otherwise. */
bool acq_exact_restrict(state *s, uint32_t node, acq_ent value);

/* Keeps the values of the edge's other node that `source` supports. A fixed source filters by
 * every literal of the edge; an open one only where the edge has a positive atom. */
bool acq_exact_revise(state *s, const model_edge *edge, uint32_t source);

/* The smallest value of the edge's other node, which has a list, that goes with this one of `node`.
 * The edge has a positive atom. False: there is none, or the budget is spent. */
bool acq_exact_find_support(state *s, const model_edge *edge, uint32_t node, acq_ent value,
                            acq_ent *out);

/* Revises until nothing changes. False: some domain became empty, or the budget is spent. */
bool acq_exact_propagate(state *s);

/* The same without clauses. */
bool acq_exact_propagate_edges(state *s);

/* ---- clause.c: disjunctions as constraints, without multiplying them out ----
 *
 * A branch is possible while no fixed node contradicts it. A clause filters each open node by
 * "would it still be possible with this value", and gives a node that ranges over all entities
 * the union of what its disjuncts allow, where each of them allows a list (constructive
 * disjunction); so anchored disjunctions cost what their rows cost. */

bool acq_exact_revise_clause(state *s, const model_clause *clause);

/* True whatever the open nodes become. */
bool acq_exact_clause_is_certain(const state *s, const model_clause *clause);

/* Ground literals hold, and no clause is impossible from the start. */
bool acq_exact_start_clauses(state *s);

/* ---- solve.c: is the problem satisfiable at the state's cutoff? And-or search over domains ----
 */

/* From a propagated state: fixes nodes[0..n), true with every one of them fixed; or false with
 * the state to be undone by the caller. The list is reordered. */
bool acq_exact_solve(state *s, uint32_t *nodes, uint32_t n);

/* All open nodes hang on `node` in one tree, and the state is propagated: then each of its values
 * can be extended, by one support after the other. */
typedef struct tree_step {
    const model_edge *edge;
    uint32_t from, to; /* has a value already, and gets one */
} tree_step;

typedef struct tree_plan {
    uint32_t root;
    tree_step *steps; /* in the state's arena; NULL: it is not so, or not worth it */
    uint32_t n_steps;
} tree_plan;

tree_plan acq_exact_plan_tree(state *s, uint32_t node);

/* Fixes the root to the value and every other node by its step, as acq_exact_solve would. Nothing
 * is queued then. False: there is no support (which is not expected), or the budget is spent. */
bool acq_exact_follow_tree(state *s, const tree_plan *plan, acq_ent value);

/* All nodes that take part in the search, in the state's arena; NULL: memory is out. */
uint32_t *acq_exact_list_nodes(state *s, uint32_t *n);

/* The values of node in turn: a cursor over a list or over all entities. */
typedef struct value_cursor {
    uint32_t node;
    domain values;
    uint32_t next;
} value_cursor;

value_cursor acq_exact_values(const state *s, uint32_t node);
bool acq_exact_next_value(const state *s, value_cursor *cursor, acq_ent *value);

#endif
