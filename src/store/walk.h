/* walk.h - names in order, from a store that other threads use at the same time. */
#ifndef ACQ_STORE_WALK_H
#define ACQ_STORE_WALK_H

#include <pthread.h>

#include "store/catalog.h"

typedef struct acq_walk_params {
    const acq_db *db;
    const acq_catalog *catalog;
    pthread_mutex_t *lock; /* held while SQLite is asked, never during a visit */
    acq_name_fn visit;
    void *context;
} acq_walk_params;

/* Keys that begin with `prefix` in byte order, then labels. With an empty prefix every entity in
 * order of id, its key, then its label: then each row is looked at, and a missing one is an error.
 */
acq_status acq_walk_names(const acq_walk_params *params, const char *prefix, size_t length,
                          acq_error *error);

#endif
