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

#include "graph/build.h"
#include "graph/text/read.h"
#include "store/catalog.h"
#include "store/format.h"
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

/* ---- bulk ----
 *
 * A new store from names and sorted links, as fast as the disk takes them.
 *
 *   open ─▶ { add_entities, put_part, in any order } * ─▶ add_pair * ─▶ finish
 *
 * The file is written without a journal, so it is worthless until finish has returned ACQ_OK: the
 * caller writes under another name and renames it. After finish it is a closed, synced database in
 * WAL mode. After a failure free the bulk and delete the file. Not thread-safe. */

typedef struct acq_bulk acq_bulk;

typedef struct acq_bulk_params {
    unsigned threads; /* helpers for sorting the names, 0 for none */
    const char *vfs;  /* what SQLite asks for files, NULL: as always */
} acq_bulk_params;

/* A file that is not there or empty; it bears the marks of a store from now on. params NULL:
 * defaults. */
acq_status acq_bulk_open(const char *path, const acq_bulk_params *params, acq_bulk **out,
                         acq_error *error);
void acq_bulk_free(acq_bulk *bulk); /* closes; finished or not */

/* Called now and then while finish makes the indexes, with the share of that work done, 0 to 1;
 * false stops it: ACQ_ERR_INTERRUPTED. */
typedef bool (*acq_bulk_progress_fn)(void *context, double done);
void acq_bulk_set_progress(acq_bulk *bulk, acq_bulk_progress_fn progress, void *context);

/* Before the first entity: what tells this import's rows from those of others; not 0. */
void acq_bulk_set_salt(acq_bulk *bulk, uint64_t salt);

typedef struct acq_bulk_entity {
    acq_pair_name key;
    acq_pair_name label; /* text NULL: none */
} acq_bulk_entity;

enum { ACQ_BULK_ROWS = 32 };

/* The next ids. Keys are distinct, labels too. Multiples of ACQ_BULK_ROWS are faster by half. */
acq_status acq_bulk_add_entities(acq_bulk *bulk, const acq_bulk_entity *entities, size_t n,
                                 acq_error *error);

/* A part in the making, away from the bulk and on any thread; zeroed, then begun. */
typedef struct acq_bulk_part {
    acq_part part;
    acq_ent last_head; /* so far, in this direction; ACQ_NO_ID: none */
    uint64_t n_heads;  /* that no earlier part has */
    uint64_t fact_sum; /* of acq_hash_fact over its links; 0 for odd directions */
    uint64_t checksum;
} acq_bulk_part;

/* last_head is that of the part before this one. Keeps the memory. */
void acq_bulk_part_begin(acq_bulk_part *part, acq_rel directed, uint32_t number, acq_ent last_head);
acq_status acq_bulk_part_add(acq_bulk_part *part, acq_ent head, acq_ent tail); /* as acq_part_add */
acq_status acq_bulk_part_encode(acq_bulk_part *part);                          /* ACQ_ERR_MEMORY */
void acq_bulk_part_deinit(acq_bulk_part *part);

/* The parts of a direction come in order, and so do their links: by head, then tail, each once. Ids
 * are of entities that were or will be added. An encoded part is only read. */
acq_status acq_bulk_put_part(acq_bulk *bulk, const acq_bulk_part *part, acq_error *error);

/* The k-th call is the pair of relations 2k and 2k+1, after their links. keys[0] or keys[1] is
 * there; what is not has text NULL. */
acq_status acq_bulk_add_pair(acq_bulk *bulk, const acq_pair_name keys[2],
                             const acq_pair_name labels[2], acq_error *error);

/* The named graphs, sorted; at most once, before finish. */
acq_status acq_bulk_put_graphs(acq_bulk *bulk, const acq_quads *quads, acq_error *error);

/* Indexes, meta, sync. sources: as the user wrote them. */
acq_status acq_bulk_finish(acq_bulk *bulk, const char *sources, bool is_rdf, acq_error *error);

/* What finish wrote. */
const acq_store_meta *acq_bulk_get_meta(const acq_bulk *bulk);

#endif
