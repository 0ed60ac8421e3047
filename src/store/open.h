/* open.h - a store opened for one snapshot. */
#ifndef ACQ_STORE_OPEN_H
#define ACQ_STORE_OPEN_H

#include "store/database.h"

/* A database with a read transaction. Where nothing can be written beside the file, it is taken
 * as unchanging, provided that no -wal file with changes is there. Its owner may change it all the
 * same: whoever reads asks acq_db_check_unchanged afterwards. */
acq_status acq_open_to_read(acq_db *db, const char *path, acq_error *error);

#endif
