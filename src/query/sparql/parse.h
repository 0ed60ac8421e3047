/* parse.h - the parser of the SPARQL subset; acq_query_parse chooses between it and the text
 * syntax. What is supported and what it means: docs/grammar.md. */
#ifndef ACQ_QUERY_SPARQL_PARSE_H
#define ACQ_QUERY_SPARQL_PARSE_H

#include "query/query.h"

/* text has passed acq_input_check. */
acq_status acq_query_parse_sparql(const char *text, size_t length, acq_query **out,
                                  acq_error *error);

#endif
