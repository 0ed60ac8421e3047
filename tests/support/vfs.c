/* vfs.c - see vfs.h.
 *
 * A file of ours is followed in memory by the file of the real VFS. Syncs are not passed on: the
 * model is the disk, and a process that dies loses nothing of the page cache. */
#include "support/vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/disk.h"

typedef struct shim_file {
    sqlite3_file base;
    disk_file *model;
    char *unsynced_path; /* a new journal: its first sync is also one of its folder */
} shim_file;

static sqlite3_file *real(sqlite3_file *file)
{
    return (sqlite3_file *)((shim_file *)file + 1);
}

static disk_file *model(sqlite3_file *file)
{
    return ((shim_file *)file)->model;
}

static int failure(int code)
{
    return disk_is_full() ? SQLITE_FULL : code;
}

static int shim_close(sqlite3_file *file)
{
    free(((shim_file *)file)->unsynced_path);
    return real(file)->pMethods->xClose(real(file));
}

static int shim_read(sqlite3_file *file, void *to, int n, sqlite3_int64 offset)
{
    if (disk_step(DISK_READ))
        return SQLITE_IOERR_READ;
    return real(file)->pMethods->xRead(real(file), to, n, offset);
}

static int shim_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 offset)
{
    disk_write(model(file), (uint64_t)offset, from, (size_t)n);
    if (disk_step(DISK_WRITE))
        return failure(SQLITE_IOERR_WRITE);
    return real(file)->pMethods->xWrite(real(file), from, n, offset);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    disk_truncate(model(file), (uint64_t)size);
    if (disk_step(DISK_TRUNCATE))
        return SQLITE_IOERR_TRUNCATE;
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    shim_file *self = (shim_file *)file;
    if (disk_step(DISK_SYNC))
        return failure(SQLITE_IOERR_FSYNC);
    disk_sync(self->model);
    if (self->unsynced_path != NULL)
        disk_sync_folder(self->unsynced_path);
    free(self->unsynced_path);
    self->unsynced_path = NULL;
    return SQLITE_OK;
}

static int shim_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int shim_lock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

static int shim_unlock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int shim_check_reserved_lock(sqlite3_file *file, int *is_held)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), is_held);
}

/* A hint may make the real file longer without a write: it is swallowed. */
static int shim_control(sqlite3_file *file, int operation, void *argument)
{
    if (operation == SQLITE_FCNTL_SIZE_HINT)
        return SQLITE_OK;
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int shim_sector_size(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int shim_characteristics(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int shim_map(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
    if (disk_step(DISK_MAP))
        return SQLITE_IOERR_SHMMAP;
    return real(file)->pMethods->xShmMap(real(file), region, size, extend, out);
}

static int shim_map_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}

static void shim_map_barrier(sqlite3_file *file)
{
    real(file)->pMethods->xShmBarrier(real(file));
}

static int shim_unmap(sqlite3_file *file, int is_last)
{
    return real(file)->pMethods->xShmUnmap(real(file), is_last);
}

static int shim_fetch(sqlite3_file *file, sqlite3_int64 offset, int n, void **out)
{
    return real(file)->pMethods->xFetch(real(file), offset, n, out);
}

static int shim_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    return real(file)->pMethods->xUnfetch(real(file), offset, page);
}

static const sqlite3_io_methods SHIM_METHODS = {
    .iVersion = 3,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_file_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check_reserved_lock,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector_size,
    .xDeviceCharacteristics = shim_characteristics,
    .xShmMap = shim_map,
    .xShmLock = shim_map_lock,
    .xShmBarrier = shim_map_barrier,
    .xShmUnmap = shim_unmap,
    .xFetch = shim_fetch,
    .xUnfetch = shim_unfetch,
};

static sqlite3_vfs *get_real_vfs(void)
{
    return sqlite3_vfs_find("unix");
}

/* Databases and their logs are modelled; temporary files die with the process anyway. */
static void attach_model(shim_file *file, const char *path, int flags, bool is_new)
{
    enum {
        JOURNALS = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL,
        LASTING = SQLITE_OPEN_MAIN_DB | JOURNALS,
    };
    if (path == NULL || (flags & LASTING) == 0)
        return;
    file->model = disk_open(path, is_new);
    if (is_new && (flags & JOURNALS) != 0)
        file->unsynced_path = strdup(path);
}

static int shim_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *out_flags)
{
    (void)vfs;
    shim_file *self = (shim_file *)file;
    *self = (shim_file){0};
    if (disk_step(DISK_OPEN))
        return SQLITE_CANTOPEN;
    bool is_new = path != NULL && access(path, F_OK) != 0;
    int code = get_real_vfs()->xOpen(get_real_vfs(), path, real(file), flags, out_flags);
    if (code != SQLITE_OK)
        return code;
    self->base.pMethods = &SHIM_METHODS;
    attach_model(self, path, flags, is_new);
    return SQLITE_OK;
}

static int shim_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs;
    bool is_there = access(path, F_OK) == 0;
    if (is_there)
        disk_delete(path);
    if (disk_step(DISK_DELETE))
        return SQLITE_IOERR_DELETE;
    int code = get_real_vfs()->xDelete(get_real_vfs(), path, 0);
    if (code == SQLITE_OK && sync_folder != 0)
        disk_sync_folder(path);
    return code;
}

static sqlite3_vfs *get_shim(void)
{
    static sqlite3_vfs shim; /* SQLite keeps a pointer to it */
    if (shim.zName == NULL) {
        shim = *get_real_vfs(); /* all that does not touch files is as in the real one */
        shim.zName = "shim";
        shim.pNext = NULL;
        shim.szOsFile += (int)sizeof(shim_file);
        shim.xOpen = shim_open;
        shim.xDelete = shim_delete;
    }
    return &shim;
}

void vfs_install(void)
{
    if (sqlite3_initialize() != SQLITE_OK || sqlite3_vfs_register(get_shim(), 1) != SQLITE_OK)
        abort();
}

void vfs_remove(void)
{
    if (sqlite3_vfs_register(get_real_vfs(), 1) != SQLITE_OK)
        abort();
}
