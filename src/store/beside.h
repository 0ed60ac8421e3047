/* beside.h - the files that SQLite keeps beside a database, when the database is gone.
 *
 * DATABASE-wal, -shm and -journal are told by their first bytes. What is not SQLite's is somebody's
 * file that happens to have the name: it is never removed. */
#ifndef ACQ_STORE_BESIDE_H
#define ACQ_STORE_BESIDE_H

#include "base/types.h"

/* ACQ_ERR_USAGE names a file that is in the way. */
acq_status acq_beside_check(const char *database, acq_error *error);

/* Removes what is SQLite's; fails as the check does. */
acq_status acq_beside_remove(const char *database, acq_error *error);

#endif
