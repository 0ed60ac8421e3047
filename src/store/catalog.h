/* catalog.h - what a store says of itself, read whole: format, meta, relations with their names.
 * It is small (a row per relation) and everything else is checked against it. */
#ifndef ACQ_STORE_CATALOG_H
#define ACQ_STORE_CATALOG_H

#include "graph/names.h"
#include "store/format.h"

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
