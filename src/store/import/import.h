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

#include "base/types.h"
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

/* ---- partial ----
 *
 * OUTPUT.partial, where an import writes until OUTPUT may appear.
 *
 *   init ─▶ (the caller writes a database to `path` and closes it) ─▶ finish ─▶ deinit
 *
 * The file is locked while it is in use: two imports into one output refuse each other, and what
 * a killed one left behind is taken over by the next. Whatever ends the import, OUTPUT is absent,
 * or what it was, or complete. */

typedef struct acq_partial {
    char *output;    /* as the system knows it: absolute, symbolic links followed */
    char *folder;    /* of both files */
    char *path;      /* output.partial */
    int file;        /* holds the lock; -1: not ours (yet) */
    bool has_output; /* a regular file of that name was there: it is for the caller to judge */
} acq_partial;

/* Makes an empty file of our own. Folders, devices and the like in the place of OUTPUT are
 * refused. Deinit also after an error. */
acq_status acq_partial_init(acq_partial *partial, const char *output, acq_error *error);

/* Puts the file on disk and gives it its name, which nobody may have got meanwhile: for an OUTPUT
 * that was not there. What a deleted store of that name left beside it is removed, so that it is
 * never taken for a part of the new one; init has refused what is not SQLite's there. */
acq_status acq_partial_finish(acq_partial *partial, acq_error *error);

/* Removes what was not finished. A zeroed one is legal. */
void acq_partial_deinit(acq_partial *partial);

#endif
