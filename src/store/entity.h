/* entity.h - rows of `entity`: found by id, key or label, and checked. Nothing here locks. */
#ifndef ACQ_STORE_ENTITY_H
#define ACQ_STORE_ENTITY_H

#include <pthread.h>

#include "store/catalog.h"

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
