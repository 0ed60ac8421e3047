/* database.c - SQLite behind our errors; see database.h. */
#include "store/database.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum { PATIENCE_MS = 10000 };

/* The path as a URI: the only form in which every name means a file. */
static acq_status write_uri(const char *path, acq_db_mode mode, char **out, acq_error *error)
{
    static const char *const modes[] = {[ACQ_DB_READ] = "?mode=rw",
                                        [ACQ_DB_IMMUTABLE] = "?mode=ro&immutable=1",
                                        [ACQ_DB_WRITE] = "?mode=rw",
                                        [ACQ_DB_CREATE] = "?mode=rwc"};
    acq_text uri;
    acq_text_init(&uri);
    acq_text_add(&uri, path[0] == '/' ? "file://" : "file:./");
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr("%?#", *c) != NULL)
            acq_text_format(&uri, "%%%02X", (unsigned)(unsigned char)*c);
        else
            acq_text_add_char(&uri, *c);
    }
    acq_text_add(&uri, modes[mode]);
    acq_status status = acq_text_take(&uri, out, error);
    acq_text_deinit(&uri);
    return status;
}

static acq_status open_handle(acq_db *db, const char *uri, acq_db_mode mode, const char *vfs,
                              acq_error *error)
{
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (mode == ACQ_DB_IMMUTABLE)
        flags |= SQLITE_OPEN_READONLY;
    else
        flags |= SQLITE_OPEN_READWRITE | (mode == ACQ_DB_CREATE ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(uri, &db->handle, flags, vfs);
    if (code != SQLITE_OK)
        return acq_db_fail(db, code, error);
    acq_db_set_patient(db, true);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return acq_db_run(db,
                      mode == ACQ_DB_READ ? "PRAGMA cell_size_check = ON; PRAGMA query_only = ON"
                                          : "PRAGMA cell_size_check = ON",
                      error);
}

acq_status acq_db_open_vfs(acq_db *db, const char *path, acq_db_mode mode, const char *vfs,
                           acq_error *error)
{
    char *uri = NULL;
    *db = (acq_db){.path = acq_copy_string(path)};
    if (db->path == NULL)
        return acq_fail_memory(error);
    acq_status status = write_uri(path, mode, &uri, error);
    if (status == ACQ_OK)
        status = open_handle(db, uri, mode, vfs, error);
    acq_free(uri);
    if (status != ACQ_OK)
        acq_db_close(db);
    return status;
}

acq_status acq_db_open(acq_db *db, const char *path, acq_db_mode mode, acq_error *error)
{
    return acq_db_open_vfs(db, path, mode, NULL, error);
}

void acq_db_close(acq_db *db)
{
    sqlite3_close_v2(db->handle);
    acq_free(db->path);
    *db = (acq_db){0};
}

acq_status acq_db_check_unchanged(const acq_db *db, acq_error *error)
{
    if (!db->is_watched)
        return ACQ_OK;
    acq_store_file_state now = acq_store_file_get_state(db->path);
    if (acq_store_file_is_same(&now, &db->opened))
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_IO,
             "the store was changed while it was read without locks, because its folder cannot be "
             "written; run the command again");
    acq_error_set_file(error, db->path);
    return ACQ_ERR_IO;
}

acq_status acq_db_fail_damaged(const acq_db *db, const char *reason, acq_error *error)
{
    if (acq_db_check_unchanged(db, error) != ACQ_OK)
        return ACQ_ERR_IO;
    acq_fail(error, ACQ_ERR_INPUT,
             "the store is damaged: %s; restore it from a copy, or import its sources again",
             reason);
    acq_error_set_file(error, db->path);
    return ACQ_ERR_INPUT;
}

/* What the system said of the last failure in the database's -wal file. */
static int read_log_errno(sqlite3 *handle)
{
    sqlite3_file *log = NULL;
    int number = 0;
    (void)sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log != NULL && log->pMethods != NULL)
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

/* The system's reason where SQLite knows one: it forgets that of a failed commit, its files do
 * not. */
static const char *system_reason(const acq_db *db, int code)
{
    int number = db->handle == NULL ? 0 : sqlite3_system_errno(db->handle);
    if (number == 0 && db->handle != NULL)
        (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0 && db->handle != NULL)
        number = read_log_errno(db->handle);
    return number != 0 ? strerror(number) : sqlite3_errstr(code);
}

static acq_status fail_by_code(const acq_db *db, int code, acq_error *error)
{
    const char *reason = system_reason(db, code);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return acq_fail_memory(error);
    case SQLITE_FULL:
        return acq_fail(error, ACQ_ERR_IO,
                        "the disk is full, nothing was changed; make room and try again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* others were faster, time and again */
        return acq_fail(error, ACQ_ERR_IO,
                        "another process is writing to the store; try again when it is done");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return acq_fail(error, ACQ_ERR_IO,
                        "the store cannot be written; check the permissions of the file and of "
                        "its folder");
    case SQLITE_CANTOPEN:
        return acq_fail(error, ACQ_ERR_IO,
                        "cannot open the store: %s; check that the file and its folder are there "
                        "and may be used",
                        reason);
    case SQLITE_IOERR:
        return acq_fail(error, ACQ_ERR_IO,
                        "cannot read or write the store: %s; check the disk and try again", reason);
    case SQLITE_INTERRUPT:
        return acq_fail(error, ACQ_ERR_INTERRUPTED, "interrupted; nothing was changed");
    case SQLITE_TOOBIG:
        return acq_fail(error, ACQ_ERR_LIMIT, "a value is too large for the store");
    default:
        return acq_fail(error, ACQ_ERR_INTERNAL, "SQLite: %s",
                        db->handle == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(db->handle));
    }
}

/* Our statements fit our tables: an SQLITE_ERROR speaks of a file that is not as it should be. */
static bool is_damage(int code)
{
    int primary = code & 0xff;
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT ||
           primary == SQLITE_CONSTRAINT || primary == SQLITE_ERROR ||
           code == SQLITE_IOERR_CORRUPTFS || code == SQLITE_IOERR_SHORT_READ;
}

acq_status acq_db_fail(const acq_db *db, int code, acq_error *error)
{
    if (code == SQLITE_IOERR_NOMEM)
        return acq_fail_memory(error);
    if (is_damage(code))
        return acq_db_fail_damaged(db,
                                   (code & 0xff) == SQLITE_ERROR && db->handle != NULL
                                       ? sqlite3_errmsg(db->handle)
                                       : sqlite3_errstr(code & 0xff),
                                   error);
    acq_status status = fail_by_code(db, code, error);
    if (status != ACQ_ERR_MEMORY)
        acq_error_set_file(error, db->path);
    return status;
}

acq_status acq_db_run(const acq_db *db, const char *sql, acq_error *error)
{
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ACQ_OK : acq_db_fail(db, code, error);
}

void acq_db_set_patient(const acq_db *db, bool is_patient)
{
    sqlite3_busy_timeout(db->handle, is_patient ? PATIENCE_MS : 0);
}

void acq_db_sync_log_name(const acq_db *db)
{
    const char *path = sqlite3_db_filename(db->handle, "main"); /* symbolic links followed */
    if (path != NULL)
        acq_sync_folder(path);
}

void acq_db_roll_back(const acq_db *db)
{
    if (db->handle != NULL && sqlite3_get_autocommit(db->handle) == 0)
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

acq_status acq_db_prepare(const acq_db *db, const char *sql, sqlite3_stmt **out, acq_error *error)
{
    int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? ACQ_OK : acq_db_fail(db, code, error);
}

acq_status acq_db_step(const acq_db *db, sqlite3_stmt *statement, bool *has_row, acq_error *error)
{
    int code = sqlite3_step(statement);
    *has_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? ACQ_OK : acq_db_fail(db, code, error);
}

acq_status acq_db_finish(const acq_db *db, sqlite3_stmt *statement, acq_error *error)
{
    bool has_row = false;
    acq_status status = acq_db_step(db, statement, &has_row, error);
    sqlite3_reset(statement);
    return status;
}

acq_status acq_db_read_number(const acq_db *db, const char *sql, int64_t *out, acq_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = false;
    acq_status status = acq_db_prepare(db, sql, &statement, error);
    if (status == ACQ_OK)
        status = acq_db_step(db, statement, &has_row, error);
    if (status == ACQ_OK && !has_row)
        status = acq_db_fail_damaged(db, "a row is missing", error);
    if (status == ACQ_OK)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

acq_status acq_db_read_text(const acq_db *db, sqlite3_stmt *statement, int column, const char **out,
                            size_t *length, acq_error *error)
{
    int type = sqlite3_column_type(statement, column);
    *out = NULL;
    *length = 0;
    if (type == SQLITE_NULL)
        return ACQ_OK;
    if (type != SQLITE_TEXT)
        return acq_db_fail_damaged(db, "a name is not text", error);
    *out = (const char *)sqlite3_column_text(statement, column);
    if (*out == NULL)
        return acq_fail_memory(error);
    *length = (size_t)sqlite3_column_bytes(statement, column);
    return ACQ_OK;
}

int acq_db_bind_u64(sqlite3_stmt *statement, int place, uint64_t value)
{
    return sqlite3_bind_int64(statement, place, (sqlite3_int64)value);
}

uint64_t acq_db_get_u64(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

int acq_db_bind_text(sqlite3_stmt *statement, int place, const char *text, size_t length)
{
    if (text == NULL)
        return sqlite3_bind_null(statement, place);
    return sqlite3_bind_text64(statement, place, text, length, SQLITE_STATIC, SQLITE_UTF8);
}

/* BEGIN alone reads nothing: the snapshot is taken by the first look at the file. */
static acq_status begin(const acq_db *db, acq_error *error)
{
    int64_t ignored;
    acq_status status = acq_db_run(db, "BEGIN", error);
    return status == ACQ_OK
               ? acq_db_read_number(db, "SELECT count(*) FROM sqlite_schema", &ignored, error)
               : status;
}

/* watched NULL: locks see to it that the snapshot stays. */
static acq_status open_as(acq_db *db, const char *path, acq_db_mode mode,
                          const acq_store_file_state *watched, acq_error *error)
{
    acq_status status = acq_db_open(db, path, mode, error);
    if (status != ACQ_OK)
        return status;
    db->is_watched = watched != NULL;
    if (watched != NULL)
        db->opened = *watched;
    status = begin(db, error);
    if (status != ACQ_OK)
        acq_db_close(db);
    return status;
}

/* SQLite needs a -shm file for the changes in the -wal file, and cannot make one there. */
static acq_status fail_unreadable_log(const char *path, acq_error *error)
{
    acq_fail(
        error, ACQ_ERR_IO,
        "changes wait in its -wal file, which needs a folder that may be written; copy both files, "
        "or let the owner compact");
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

acq_status acq_db_open_to_read(acq_db *db, const char *path, acq_error *error)
{
    acq_store_place place;
    acq_error first = {0};
    acq_store_file_state state = acq_store_file_get_state(path); /* before the log is looked for */
    acq_status status = acq_store_file_check(path, error);
    if (status == ACQ_OK)
        status = acq_store_file_get_place(path, &place, error);
    if (status != ACQ_OK)
        return status;
    status = open_as(db, path, ACQ_DB_READ, NULL, &first);
    if (status == ACQ_ERR_IO && !place.is_writable)
        return place.has_log ? fail_unreadable_log(path, error)
                             : open_as(db, path, ACQ_DB_IMMUTABLE, &state, error);
    if (status != ACQ_OK) {
        acq_fail(error, first.code, "%s", first.message);
        acq_error_set_file(error, first.file);
    }
    return status;
}

/* ---- temporary files ----
 *
 * SQLite opens temporary files from its sorting threads too, and
 * a file's name must last as long as the file, so names are kept in a list under a lock. */

typedef struct temporary_name {
    struct temporary_name *next;
    char text[];
} temporary_name;

struct acq_temporary_vfs {
    sqlite3_vfs vfs; /* first: SQLite hands back a pointer to it */
    sqlite3_vfs *real;
    const char *folder;
    char name[48];
    pthread_mutex_t lock; /* of the rest */
    temporary_name *names;
    unsigned n_names;
};

/* NULL: out of memory. */
static const char *make_name(acq_temporary_vfs *self)
{
    size_t room = strlen(self->folder) + 64;
    temporary_name *name = acq_alloc(1, sizeof *name + room);
    if (name == NULL)
        return NULL;
    pthread_mutex_lock(&self->lock);
    snprintf(name->text, room, "%s/.%s-%u", self->folder, self->name, self->n_names++);
    name->next = self->names;
    self->names = name;
    pthread_mutex_unlock(&self->lock);
    return name->text;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    acq_temporary_vfs *self = (acq_temporary_vfs *)vfs;
    if (name == NULL) {
        name = make_name(self);
        if (name == NULL) {
            file->pMethods = NULL;
            return SQLITE_NOMEM;
        }
    }
    return self->real->xOpen(self->real, name, file, flags, out_flags);
}

acq_status acq_temporary_vfs_new(const char *folder, acq_temporary_vfs **out)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    acq_temporary_vfs *self = acq_zalloc(1, sizeof *self);
    if (self == NULL || real == NULL) {
        acq_free(self);
        return ACQ_ERR_MEMORY;
    }
    self->vfs = *real;
    self->real = real;
    self->folder = folder;
    snprintf(self->name, sizeof self->name, "anycq-%ld-%p", (long)getpid(), (void *)self);
    self->vfs.pNext = NULL;
    self->vfs.zName = self->name;
    self->vfs.xOpen = open_file;
    pthread_mutex_init(&self->lock, NULL);
    if (sqlite3_vfs_register(&self->vfs, 0) != SQLITE_OK) {
        pthread_mutex_destroy(&self->lock);
        acq_free(self);
        return ACQ_ERR_MEMORY;
    }
    *out = self;
    return ACQ_OK;
}

void acq_temporary_vfs_free(acq_temporary_vfs *vfs)
{
    if (vfs == NULL)
        return;
    sqlite3_vfs_unregister(&vfs->vfs);
    while (vfs->names != NULL) {
        temporary_name *next = vfs->names->next;
        acq_free(vfs->names);
        vfs->names = next;
    }
    pthread_mutex_destroy(&vfs->lock);
    acq_free(vfs);
}

const char *acq_temporary_vfs_get_name(const acq_temporary_vfs *vfs)
{
    return vfs->name;
}
