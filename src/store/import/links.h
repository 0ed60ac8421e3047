/* links.h - from sorted facts to encoded parts, ahead of whoever writes them.
 *
 *   sorter ─▶ [ part | part | part | part ] ─▶ next, next, ...
 *             made by a thread of its own      in order
 *
 * Sorting and encoding take one core while SQLite takes another; at most N_SLOTS parts exist at a
 * time. Without a thread each part is made when it is asked for. */
#ifndef ACQ_STORE_IMPORT_LINKS_H
#define ACQ_STORE_IMPORT_LINKS_H

#include "store/import/bulk.h"
#include "store/import/sort.h"

typedef struct acq_link_parts acq_link_parts;

/* The sorter is finished, and is used by nobody else until the parts are freed. */
acq_status acq_link_parts_new(acq_sorter *sorter, bool with_thread, acq_link_parts **out,
                              acq_error *error);

/* Waits for a part that is being made, if need be. */
void acq_link_parts_free(acq_link_parts *parts);

/* The next part, until the next call; *out NULL: there are no more. */
acq_status acq_link_parts_next(acq_link_parts *parts, const acq_bulk_part **out, acq_error *error);

#endif
