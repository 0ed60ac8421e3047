/* write.h - a graph as text that acq_graph_read reads back.
 *
 *   tsv  head TAB relation TAB tail; refuses names with tabs or line ends
 *   csv  the same with commas, RFC 4180 quotes where a name needs them
 *   nt   N-Triples: IRIs, blank nodes and literals of RDF as they are, labels as rdfs:label;
 *        any other name as <urn:anycq:NAME>, percent-encoded
 *
 * Facts come by relation, head and tail in the order of their ids, each once and never by an
 * inverse: equal graphs give equal bytes, wherever they are kept. */
#ifndef ACQ_GRAPH_TEXT_WRITE_H
#define ACQ_GRAPH_TEXT_WRITE_H

#include "graph/text/read.h"

typedef enum acq_write_format { ACQ_FORMAT_TSV, ACQ_FORMAT_CSV, ACQ_FORMAT_NT } acq_write_format;

/* Takes the text piece by piece. */
typedef struct acq_text_sink {
    acq_status (*put)(void *self, const char *bytes, size_t length, acq_error *error);
    void *self;
} acq_text_sink;

typedef struct acq_write_params {
    acq_write_format format;
    acq_progress_fn progress; /* may be NULL */
    void *context;            /* for progress */
} acq_write_params;

typedef struct acq_write_report {
    uint64_t facts;
    uint64_t labels; /* N-Triples: rdfs:label statements */
} acq_write_report;

/* Linear in the text. A stored graph that cannot be read is an error, and no byte that depends on
 * what could not be read reaches the sink. report may be NULL. */
acq_status acq_text_write(const acq_graph *graph, const acq_write_params *params,
                           const acq_text_sink *sink, acq_write_report *report, acq_error *error);

#endif
