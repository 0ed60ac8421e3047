/* catalog.h - what a store says of itself, read whole: format, meta, relations with their names.
 * It is small (a row per relation) and everything else is checked against it. */
#ifndef ACQ_STORE_CATALOG_H
#define ACQ_STORE_CATALOG_H

#include <pthread.h>

#include "graph/graph.h"
#include "graph/names.h"
#include "store/format.h"

/* ---- entities ---- */

/* A row of `entity`. */
typedef struct acq_store_entity {
    acq_ent id;
    const char *key, *label; /* label NULL: none */
    size_t key_length, label_length;
} acq_store_entity;

/* With the import's salt, so that a row of another import, be it of the same names in another
 * order, does not pass. */
uint32_t acq_entity_checksum(uint64_t salt, const acq_store_entity *entity);

/* ---- relations ---- */

typedef struct acq_pair_name {
    const char *text; /* NULL: none */
    size_t length;
} acq_pair_name;

/* One row of `relation`. Index 0 is the even id of the pair, 1 the odd one, its inverse. */
typedef struct acq_store_pair {
    acq_rel relation; /* even */
    acq_pair_name keys[2];
    acq_pair_name labels[2];
    uint64_t n_links;    /* in the parts of either direction */
    uint64_t n_heads[2]; /* that have links there */
    uint32_t n_parts[2];
    uint64_t parts_sum[2]; /* of the checksums of the parts */
    uint64_t n_changes;
    uint64_t changes_sum; /* of acq_change_hash */
} acq_store_pair;

uint64_t acq_pair_checksum(const acq_store_pair *pair);

/* INSERT or UPDATE by `relation`; the statement is made by acq_pair_prepare_write. */
acq_status acq_pair_prepare_write(const acq_db *db, sqlite3_stmt **out, acq_error *error);
acq_status acq_pair_write(const acq_db *db, sqlite3_stmt *statement, const acq_store_pair *pair,
                          acq_error *error);

/* ---- all of it ---- */

typedef struct acq_catalog {
    uint32_t format;
    acq_store_meta meta;
    acq_store_pair *pairs; /* n_pairs; names are left out, they are in: */
    size_t n_pairs, pairs_capacity;
    acq_names relations, relation_labels;
    uint64_t file_bytes; /* pages that the database has: no array is larger */
} acq_catalog;

/* Reads and checks it in the transaction that is open, or in one of its own. */
acq_status acq_catalog_read(const acq_db *db, acq_catalog *out, acq_error *error);
void acq_catalog_deinit(acq_catalog *catalog); /* also of a zeroed one */

/* A pair with its names, borrowed until a name is added. */
acq_store_pair acq_catalog_get_pair(const acq_catalog *catalog, size_t i);

/* ---- load ----
 *
 * The links of one direction of a relation from their parts, with the changes applied.
 *
 * Every count, sum and order is checked before anything is handed out. The lock is held while
 * SQLite is asked, one part at a time; checks and merging run outside, so that threads which load
 * other relations get on. */

typedef struct acq_loader {
    const acq_db *db;
    const acq_catalog *catalog;
    pthread_mutex_t *lock; /* NULL: nobody else uses db */
} acq_loader;

/* As the last compaction left them. O(links). */
acq_status acq_load_parts(const acq_loader *loader, acq_rel directed, acq_links **out,
                          acq_error *error);

/* As they are now. O(links + changes). */
acq_status acq_load_links(const acq_loader *loader, acq_rel directed, acq_links **out,
                          acq_error *error);

/* The rows of `graph`, all checked; of a store of format 4. */
acq_status acq_load_graphs(const acq_loader *loader, acq_quads *out, acq_error *error);

/* ---- entity ----
 *
 * Rows of `entity`: found by id, key or label, and checked. Nothing here locks. */

/* What statements about entities begin with; format 1 had no labels. */
#define ACQ_ENTITY_SELECT       "SELECT id, key, checksum, label FROM entity "
#define ACQ_ENTITY_SELECT_FIRST "SELECT id, key, checksum, NULL FROM entity "

/* Takes the row that such a statement stands on; its texts are borrowed until the statement steps
 * or is reset. The checksum, the range of the id and the bytes of the names are checked. */
acq_status acq_entity_take(const acq_db *db, sqlite3_stmt *statement, const acq_store_meta *meta,
                           acq_store_entity *out, acq_error *error);

/* The statements to find entities; zeroed ones may be deinited. */
typedef struct acq_entity_finder {
    const acq_db *db;
    const acq_store_meta *meta;              /* as it is at the time of a call */
    sqlite3_stmt *by_id, *by_key, *by_label; /* by_label NULL: format 1 */
} acq_entity_finder;

/* Keeps db and meta. */
acq_status acq_entity_finder_init(acq_entity_finder *finder, const acq_db *db,
                                  const acq_store_meta *meta, uint32_t format, acq_error *error);
void acq_entity_finder_deinit(acq_entity_finder *finder);

/* An id below meta->n_entities always has a row; it is borrowed until the next call. */
acq_status acq_entity_read(const acq_entity_finder *finder, acq_ent id, acq_store_entity *out,
                           acq_error *error);

/* By key, then by label. ACQ_OK with *out == ACQ_NO_ID: the index knows no such name. */
acq_status acq_entity_find(const acq_entity_finder *finder, const char *name, size_t length,
                           acq_ent *out, acq_error *error);

typedef struct acq_names_visit {
    const acq_db *db;
    const acq_catalog *catalog;
    pthread_mutex_t *lock; /* held while SQLite is asked, never during a visit */
    acq_name_fn visit;
    void *context;
} acq_names_visit;

/* Keys that begin with `prefix` in byte order, then labels. With an empty prefix every entity in
 * order of id, its key, then its label: then each row is looked at, and a missing one is an error.
 */
acq_status acq_entity_visit_names(const acq_names_visit *params, const char *prefix, size_t length,
                                  acq_error *error);

#endif
