/* evaluate.h - a SPARQL query over the observed facts of a graph: SPARQL 1.1's algebra, multisets
 * and values. */
#ifndef ACQ_SPARQL_EVALUATE_H
#define ACQ_SPARQL_EVALUATE_H

#include "base/budget.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "query/sparql/syntax.h"
#include "sparql/value.h"

/* ---- terms ----
 *
 * The terms of one evaluation, by number.
 *
 *   0 .. n_entities-1     entities of the graph
 *   n_entities ..         terms that the graph has not as entities: constants of the query, IRIs of
 *                         relations that a variable stands for, nodes that CONSTRUCT makes */

typedef struct acq_terms {
    const acq_graph *graph;
    uint32_t n_entities;
    bool is_plain; /* names are no RDF: each is an IRI, whatever it looks like */
    acq_names extra;
    uint32_t *relations; /* the term of a relation's key; ACQ_NO_ID: not asked for yet */
} acq_terms;

acq_status acq_terms_init(acq_terms *terms, const acq_graph *graph);
void acq_terms_deinit(acq_terms *terms);

/* The term with this key, new or known. */
acq_status acq_terms_add(acq_terms *terms, const char *key, size_t length, bool is_literal,
                         uint32_t *out);
acq_status acq_terms_add_relation(acq_terms *terms, acq_rel relation, uint32_t *out);

/* The relation that this term names; ACQ_NO_ID: none. */
acq_rel acq_terms_get_relation(const acq_terms *terms, uint32_t term);
const char *acq_terms_get_key(const acq_terms *terms, uint32_t term);
acq_value acq_terms_get_value(const acq_terms *terms, acq_value_room *room, uint32_t term);

/* ---- evaluate ---- */

typedef struct acq_evaluate_limits {
    double seconds;        /* 0: no limit */
    uint64_t memory_bytes; /* of what is kept; 0: no limit */
    uint64_t most_rows;    /* 0: no limit; else so many at most, besides LIMIT */
    acq_stop stop;
} acq_evaluate_limits;

/* Solutions: rows of `width` terms, ACQ_NO_ID where a variable is unbound. Of SELECT the selected
 * variables, of CONSTRUCT the three terms of each statement, of ASK none: one row or no row. */
typedef struct acq_solution_rows {
    uint32_t *cells;
    uint32_t width;
    size_t n, capacity;
    bool has_more;   /* most_rows ended it */
    acq_spent spent; /* what ended it before it was complete */
} acq_solution_rows;

/* Rows are in the order that ORDER BY asks for; OFFSET and LIMIT are taken off. *warning (NULL: not
 * wanted) gets a sentence about the first name that the graph does not have. */
acq_status acq_sparql_evaluate(const acq_sparql_query *query, acq_terms *terms,
                               const acq_evaluate_limits *limits, acq_solution_rows *out,
                               acq_text *warning, acq_error *error);

/* The order of ORDER BY, whose expressions use selected variables only: order[i] is the row that
 * comes i-th; it holds 0, 1, ... before. */
acq_status acq_sparql_sort(const acq_sparql_query *query, acq_terms *terms,
                           const acq_solution_rows *rows, size_t *order, acq_error *error);
void acq_solution_rows_deinit(acq_solution_rows *rows);

#endif
