/* file.h - whole files into memory, with errors that name the file and the remedy. */
#ifndef ACQ_GRAPH_FILE_H
#define ACQ_GRAPH_FILE_H

#include "base/types.h"

typedef enum acq_file_kind {
    ACQ_FILE_MISSING,
    ACQ_FILE_REGULAR,
    ACQ_FILE_FOLDER,
    ACQ_FILE_STREAM, /* a pipe or socket */
    ACQ_FILE_DEVICE,
    ACQ_FILE_UNKNOWN /* the system will not say: errno of stat */
} acq_file_kind;

acq_file_kind acq_file_get_kind(const char *path);

/* The content of a file or pipe, "-": standard input, with a NUL behind it; *bytes is freed with
 * acq_free. Error names the file. */
acq_status acq_file_read(const char *path, char **bytes, size_t *length, acq_error *error);

#endif
