/* read.h - graphs from text files, read on the fly.
 *
 * A path may be: triples in .tsv/.txt (tab) or .csv (RFC 4180 quotes), `head relation tail`;
 * RDF in .nt, .ttl, .nq or .trig; any of these compressed (.gz); a `*_kg.tsv` beside a
 * kgindex.json (integer ids); or a folder: a benchmark folder (kgindex.json and SPLIT_kg.tsv,
 * cumulative) or SPLIT files of one of the kinds above, where `split` means up to and including. */
#ifndef ACQ_GRAPH_TEXT_READ_H
#define ACQ_GRAPH_TEXT_READ_H

#include "graph/build.h"

/* Called for each line left out (not in strict mode); message as in acq_error. */
typedef void (*acq_bad_line_fn)(void *context, const acq_error *bad);

#define ACQ_SPLIT_LATEST "latest" /* the last of train, valid, test that a folder has */

typedef struct acq_read_params {
    const char *split;        /* "train" (default when NULL), "valid" or "test"; folders only */
    const char *format;       /* tsv, csv, nt, ttl, nq or trig; NULL: by the endings of the names */
    bool strict;              /* the first bad line is an error */
    bool no_header;           /* the first line is a fact, whatever it says */
    acq_bad_line_fn bad_line; /* may be NULL */
    acq_bad_line_fn note;     /* a header was left out, columns look swapped; code 0; may be NULL */
    void *context;            /* for bad_line, note and progress */
    acq_progress_fn progress; /* may be NULL; called at least every megabyte */
    unsigned threads;         /* 0: as many as the machine has */
    const char *base;         /* RDF: what relative IRIs are relative to; NULL: they are errors */
    bool literals;            /* RDF: literal objects are entities too */
    bool named_graphs;        /* RDF: it is kept which graphs facts stand in */
} acq_read_params;

/* Several sources merge into one graph, benchmark graphs excepted. The caller's functions are
 * called one at a time, though from any thread. report may be NULL. */
acq_status acq_graph_read(const char *const *paths, size_t n_paths, const acq_read_params *params,
                          acq_graph **out, acq_read_report *report, acq_error *error);

/* The same for whoever wants the facts and not a graph:
 *
 *   files ─▶ pieces (gunzip, cut at line ends) ─▶ batches, parsed on several threads
 *         ─▶ merged in order: local names get global ids ─▶ sink
 *
 * Merging in order makes ids those of the first mention, whatever the number of threads. A graph in
 * memory and an import into a store are two sinks. */
typedef struct acq_sink {
    acq_dictionary *dictionary; /* filled before the facts that use it arrive */
    /* n is 0 when only labels came: they take memory too. */
    acq_status (*add_facts)(void *self, const acq_triple *facts, size_t n, acq_error *error);
    void *self;
} acq_sink;

/* Calls of the sink come one at a time, though from any thread. The report's counts of duplicates
 * and completed inverses are for whoever sorts the facts. An error when there is no fact at all,
 * except for RDF: a graph without facts is a graph. */
acq_status acq_ingest(const char *const *paths, size_t n_paths, const acq_read_params *params,
                      const acq_sink *sink, acq_read_report *report, acq_error *error);

/* ---- write ----
 *
 * A graph as text that acq_graph_read reads back.
 *
 *   tsv  head TAB relation TAB tail; refuses names with tabs or line ends
 *   csv  the same with commas, RFC 4180 quotes where a name needs them
 *   nt   N-Triples: IRIs, blank nodes and literals of RDF as they are, labels as rdfs:label;
 *        any other name as <urn:anycq:NAME>, percent-encoded
 *
 * Facts come by relation, head and tail in the order of their ids, each once and never by an
 * inverse: equal graphs give equal bytes, wherever they are kept. */

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
