/* store.h - a graph kept in one SQLite file, for good.
 *
 *   open        a reader: an acq_graph on one snapshot, names and links loaded when asked for
 *   import      sources ─▶ a new file, all or nothing (import.h)
 *   change      facts added and removed, one transaction each, durable on return
 *   compact     changes folded into the links of their relations
 *   verify      every byte that answers depend on, read and checked
 *
 * Many processes may read while one writes. docs/formats.md has the file byte by byte. */
#ifndef ACQ_STORE_STORE_H
#define ACQ_STORE_STORE_H

#include "graph/graph.h"
#include "graph/text/read.h"

enum {
    ACQ_STORE_APPLICATION = 0x61637167, /* "acqg", SQLite's application_id */
    ACQ_STORE_FORMAT = 3,               /* SQLite's user_version; 1 had no labels, 2 no salt */
    ACQ_STORE_FORMAT_GRAPHS = 4,        /* the same with names of graphs */
};

/* The graph as it is now: later changes are not seen. The error says what is wrong with the file:
 * not a store, newer, truncated, damaged. Thread-safe like every graph. */
acq_status acq_store_open(const char *path, acq_graph **out, acq_error *error);

/* A store, or whatever acq_graph_read takes, by the look of the file: what GRAPH means on the
 * command line. */
acq_status acq_graph_open_path(const char *path, const acq_read_params *params, acq_graph **out,
                               acq_read_report *report, acq_error *error);

typedef struct acq_store_info {
    uint32_t format;
    uint64_t n_changes;  /* waiting for a compaction */
    uint64_t file_bytes; /* the database itself */
    uint64_t wal_bytes;  /* beside it, not yet in it */
    bool is_rdf;
    char sources[512]; /* what it was imported from, as given */
} acq_store_info;

acq_status acq_store_read_info(const char *path, acq_store_info *out, acq_error *error);

/* acq_store_is_database, acq_store_verify, acq_store_writer and what it does are public: anycq.h. */

#endif
