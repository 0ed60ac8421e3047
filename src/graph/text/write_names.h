/* write_names.h - inside the graph module: names in the spelling of each text format. */
#ifndef ACQ_GRAPH_TEXT_WRITE_NAMES_H
#define ACQ_GRAPH_TEXT_WRITE_NAMES_H

#include "base/text.h"

/* Where in a statement a name stands: literals are objects, and predicates are IRIs. */
typedef enum acq_name_place { ACQ_PLACE_HEAD, ACQ_PLACE_RELATION, ACQ_PLACE_TAIL } acq_name_place;

/* False: the name cannot stand in a line of tab-separated fields. */
bool acq_write_name_tsv(acq_text *out, const char *name);

void acq_write_name_csv(acq_text *out, const char *name);

/* is_rdf: names that look like blank nodes and literals are such. */
void acq_write_name_nt(acq_text *out, const char *name, acq_name_place place, bool is_rdf);

/* The text of a plain literal in quotes, as rdfs:label wants it. */
void acq_write_literal_nt(acq_text *out, const char *text, size_t length);

#endif
