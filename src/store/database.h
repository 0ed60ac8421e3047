/* database.h - the few things we ask of SQLite, with its errors said in our words.
 *
 * A path is always a file: names that SQLite would take for a URI or for memory are not special.
 * Nothing here knows tables; format.h does. */
#ifndef ACQ_STORE_DATABASE_H
#define ACQ_STORE_DATABASE_H

#include <sqlite3.h>

#include "base/types.h"

/* ---- file ----
 *
 * The look of a file before SQLite opens it as a database.
 *
 * All reading goes through SQLite's file layer: closing a descriptor of our own would drop the
 * locks that other connections of this process hold on the same file. */

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

/* ---- database ---- */

typedef enum acq_db_mode {
    ACQ_DB_READ,      /* an existing file, not changed; but whoever leaves it last tidies up
                         SQLite's files beside it, so it is opened for writing where that may be */
    ACQ_DB_IMMUTABLE, /* the same without locks: nobody changes it, or it is watched */
    ACQ_DB_WRITE,     /* an existing file */
    ACQ_DB_CREATE,    /* a file that may not be there yet */
} acq_db_mode;

typedef struct acq_db {
    sqlite3 *handle;
    char *path;                  /* for messages */
    bool is_watched;             /* read without locks, so that others may change it */
    acq_store_file_state opened; /* if so: the file as it was then */
} acq_db;

/* On failure the database is closed. */
acq_status acq_db_open(acq_db *db, const char *path, acq_db_mode mode, acq_error *error);

/* The same with another of SQLite's file systems than the default one. */
acq_status acq_db_open_vfs(acq_db *db, const char *path, acq_db_mode mode, const char *vfs,
                           acq_error *error);

/* A database with a read transaction. Where nothing can be written beside the file, it is taken
 * as unchanging, provided that no -wal file with changes is there. Its owner may change it all the
 * same: whoever reads asks acq_db_check_unchanged afterwards. */
acq_status acq_db_open_to_read(acq_db *db, const char *path, acq_error *error);

void acq_db_close(acq_db *db); /* also of a zeroed one */

/* What the result code of a call means to a user; the file is named. */
acq_status acq_db_fail(const acq_db *db, int code, acq_error *error);

/* Of a watched file: ACQ_ERR_IO when it is another one than at first, so that what was read last
 * may not fit what was read before. */
acq_status acq_db_check_unchanged(const acq_db *db, acq_error *error);

/* "the store is damaged: REASON" and what to do about it, unless a watched one was changed. */
acq_status acq_db_fail_damaged(const acq_db *db, const char *reason, acq_error *error);

/* All statements of a text, without results. */
acq_status acq_db_run(const acq_db *db, const char *sql, acq_error *error);

/* For what may be left undone: whether to wait for other processes, as at first, or not. */
void acq_db_set_patient(const acq_db *db, bool is_patient);

/* Before the first commit of a connection, after its first look at the file: makes the name of its
 * -wal file survive a crash. SQLite does so only for a file that this connection created. */
void acq_db_sync_log_name(const acq_db *db);

/* Ends a transaction that failed, if one is open; its own errors do not matter. */
void acq_db_roll_back(const acq_db *db);

acq_status acq_db_prepare(const acq_db *db, const char *sql, sqlite3_stmt **out, acq_error *error);

/* The next row, if any. */
acq_status acq_db_step(const acq_db *db, sqlite3_stmt *statement, bool *has_row, acq_error *error);

/* Runs a statement without result to its end and makes it ready for the next use. */
acq_status acq_db_finish(const acq_db *db, sqlite3_stmt *statement, acq_error *error);

/* The only number in the only row, such as a PRAGMA's. */
acq_status acq_db_read_number(const acq_db *db, const char *sql, int64_t *out, acq_error *error);

/* Borrowed until the next step. *out NULL: the column is. Damage when it is not text. */
acq_status acq_db_read_text(const acq_db *db, sqlite3_stmt *statement, int column, const char **out,
                            size_t *length, acq_error *error);

/* 64 unsigned bits as SQLite's signed ones; text NULL binds NULL and is not copied. */
int acq_db_bind_u64(sqlite3_stmt *statement, int place, uint64_t value);
uint64_t acq_db_get_u64(sqlite3_stmt *statement, int column);
int acq_db_bind_text(sqlite3_stmt *statement, int place, const char *text, size_t length);

/* ---- temporary files ----
 *
 * SQLite's temporary files beside the store instead of in the system's folder.
 *
 * Sorting the names of a large graph takes as much room as the names, writing a store anew as much
 * as the store, and /tmp is often small or in memory. SQLite's own ways to say so are a global
 * variable and the environment, which are not ours to set; a file system of its own for one
 * connection is. It hands everything on to the default one and only gives nameless files a name,
 * which SQLite removes at once. */

typedef struct acq_temporary_vfs acq_temporary_vfs;

/* `folder` is kept by the caller. ACQ_ERR_MEMORY. */
acq_status acq_temporary_vfs_new(const char *folder, acq_temporary_vfs **out);

/* After every database that uses it is closed. */
void acq_temporary_vfs_free(acq_temporary_vfs *vfs);

const char *acq_temporary_vfs_get_name(const acq_temporary_vfs *vfs);

#endif
