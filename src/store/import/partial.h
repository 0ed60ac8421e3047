/* partial.h - OUTPUT.partial, where an import writes until OUTPUT may appear.
 *
 *   init ─▶ (the caller writes a database to `path` and closes it) ─▶ finish ─▶ deinit
 *
 * The file is locked while it is in use: two imports into one output refuse each other, and what
 * a killed one left behind is taken over by the next. Whatever ends the import, OUTPUT is absent,
 * or what it was, or complete. */
#ifndef ACQ_STORE_IMPORT_PARTIAL_H
#define ACQ_STORE_IMPORT_PARTIAL_H

#include "base/types.h"

typedef struct acq_partial {
    char *output;    /* as the system knows it: absolute, symbolic links followed */
    char *folder;    /* of both files */
    char *path;      /* output.partial */
    int file;        /* holds the lock; -1: not ours (yet) */
    bool has_output; /* a regular file of that name was there: it is for the caller to judge */
} acq_partial;

/* Makes an empty file of our own. Folders, devices and the like in the place of OUTPUT are
 * refused. Deinit also after an error. */
acq_status acq_partial_init(acq_partial *partial, const char *output, acq_error *error);

/* Puts the file on disk and gives it its name, which nobody may have got meanwhile: for an OUTPUT
 * that was not there. What a deleted store of that name left beside it is removed, so that it is
 * never taken for a part of the new one; init has refused what is not SQLite's there. */
acq_status acq_partial_finish(acq_partial *partial, acq_error *error);

/* Removes what was not finished. A zeroed one is legal. */
void acq_partial_deinit(acq_partial *partial);

#endif
