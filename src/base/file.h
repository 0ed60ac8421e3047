/* file.h - reading files, with errors that name the file and the remedy. */
#ifndef ACQ_BASE_FILE_H
#define ACQ_BASE_FILE_H

#include "base/types.h"

typedef enum acq_file_kind {
    ACQ_FILE_MISSING,
    ACQ_FILE_REGULAR,
    ACQ_FILE_FOLDER,
    ACQ_FILE_STREAM, /* a pipe or socket, or "-": standard input */
    ACQ_FILE_DEVICE,
    ACQ_FILE_UNKNOWN /* the system will not say: errno of stat */
} acq_file_kind;

acq_file_kind acq_file_get_kind(const char *path);

/* Bytes of a regular file; 0 when unknown. */
uint64_t acq_file_get_size(const char *path);

/* Do both paths lead to one file? False where one of them leads nowhere. */
bool acq_file_is_alias(const char *path, const char *other);

/* A descriptor for reading; "-": standard input, which close leaves open. */
acq_status acq_file_open(const char *path, int *out, acq_error *error);
void acq_file_close(int file);

/* Up to `room` bytes; 0 only at the end. `path` is for the message. */
acq_status acq_file_read_some(int file, const char *path, char *buffer, size_t room, size_t *got,
                              acq_error *error);

/* The whole content of a file, pipe or "-", with a NUL behind it; *bytes is freed with acq_free. */
acq_status acq_file_read(const char *path, char **bytes, size_t *length, acq_error *error);

#endif
