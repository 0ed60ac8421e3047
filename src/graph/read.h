/* read.h - graphs from text files, read on the fly.
 *
 * A path may be: triples in .tsv/.txt (tab) or .csv (RFC 4180 quotes), `head relation tail`;
 * a `*_kg.tsv` beside a kgindex.json (integer ids); or a folder: a benchmark folder
 * (kgindex.json and SPLIT_kg.tsv, cumulative) or SPLIT.txt/.tsv/.csv files, where `split`
 * means up to and including. */
#ifndef ACQ_GRAPH_READ_H
#define ACQ_GRAPH_READ_H

#include "graph/graph.h"

/* Called for each line left out (not in strict mode); message as in acq_error. */
typedef void (*acq_bad_line_fn)(void *context, const acq_error *bad);

#define ACQ_SPLIT_LATEST "latest" /* the last of train, valid, test that a folder has */

typedef struct acq_read_params {
    const char *split;        /* "train" (default when NULL), "valid" or "test"; folders only */
    bool strict;              /* the first bad line is an error */
    acq_bad_line_fn bad_line; /* may be NULL */
    void *context;
} acq_read_params;

typedef struct acq_read_report {
    uint64_t lines;      /* read */
    uint64_t bad;        /* left out, with a reason each */
    uint64_t duplicates; /* left out silently, counted */
    uint64_t completed;  /* inverse facts that a benchmark file lacked and we added */
} acq_read_report;

/* Several sources merge into one graph (plain triples only). report may be NULL. */
acq_status acq_graph_read(const char *const *paths, size_t n_paths, const acq_read_params *params,
                          acq_graph **out, acq_read_report *report, acq_error *error);

#endif
