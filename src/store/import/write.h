/* write.h - names and sorted facts into the file of a new store.
 *
 *   sorter ─▶ parts ──────────────────┐
 *                                     ├─▶ bulk writer ─▶ file
 *   dictionary ─▶ rows of entities ───┘
 *
 * Rows are written between parts, in step with them, so that SQLite always has work while the
 * next part is being sorted. Indexes come last, when names and facts have left memory. */
#ifndef ACQ_STORE_IMPORT_WRITE_H
#define ACQ_STORE_IMPORT_WRITE_H

#include "graph/dictionary.h"
#include "graph/text/read.h"
#include "store/import/bulk.h"
#include "store/import/sort.h"

typedef struct acq_import_writer acq_import_writer;

typedef struct acq_import_writer_params {
    const char *path;   /* of an empty file */
    const char *folder; /* for SQLite's temporary files */
    unsigned threads;
    acq_progress_fn progress; /* may be NULL */
    void *context;
} acq_import_writer_params;

/* The params' texts stay the caller's. */
acq_status acq_import_writer_new(const acq_import_writer_params *params, acq_import_writer **out,
                                 acq_error *error);
void acq_import_writer_free(acq_import_writer *writer); /* closes the file, finished or not */

/* Everything but indexes; the sorter is finished. Both may be freed afterwards. */
acq_status acq_import_writer_put(acq_import_writer *writer, const acq_dictionary *dictionary,
                                 acq_sorter *sorter, acq_error *error);

/* Indexes and marks. The file is then complete, closed and on disk. */
acq_status acq_import_writer_finish(acq_import_writer *writer, const char *sources, bool is_rdf,
                                    acq_error *error);

/* What finish wrote. */
const acq_store_meta *acq_import_writer_get_meta(const acq_import_writer *writer);

#endif
