/* reader.h - inside the graph module: what the readers of all formats share.
 *
 *   source.c   path ─▶ list of files         read_tsv.c  read_csv.c  plain triples
 *   ingest.c   files ─▶ reader ─▶ sink       read_index.c  read_ids.c  benchmark graphs
 *
 * Readers take bytes, not files, so that fuzzers and tests call them directly. A bad line is
 * reported and left out, or, in strict mode, ends the reading. */
#ifndef ACQ_GRAPH_READER_H
#define ACQ_GRAPH_READER_H

#include "graph/ingest.h"

typedef enum acq_separator { ACQ_TABS, ACQ_COMMAS } acq_separator;

enum { ACQ_READER_FACTS = 1024 };

typedef struct acq_reader {
    const acq_sink *sink;
    acq_triple facts[ACQ_READER_FACTS]; /* on their way to the sink */
    size_t n_facts;
    acq_read_params params;
    acq_read_report report;
    acq_error *error;    /* the caller's; may be NULL */
    acq_error first_bad; /* the first line left out */
    const char *file;    /* being read, for messages */
    uint32_t n_entities; /* with an index: ids of lines are below these */
    uint32_t n_relations;
} acq_reader;

/* A piece of a line with its place. raw is what stands in the file (between the quotes). */
typedef struct acq_field {
    const char *raw;
    size_t raw_length;
    const char *name; /* raw, or unescaped */
    size_t length;
    size_t line, column;
} acq_field;

void acq_reader_init(acq_reader *reader, const acq_read_params *params, const acq_sink *sink,
                     acq_error *error);

/* Reports a bad line; ACQ_OK when reading goes on. */
acq_status acq_reader_bad(acq_reader *reader, size_t line, size_t column, const char *format, ...)
    ACQ_PRINTF(4, 5);

acq_status acq_reader_add_fact(acq_reader *reader, acq_triple fact);

/* Checks three names and adds the fact, or reports the line as bad. */
acq_status acq_reader_add_triple(acq_reader *reader, const acq_field fields[3]);

/* The same complaint for every format: `count` fields where three are needed. */
acq_status acq_reader_bad_count(acq_reader *reader, size_t line, size_t column, size_t count,
                                acq_separator separator);

/* Each reads the whole of one file's bytes. */
acq_status acq_read_tsv(acq_reader *reader, const char *bytes, size_t length);
acq_status acq_read_csv(acq_reader *reader, const char *bytes, size_t length);
acq_status acq_read_index(acq_reader *reader, const char *bytes, size_t length);
acq_status acq_read_ids(acq_reader *reader, const char *bytes, size_t length);

/* Calls `read` for each line of the text, without its end, after a byte order mark; numbers count
 * from 1. Stops at the first failure. */
typedef acq_status (*acq_line_fn)(acq_reader *reader, const char *line, size_t length,
                                  size_t number);
acq_status acq_reader_each_line(acq_reader *reader, const char *bytes, size_t length,
                                acq_line_fn read);

/* Skips a UTF-8 byte order mark; refuses UTF-16. */
acq_status acq_reader_skip_mark(acq_reader *reader, const char **bytes, size_t *length);

/* Hands over the last facts and the report; an error when nothing was read. */
acq_status acq_reader_finish(acq_reader *reader, acq_read_report *report);

/* A graph from bytes in memory. index NULL: plain triples; else the text of a
 * kgindex.json, and bytes are lines of ids. `name` stands for the file in messages. */
typedef struct acq_memory_source {
    const char *name;
    const char *bytes;
    size_t length;
    const char *index;
    size_t index_length;
    acq_separator separator;
} acq_memory_source;

acq_status acq_ingest_memory(const acq_memory_source *source, const acq_read_params *params,
                             const acq_sink *sink, acq_read_report *report, acq_error *error);
acq_status acq_graph_read_memory(const acq_memory_source *source, const acq_read_params *params,
                                 acq_graph **out, acq_read_report *report, acq_error *error);

#endif
