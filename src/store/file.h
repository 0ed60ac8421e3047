/* file.h - the look of a file before SQLite opens it as a database.
 *
 * All reading goes through SQLite's file layer: closing a descriptor of our own would drop the
 * locks that other connections of this process hold on the same file. */
#ifndef ACQ_STORE_FILE_H
#define ACQ_STORE_FILE_H

#include "base/types.h"

/* Does it begin as an SQLite database? ACQ_ERR_MEMORY: that cannot be told. */
acq_status acq_store_file_is_database(const char *path, bool *out, acq_error *error);

/* Refuses what is not there, not a regular file, empty, another kind of file, cut off, or another
 * program's database, which SQLite therefore never opens for us. */
acq_status acq_store_file_check(const char *path, acq_error *error);

/* What is said of another program's database. */
acq_status acq_store_file_fail_foreign(const char *path, acq_error *error);

/* Bytes of PATH and PATH-wal; 0 for one that is not there. ACQ_ERR_MEMORY. */
acq_status acq_store_file_sizes(const char *path, uint64_t *file, uint64_t *wal, acq_error *error);

/* Where a store lies. */
typedef struct acq_store_place {
    bool is_writable; /* something can be written beside it */
    bool has_log;     /* a -wal file says more than it does */
} acq_store_place;

acq_status acq_store_file_get_place(const char *path, acq_store_place *out,
                                    acq_error *error); /* ACQ_ERR_MEMORY */

/* What tells whether a file was changed or replaced, as finely as its system keeps time. */
typedef struct acq_store_file_state {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds; /* of the last change */
} acq_store_file_state;

acq_store_file_state acq_store_file_get_state(const char *path); /* all zeros: not there */
bool acq_store_file_is_same(const acq_store_file_state *a, const acq_store_file_state *b);

#endif
