/* results.h - solutions of SPARQL in the formats of its standards. */
#ifndef ACQ_SERVER_RESULTS_H
#define ACQ_SERVER_RESULTS_H

#include "base/text.h"
#include "server/service.h"

typedef enum acq_result_format {
    ACQ_FORMAT_SPARQL_JSON, /* SELECT, ASK */
    ACQ_FORMAT_SPARQL_XML,
    ACQ_FORMAT_SPARQL_CSV,
    ACQ_FORMAT_SPARQL_TSV,
    ACQ_FORMAT_SPARQL_NT, /* CONSTRUCT; N-Triples is Turtle too */
    ACQ_FORMAT_SPARQL_TURTLE,
    ACQ_FORMAT_SPARQL_NO, /* nothing that the client accepts */
} acq_result_format;

/* The best format for an Accept header (NULL: none was sent) and a form of query. */
acq_result_format acq_results_choose(const char *accept, acq_solutions_form form);
const char *acq_results_get_type(acq_result_format format);

/* Appends the whole document. In JSON the member "anycq" beside "results", which other programs do
 * not read, has p and kind of each row, and of the first predicted ones the links that they rest
 * on, with reasons: as many as `reason_seconds` allow. */
void acq_results_write(const acq_served_graph *g, const acq_solutions *solutions,
                       acq_result_format format, double reason_seconds, acq_text *out);

#endif
