/* catalog.h - what a store says of itself, read whole: format, meta, relations with their names.
 * It is small (a row per relation) and everything else is checked against it. */
#ifndef ACQ_STORE_CATALOG_H
#define ACQ_STORE_CATALOG_H

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

#endif
