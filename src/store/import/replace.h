/* replace.h - a new store in the place of an old one, without anybody noticing halfway.
 *
 * The old file stays the same file: SQLite copies the new content into it in one transaction.
 * Readers keep the snapshot they have, the next ones see the new graph, and after a crash there
 * is the one or the other. */
#ifndef ACQ_STORE_IMPORT_REPLACE_H
#define ACQ_STORE_IMPORT_REPLACE_H

#include "graph/text/read.h"

/* May this file give way? It must be a store, and as it was imported unless `with_changes`. */
acq_status acq_replace_check(const char *output, bool with_changes, acq_error *error);

typedef struct acq_replace_params {
    const char *from; /* a complete store that nobody else uses */
    const char *output;
    bool with_changes;
    uint64_t n_facts;      /* of the new store, for progress */
    acq_stage_fn progress; /* may be NULL */
    void *context;
} acq_replace_params;

/* On failure the output is as it was. */
acq_status acq_replace(const acq_replace_params *params, acq_error *error);

#endif
