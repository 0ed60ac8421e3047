/* rdf.h - inside the graph module: what RDF statements mean here, whatever file they come from.
 *
 *   IRI            an entity or relation; its key is the IRI without <>
 *   blank node     an entity, `_:label`; the labels of each of several files are told apart
 *   literal        left out and counted, or with --literals an entity, in N-Triples' spelling
 *   rdfs:label     what users see instead of the key; with --literals a fact as well
 *   urn:anycq:...  a plain name that an export has written so
 *   named graphs   merge */
#ifndef ACQ_GRAPH_TEXT_RDF_H
#define ACQ_GRAPH_TEXT_RDF_H

#include "graph/text/batch.h"

typedef enum acq_term_kind { ACQ_TERM_IRI, ACQ_TERM_BLANK, ACQ_TERM_LITERAL } acq_term_kind;

typedef struct acq_term {
    acq_term_kind kind;
    const char *text; /* IRI without <>, label without _:, text without quotes; no escapes left */
    size_t length;
    const char *datatype; /* of a literal, an IRI; NULL: none */
    size_t datatype_length;
    const char *language; /* of a literal; NULL: none */
    size_t language_length;
    size_t column;
} acq_term;

/* Adds a statement to the batch, or notes why it is bad. Terms are UTF-8. */
acq_status acq_rdf_add(acq_batch *batch, const acq_term terms[3], size_t line);

#endif
