/* bulk.h - a new store from names and sorted links, as fast as the disk takes them.
 *
 *   open ─▶ add_entity * ─▶ { begin_links, add_link *, end_links } * ─▶ add_pair * ─▶ finish
 *
 * The file is written without a journal, so it is worthless until finish has returned ACQ_OK: the
 * caller writes under another name and renames it. After finish it is a closed, synced database in
 * WAL mode. After a failure free the bulk and delete the file. Not thread-safe. */
#ifndef ACQ_STORE_BULK_H
#define ACQ_STORE_BULK_H

#include "store/format.h"

typedef struct acq_bulk acq_bulk;

/* A file that is not there or empty. threads: helpers for sorting the names, 0 for none. */
acq_status acq_bulk_open(const char *path, unsigned threads, acq_bulk **out, acq_error *error);
void acq_bulk_free(acq_bulk *bulk); /* closes; finished or not */

/* Called every few thousand SQLite steps of finish; true stops it: ACQ_ERR_INTERRUPTED. */
void acq_bulk_set_stop(acq_bulk *bulk, bool (*should_stop)(void *context), void *context);

/* The k-th call is entity k. label NULL: none. Keys are distinct, labels too. */
acq_status acq_bulk_add_entity(acq_bulk *bulk, const char *key, size_t key_length,
                               const char *label, size_t label_length, acq_error *error);

/* All links of one direction, in order of head, then tail, each once; relations in any order, each
 * direction at most once. Ids are of entities that were or will be added. */
acq_status acq_bulk_begin_links(acq_bulk *bulk, acq_rel directed, acq_error *error);
acq_status acq_bulk_add_link(acq_bulk *bulk, acq_ent head, acq_ent tail, acq_error *error);
acq_status acq_bulk_end_links(acq_bulk *bulk, acq_error *error);

/* The k-th call is the pair of relations 2k and 2k+1, after their links. keys[0] or keys[1] is
 * there; what is not has text NULL. */
acq_status acq_bulk_add_pair(acq_bulk *bulk, const acq_pair_name keys[2],
                             const acq_pair_name labels[2], acq_error *error);

/* Indexes, meta, sync. sources: as the user wrote them. */
acq_status acq_bulk_finish(acq_bulk *bulk, const char *sources, bool is_rdf, acq_error *error);

/* What finish wrote. */
const acq_store_meta *acq_bulk_get_meta(const acq_bulk *bulk);

#endif
