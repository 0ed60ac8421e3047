/* board.h - the computational graph of a query (paper, section 4.1): what stays during a search.
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
#ifndef ACQ_SEARCH_POLICY_BOARD_H
#define ACQ_SEARCH_POLICY_BOARD_H

#include "search/search.h"

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

#endif
