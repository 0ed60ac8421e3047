/* new_file.h - a file that appears whole or not at all.
 *
 * Written under a name beside the final one, put on disk, then renamed over it: whoever opens the
 * final name sees the old content or the new, also after a crash. Only a regular file is ever
 * replaced, and a symbolic link goes on pointing to what it pointed to. */
#ifndef ACQ_BASE_NEW_FILE_H
#define ACQ_BASE_NEW_FILE_H

#include "base/types.h"

typedef struct acq_new_file {
    const char *what; /* "the completion", in messages: cannot write ... */
    char *path;
    char *temporary; /* NULL once it is in place */
    int file;        /* -1: closed */
} acq_new_file;

/* Deinit also after an error. `what` is borrowed. */
acq_status acq_new_file_init(acq_new_file *file, const char *path, const char *what,
                             acq_error *error);

/* Puts bytes at an offset; what lies between two pieces is zero. */
acq_status acq_new_file_put(acq_new_file *file, const void *bytes, size_t length, uint64_t at,
                            acq_error *error);

/* Gives the file its name. On an error the old content stays. */
acq_status acq_new_file_finish(acq_new_file *file, acq_error *error);

/* Takes an unfinished file away. A zeroed one is legal. */
void acq_new_file_deinit(acq_new_file *file);

/* Under which name this process would write to `path` now, for whoever takes it away when the
 * process is stopped; freed with acq_free. NULL: out of memory. */
char *acq_new_file_copy_temporary(const char *path);

/* All of it in one go. */
acq_status acq_new_file_write(const char *path, const char *what, const void *bytes, size_t length,
                              acq_error *error);

/* Makes the names in the folder of `path` survive a crash. Files are whole either way and not
 * every system can do it, so errors pass. */
void acq_sync_folder(const char *path);

#endif
