/* model.h - a problem compiled for constraint search: variables, arcs between them, clauses.
 *
 * Unit equalities are solved first: variables that must be equal become one node, or a value.
 * All binary literals between the same two nodes form one edge, so that parallel atoms are
 * judged together; identical atoms are kept once. A node that hangs on one other node by a
 * single positive atom and nothing else is a leaf: its neighbour's support says all about it,
 * so it is left out of the search and gets its value at the end.
 *
 *   node x ──edge── node y      edge: positive atoms | negated atoms | "differ"
 *     │ unary: rows of constants, excluded rows and values, loops r(x,x) */
#ifndef ACQ_SEARCH_EXACT_MODEL_H
#define ACQ_SEARCH_EXACT_MODEL_H

#include "search/search.h"

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

#endif
