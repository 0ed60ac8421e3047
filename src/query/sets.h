/* sets.h - tree-shaped queries as expressions over sets of entities, the form that most of the
 * literature works with.
 *
 *   ip   r3 of ((s1 r1) and (s2 r2))        PROJECT r3 ── AND ─┬─ PROJECT r1 ── ENTITY s1
 *                                                              └─ PROJECT r2 ── ENTITY s2
 *
 * PROJECT r of S: the tails of r from the heads in S. A node stands for one variable of the query
 * it was made from, whose values its set holds. */
#ifndef ACQ_QUERY_SETS_H
#define ACQ_QUERY_SETS_H

#include "query/problem.h"

typedef enum acq_set_kind {
    ACQ_SET_ENTITY,  /* one entity */
    ACQ_SET_ALL,     /* every entity: a variable that only leads on */
    ACQ_SET_PROJECT, /* one child */
    ACQ_SET_NOT,     /* one child */
    ACQ_SET_AND,
    ACQ_SET_OR,
} acq_set_kind;

typedef struct acq_set_node {
    acq_set_kind kind;
    uint32_t id;       /* ENTITY: entity, PROJECT: relation */
    uint32_t variable; /* that its values are of; ACQ_NO_ID: none */
    uint32_t number;   /* of the node in its tree, children before parents */
    struct acq_set_node **children;
    uint32_t n_children;
} acq_set_node;

typedef struct acq_set_tree {
    acq_arena arena;
    acq_set_node *root;
    uint32_t n_nodes;
} acq_set_tree;

/* ACQ_ERR_INPUT, which says what is in the way, for a query with another number of free variables
 * than one, a cycle, parallel atoms, equalities, an atom between two constants, an "or" over
 * several variables, or parts that do not hang together. engine: its name, for the message. */
acq_status acq_set_tree_new(const acq_problem *problem, const char *engine, acq_set_tree **out,
                            acq_error *error);
void acq_set_tree_free(acq_set_tree *tree);

/* For whoever makes a tree from something else: an empty one, nodes in its arena (NULL: out of
 * memory), and the numbering at the end. Children are the caller's to fill. */
acq_status acq_set_tree_new_empty(acq_set_tree **out, acq_error *error);
acq_set_node *acq_set_tree_add(acq_set_tree *tree, acq_set_kind kind, uint32_t id,
                               uint32_t n_children);
void acq_set_tree_finish(acq_set_tree *tree, acq_set_node *root);

/* The query that asks for the members of the set, with ids; ACQ_ERR_INPUT where it would need a
 * "for all": below NOT only atoms with a constant may stand. */
acq_status acq_set_tree_make_query(const acq_set_tree *tree, acq_query **out, acq_error *error);

#endif
