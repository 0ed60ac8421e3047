/* import.h - any number of triples into a new store, within a memory budget.
 *
 * Phases that read.progress is told of, in this order:
 *
 *   reading     bytes of the sources
 *   sorting     facts; only what has to happen before the first link can be written
 *   links       links and names written, while the next links are being sorted
 *   names       names in the index
 *   replacing   pages copied into a store that was there
 *
 * Everything temporary is in the folder of the output, without names: the runs of the sort, and
 * what SQLite needs to sort the names. */
#ifndef ACQ_STORE_IMPORT_IMPORT_H
#define ACQ_STORE_IMPORT_IMPORT_H

#include "store/store.h"

/* Called once OUTPUT.partial, whose path is given, is locked: before that it may be another
 * import's. */
typedef void (*acq_import_begin_fn)(void *context, const char *partial);

typedef struct acq_import_params {
    acq_read_params read;      /* with threads, progress, base, literals */
    size_t memory_bytes;       /* 0: 2 GB. Names stay in it; facts go to disk beyond the rest */
    bool replace;              /* an existing store gives way even if facts were added to it */
    acq_import_begin_fn begin; /* may be NULL */
    void *begin_context;
} acq_import_params;

typedef struct acq_import_report {
    acq_read_report read;
    uint64_t n_facts;
    uint32_t n_entities;
    uint32_t n_relations; /* as users count them: pairs */
    uint64_t file_bytes;
    uint64_t spilled_runs; /* sorted pieces that went to disk; 0: all fitted */
    double seconds;
} acq_import_report;

/* Writes OUTPUT.partial and renames it when it is complete and on disk, so OUTPUT is never half
 * a store; after a failure or an interrupt nothing is left behind. An existing OUTPUT that is a
 * store without changes is replaced in one transaction, which its readers do not notice; one with
 * changes only with `replace`; anything else is refused. */
acq_status acq_import(const char *const *paths, size_t n_paths, const char *output,
                      const acq_import_params *params, acq_import_report *report, acq_error *error);

#endif
