/* load.h - the links of one direction of a relation from their parts, with the changes applied.
 *
 * Every count, sum and order is checked before anything is handed out. The lock is held while
 * SQLite is asked, one part at a time; checks and merging run outside, so that threads which load
 * other relations get on. */
#ifndef ACQ_STORE_LOAD_H
#define ACQ_STORE_LOAD_H

#include <pthread.h>

#include "graph/links.h"
#include "store/catalog.h"

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

#endif
