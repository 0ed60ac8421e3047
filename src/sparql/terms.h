/* terms.h - the terms of one evaluation, by number.
 *
 *   0 .. n_entities-1     entities of the graph
 *   n_entities ..         terms that the graph has not as entities: constants of the query, IRIs of
 *                         relations that a variable stands for, nodes that CONSTRUCT makes */
#ifndef ACQ_SPARQL_TERMS_H
#define ACQ_SPARQL_TERMS_H

#include "graph/graph.h"
#include "graph/names.h"
#include "sparql/value.h"

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

#endif
