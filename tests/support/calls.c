/* calls.c - what the product asks of the system itself, told to disk.h like SQLite's operations.
 *
 * Linked with -Wl,--wrap=NAME: calls of NAME in our objects come to __wrap_NAME, those inside
 * libraries do not. Like SQLite's, syncs stay in the model. Paths of files that are created,
 * renamed or deleted must be absolute. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "support/disk.h"

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int file, const void *bytes, size_t n);
ssize_t __real_pwrite(int file, const void *bytes, size_t n, off_t at);
int __real_rename(const char *from, const char *to);
int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __real_unlink(const char *path);

int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int file, const void *bytes, size_t n);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t n, off_t at);
int __wrap_fsync(int file);
int __wrap_fdatasync(int file);
int __wrap_rename(const char *from, const char *to);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __wrap_unlink(const char *path);

static int fail(void)
{
    errno = disk_is_full() ? ENOSPC : EIO;
    return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    bool needs_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = needs_mode ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (disk_step(DISK_OPEN))
        return fail();
    bool is_new = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
    int file = __real_open(path, flags, mode);
    if (file >= 0 && is_new)
        disk_open(path, true);
    return file;
}

/* Pipes, as those of the tests themselves, are no disk. */
static bool is_regular(int file)
{
    struct stat facts;
    return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
}

static bool find_path(int file, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, PATH_MAX - 2);
    path[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

static void note_write(int file, const void *bytes, size_t n, off_t at)
{
    char path[PATH_MAX];
    if (at >= 0 && find_path(file, path))
        disk_write(disk_find(path), (uint64_t)at, bytes, n);
}

ssize_t __wrap_write(int file, const void *bytes, size_t n)
{
    if (!is_regular(file))
        return __real_write(file, bytes, n);
    note_write(file, bytes, n, lseek(file, 0, SEEK_CUR));
    if (disk_step(DISK_WRITE))
        return fail();
    return __real_write(file, bytes, n);
}

ssize_t __wrap_pwrite(int file, const void *bytes, size_t n, off_t at)
{
    note_write(file, bytes, n, at);
    if (disk_step(DISK_WRITE))
        return fail();
    return __real_pwrite(file, bytes, n, at);
}

int __wrap_fsync(int file)
{
    char path[PATH_MAX];
    if (!find_path(file, path))
        return -1;
    if (disk_step(DISK_SYNC))
        return fail();
    if (is_regular(file))
        disk_sync(disk_find(path));
    else
        disk_sync_folder(strcat(path, "/"));
    return 0;
}

int __wrap_fdatasync(int file)
{
    return __wrap_fsync(file);
}

int __wrap_rename(const char *from, const char *to)
{
    disk_rename(from, to);
    if (disk_step(DISK_RENAME))
        return fail();
    return __real_rename(from, to);
}

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    disk_rename(from, to);
    if (disk_step(DISK_RENAME))
        return fail();
    return __real_renameat2(from_folder, from, to_folder, to, flags);
}

int __wrap_unlink(const char *path)
{
    disk_delete(path);
    if (disk_step(DISK_DELETE))
        return fail();
    return __real_unlink(path);
}
