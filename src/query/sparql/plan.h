/* plan.h - which parts of a query become patterns in SPARQL, and which become filters.
 *
 * Atoms and VALUES bind their variables. A disjunction becomes UNION when each branch binds all
 * variables that its own filters need; else it is a filter, like every negation, and the group
 * around it must bind its variables. The plan mirrors what the SPARQL parser accepts. */
#ifndef ACQ_QUERY_SPARQL_PLAN_H
#define ACQ_QUERY_SPARQL_PLAN_H

#include "query/query.h"

typedef enum acq_sparql_part {
    ACQ_PART_TRIPLE,
    ACQ_PART_VALUES,
    ACQ_PART_UNION,
    ACQ_PART_FILTER,
} acq_sparql_part;

typedef struct acq_sparql_plan {
    bool *unions; /* for each OR that might be a UNION, in the order they are met: is it? */
    size_t n_unions, unions_capacity;
    size_t next; /* the printer's place in unions */
} acq_sparql_plan;

/* ACQ_ERR_INPUT names a variable that nothing binds. */
acq_status acq_sparql_plan_init(acq_sparql_plan *plan, const acq_query *query, acq_error *error);
void acq_sparql_plan_deinit(acq_sparql_plan *plan);

/* What a child of a group becomes. The printer asks once for each, in order, and goes into the
 * branches of a UNION right after it. */
acq_sparql_part acq_sparql_plan_next(acq_sparql_plan *plan, const acq_node *node);

/* Nodes of a group: the children of an AND, or the node itself. */
acq_node *const *acq_sparql_group_nodes(acq_node *const *node, uint32_t *n);

/* VALUES: variables of one row (the row's nodes), rows of the node. */
acq_node *const *acq_sparql_values_rows(acq_node *const *node, uint32_t *n);

#endif
