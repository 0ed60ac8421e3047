/* parse.h - the parser of the text syntax; acq_query_parse chooses between it and SPARQL. */
#ifndef ACQ_QUERY_TEXT_PARSE_H
#define ACQ_QUERY_TEXT_PARSE_H

#include "query/query.h"

/* text has passed acq_input_check. Linear in the text. */
acq_status acq_query_parse_text(const char *text, size_t length, acq_query **out, acq_error *error);

#endif
