/* file.h - reading files, and writing files that appear whole or not at all; errors name the file
 * and the remedy.
 *
 * A new file has no name until it is whole and on disk (O_TMPFILE; where the file system cannot do
 * that, a name beside the final one): an interrupt at any moment leaves nothing, and whoever opens
 * the final name sees the old content or the new, also after a crash. Only a regular file is ever
 * replaced; its mode stays, and its owner and group where the system lets us. A symbolic link goes
 * on pointing to what it pointed to, and one that leads nowhere is refused. */
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

/* ---- a new file ---- */

typedef struct acq_new_file {
    const char *what; /* "the completion", in messages: cannot write ... */
    char *path;
    char *temporary; /* the name until it is in place; NULL then */
    int file;        /* -1: closed */
    bool is_named;   /* `temporary` exists */
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

/* ---- shards ----
 *
 * What one of several runs that share a piece of work leaves for the run that puts it together:
 *
 *   anycq shard 1
 *   part 3 of 8
 *   identity, lines of words that are equal in all parts
 *   (an empty line) bytes, and a checksum of all before it */

typedef struct acq_work_shard {
    uint32_t part, of;    /* from 0 */
    const char *identity; /* "name value" lines, each with its line end */
    const void *bytes;
    size_t length;
    char *block; /* of one that was read: where both lie */
} acq_work_shard;

acq_status acq_work_shard_write(const char *path, const acq_work_shard *shard, acq_error *error);

/* All n parts of one piece of work, in their order; those that differ from the identity, or that
 * are not there, or there twice, are refused by name. `out` has room for n. */
acq_status acq_work_shards_read(const char *const *paths, size_t n, const char *identity,
                                acq_work_shard *out, acq_error *error);
void acq_work_shards_deinit(acq_work_shard *shards, size_t n);

/* For a signal handler that is about to end the process and to take half-written files away: from
 * now on no other thread gives a file a name; one that is putting a file in place is waited for, a
 * second at most. A thread that comes later waits for the end of the process. */
void acq_new_file_stop_all(void);

/* Makes the names in the folder of `path` survive a crash. Files are whole either way and not
 * every system can do it, so errors pass. */
void acq_sync_folder(const char *path);

#endif
