/* file.c - recognising a store by its first bytes; see database.h. */
#include "store/database.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/memory.h"
#include "store/format.h"

/* Bytes that every SQLite database begins with, and where some numbers are among them. */
enum { HEADER = 100, PAGE_SIZE = 16, APPLICATION = 68 };

typedef struct file_header {
    unsigned char bytes[HEADER];
    bool is_database;
    bool is_complete; /* all 100 bytes are there */
    bool is_even;     /* the file ends with a page */
} file_header;

/* Other page sizes than ours are SQLite's to judge. */
static bool ends_with_page(const file_header *header, sqlite3_int64 size)
{
    uint16_t big;
    memcpy(&big, header->bytes + PAGE_SIZE, sizeof big);
    return be16toh(big) != ACQ_STORE_PAGE || size % ACQ_STORE_PAGE == 0;
}

/* Reads through an open file of SQLite's, which is closed afterwards. */
static int read_header(sqlite3_file *file, file_header *out)
{
    static const char magic[16] = "SQLite format 3"; /* with its NUL */
    sqlite3_int64 size = 0;
    int code = file->pMethods->xFileSize(file, &size);
    int n = size < HEADER ? (int)size : HEADER;
    if (code == SQLITE_OK && n > 0)
        code = file->pMethods->xRead(file, out->bytes, n, 0);
    file->pMethods->xClose(file);
    out->is_complete = n == HEADER;
    out->is_even = ends_with_page(out, size);
    out->is_database = (size_t)n >= sizeof magic && memcmp(out->bytes, magic, sizeof magic) == 0;
    return code;
}

static int open_and_read(sqlite3_vfs *vfs, const char *path, char *full, file_header *out)
{
    int code = vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, full);
    if (code != SQLITE_OK && code != SQLITE_OK_SYMLINK)
        return code;
    sqlite3_filename name = sqlite3_create_filename(full, "", "", 0, NULL);
    sqlite3_file *file = acq_zalloc(1, (size_t)vfs->szOsFile);
    code = SQLITE_NOMEM;
    if (name != NULL && file != NULL) {
        code = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
        if (code == SQLITE_OK)
            code = read_header(file, out);
    }
    acq_free(file);
    sqlite3_free_filename(name);
    return code;
}

/* SQLITE_OK, or its reason; errno then has the system's. */
static int read_file(const char *path, file_header *out)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *full = vfs == NULL ? NULL : acq_alloc((size_t)vfs->mxPathname + 1, 1);
    *out = (file_header){0};
    if (full == NULL)
        return SQLITE_NOMEM;
    errno = 0;
    int code = open_and_read(vfs, path, full, out);
    acq_free(full);
    return code;
}

acq_status acq_store_file_is_database(const char *path, bool *out, acq_error *error)
{
    struct stat info;
    file_header header = {0};
    int code = SQLITE_OK;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        code = read_file(path, &header);
    if (code == SQLITE_NOMEM)
        return acq_fail_memory(error);
    *out = code == SQLITE_OK && header.is_database;
    return ACQ_OK;
}

bool acq_store_is_database(const char *path)
{
    bool is_database = false;
    return path != NULL && acq_store_file_is_database(path, &is_database, NULL) == ACQ_OK &&
           is_database;
}

acq_status acq_store_file_fail_foreign(const char *path, acq_error *error)
{
    acq_fail(error, ACQ_ERR_INPUT,
             "this is an SQLite database, but not an anycq store; make one with anycq import");
    acq_error_set_file(error, path);
    return ACQ_ERR_INPUT;
}

static uint32_t get_application(const file_header *header)
{
    uint32_t big;
    memcpy(&big, header->bytes + APPLICATION, sizeof big);
    return be32toh(big);
}

static acq_status fail_cut_off(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the store is cut off; restore it from a copy, or import its sources again");
}

static acq_status check_header(const char *path, const file_header *header, acq_error *error)
{
    if (!header->is_database)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is not an anycq store; make one with anycq import");
    if (!header->is_complete)
        return fail_cut_off(error);
    return get_application(header) == ACQ_STORE_APPLICATION
               ? ACQ_OK
               : acq_store_file_fail_foreign(path, error);
}

/* While a log is beside it, a file that ends within a page is only being written; and if the log
 * has just gone, the file is whole by now. */
static acq_status check_end(const char *path, const file_header *header, acq_error *error)
{
    uint64_t file_bytes = 0, wal_bytes = 0;
    struct stat now;
    if (header->is_even)
        return ACQ_OK;
    acq_status status = acq_store_file_sizes(path, &file_bytes, &wal_bytes, error);
    if (status != ACQ_OK || wal_bytes > 0)
        return status;
    return stat(path, &now) == 0 && now.st_size % ACQ_STORE_PAGE == 0 ? ACQ_OK
                                                                      : fail_cut_off(error);
}

static acq_status check_kind(const char *path, acq_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return acq_fail(error, ACQ_ERR_IO, "cannot open the store: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is not a file; name the file that anycq import made");
    if (info.st_size == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the file is empty; name the file that anycq import made");
    return ACQ_OK;
}

static acq_status check_content(const char *path, acq_error *error)
{
    file_header header;
    int code = read_file(path, &header);
    if (code == SQLITE_NOMEM)
        return acq_fail_memory(error);
    if (code != SQLITE_OK)
        return acq_fail(error, ACQ_ERR_IO, "cannot read the store: %s",
                        errno != 0 ? strerror(errno) : sqlite3_errstr(code));
    acq_status status = check_header(path, &header, error);
    return status == ACQ_OK ? check_end(path, &header, error) : status;
}

acq_status acq_store_file_check(const char *path, acq_error *error)
{
    acq_status status = check_kind(path, error);
    if (status == ACQ_OK)
        status = check_content(path, error);
    if (status != ACQ_OK && status != ACQ_ERR_MEMORY)
        acq_error_set_file(error, path);
    return status;
}

static uint64_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* Where the file really is: SQLite follows symbolic links, and what it keeps beside a file is
 * beside that one. */
static acq_status resolve(const char *path, char **out, acq_error *error)
{
    char *real = realpath(path, NULL);
    *out = acq_copy_string(real == NULL ? path : real);
    free(real);
    return *out == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status measure(const char *real, uint64_t *file, uint64_t *wal, acq_error *error)
{
    size_t room = strlen(real) + sizeof "-wal";
    char *wal_path = acq_alloc(room, 1);
    if (wal_path == NULL)
        return acq_fail_memory(error);
    snprintf(wal_path, room, "%s-wal", real);
    *file = size_of(real);
    *wal = size_of(wal_path);
    acq_free(wal_path);
    return ACQ_OK;
}

acq_status acq_store_file_sizes(const char *path, uint64_t *file, uint64_t *wal, acq_error *error)
{
    char *real = NULL;
    acq_status status = resolve(path, &real, error);
    if (status == ACQ_OK)
        status = measure(real, file, wal, error);
    acq_free(real);
    return status;
}

/* Cuts the path down to its folder. */
static bool is_folder_writable(char *real)
{
    char *slash = strrchr(real, '/');
    if (slash == NULL)
        return access(".", W_OK) == 0;
    slash[slash == real ? 1 : 0] = '\0';
    return access(real, W_OK) == 0;
}

acq_status acq_store_file_get_place(const char *path, acq_store_place *out, acq_error *error)
{
    uint64_t file_bytes, wal_bytes;
    char *real = NULL;
    acq_status status = resolve(path, &real, error);
    if (status == ACQ_OK)
        status = measure(real, &file_bytes, &wal_bytes, error);
    if (status == ACQ_OK)
        *out = (acq_store_place){.has_log = wal_bytes > 0, .is_writable = is_folder_writable(real)};
    acq_free(real);
    return status;
}

acq_store_file_state acq_store_file_get_state(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return (acq_store_file_state){0};
    return (acq_store_file_state){.device = (uint64_t)info.st_dev,
                                  .inode = (uint64_t)info.st_ino,
                                  .size = (uint64_t)info.st_size,
                                  .seconds = info.st_mtim.tv_sec,
                                  .nanoseconds = info.st_mtim.tv_nsec};
}

bool acq_store_file_is_same(const acq_store_file_state *a, const acq_store_file_state *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}
