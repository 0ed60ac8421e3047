/* vfs.h - SQLite's temporary files beside the store instead of in the system's folder.
 *
 * Sorting the names of a large graph takes as much room as the names, writing a store anew as much
 * as the store, and /tmp is often small or in memory. SQLite's own ways to say so are a global
 * variable and the environment, which are not ours to set; a file system of its own for one
 * connection is. It hands everything on to the default one and only gives nameless files a name,
 * which SQLite removes at once. */
#ifndef ACQ_STORE_IMPORT_VFS_H
#define ACQ_STORE_IMPORT_VFS_H

#include "base/types.h"

typedef struct acq_temporary_vfs acq_temporary_vfs;

/* `folder` is kept by the caller. ACQ_ERR_MEMORY. */
acq_status acq_temporary_vfs_new(const char *folder, acq_temporary_vfs **out);

/* After every database that uses it is closed. */
void acq_temporary_vfs_free(acq_temporary_vfs *vfs);

const char *acq_temporary_vfs_get_name(const acq_temporary_vfs *vfs);

#endif
