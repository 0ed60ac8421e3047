/* problem.h - the normal form that searches work on: ids only, negation at the literals.
 *
 *   exists v0..vn-1 ( literal & literal & ... & clause & clause & ... )
 *
 * A clause is a tree of OR and AND over literals, kept as it is: nothing is multiplied out, so
 * the size is that of the query. Variables 0..n_free-1 are the free ones. A variable that
 * occurs only in negated literals, or in none, ranges over all entities. */
#ifndef ACQ_QUERY_PROBLEM_H
#define ACQ_QUERY_PROBLEM_H

#include "query/query.h"

typedef struct acq_place {
    bool is_variable;
    uint32_t id; /* variable number or entity id */
} acq_place;

typedef struct acq_literal {
    bool is_equality; /* left = right, else relation(left, right) */
    bool is_negated;
    acq_rel relation;
    acq_place left, right;
} acq_literal;

typedef enum acq_branch_kind { ACQ_BRANCH_LITERAL, ACQ_BRANCH_AND, ACQ_BRANCH_OR } acq_branch_kind;

typedef struct acq_branch {
    acq_branch_kind kind;
    acq_literal literal;
    struct acq_branch **children;
    uint32_t n_children;
} acq_branch;

typedef struct acq_problem {
    acq_arena arena;
    uint32_t n_variables, n_free, n_entities;
    uint32_t n_fixed; /* variables 0..n_fixed-1 were replaced by values */
    acq_literal *literals;
    uint32_t n_literals;
    acq_branch **clauses; /* each an OR with at least two children, or an OR without any: false */
    uint32_t n_clauses;
} acq_problem;

/* query must be bound to a graph with n_entities entities. */
acq_status acq_problem_new(const acq_query *query, uint32_t n_entities, acq_problem **out,
                           acq_error *error);

/* The same with the free variables fixed to values[0..n_free): a Boolean problem, whose
 * variables keep their numbers (n_free becomes 0; fixed ones no longer occur). */
acq_status acq_problem_new_fixed(const acq_query *query, uint32_t n_entities, const acq_ent *values,
                                 acq_problem **out, acq_error *error);

/* A conjunction of literals that was made otherwise: no free variables, no clauses. The literals
 * are copied; their ids must be below n_variables and n_entities. */
acq_status acq_problem_new_literals(uint32_t n_variables, uint32_t n_entities,
                                    const acq_literal *literals, uint32_t n_literals,
                                    acq_problem **out, acq_error *error);

void acq_problem_free(acq_problem *problem);

#endif
