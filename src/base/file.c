/* file.c - see file.h. Reads until the end, so pipes and growing files work too. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { FIRST_READ = 64 * 1024, LARGEST_READ = 1 << 30 };

static bool is_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

acq_file_kind acq_file_get_kind(const char *path)
{
    struct stat info;
    if (is_input(path))
        return ACQ_FILE_STREAM;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? ACQ_FILE_MISSING : ACQ_FILE_UNKNOWN;
    if (S_ISDIR(info.st_mode))
        return ACQ_FILE_FOLDER;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
        return ACQ_FILE_DEVICE;
    return S_ISREG(info.st_mode) ? ACQ_FILE_REGULAR : ACQ_FILE_STREAM;
}

uint64_t acq_file_get_size(const char *path)
{
    struct stat info;
    if (is_input(path) || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    return (uint64_t)info.st_size;
}

bool acq_file_is_alias(const char *path, const char *other)
{
    struct stat a, b;
    if (is_input(path) || is_input(other) || stat(path, &a) != 0 || stat(other, &b) != 0)
        return false;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

acq_status acq_file_open(const char *path, int *out, acq_error *error)
{
    int file = is_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    acq_status status;
    if (file >= 0) {
        *out = file;
        return ACQ_OK;
    }
    if (errno == ENOENT || errno == ENOTDIR)
        status = acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path");
    else
        status = acq_fail(error, ACQ_ERR_IO, "cannot open the file: %s", strerror(errno));
    acq_error_set_file(error, path);
    return status;
}

void acq_file_close(int file)
{
    if (file != STDIN_FILENO)
        close(file);
}

acq_status acq_file_read_some(int file, const char *path, char *buffer, size_t room, size_t *got,
                              acq_error *error)
{
    ssize_t n;
    do {
        n = read(file, buffer, room < LARGEST_READ ? room : LARGEST_READ);
    } while (n < 0 && errno == EINTR);
    if (n >= 0) {
        *got = (size_t)n;
        return ACQ_OK;
    }
    acq_status status = acq_fail(error, ACQ_ERR_IO, "cannot read the file: %s", strerror(errno));
    acq_error_set_file(error, is_input(path) ? "standard input" : path);
    return status;
}

/* One more than the size, so that the end of a regular file is seen without growing. */
static size_t first_capacity(const char *path)
{
    uint64_t size = acq_file_get_size(path);
    return size == 0 || size >= SIZE_MAX ? FIRST_READ : (size_t)size + 1;
}

/* Fills the buffer up to the end of the file. */
static acq_status read_all(int file, const char *path, char **bytes, size_t *length,
                           acq_error *error)
{
    size_t capacity = 0, need = first_capacity(path);
    for (;;) {
        size_t got = 0;
        if (need > capacity && ACQ_RESERVE(*bytes, capacity, need) != ACQ_OK)
            return acq_fail_memory(error);
        acq_status status =
            acq_file_read_some(file, path, *bytes + *length, capacity - *length, &got, error);
        if (status != ACQ_OK || got == 0)
            return status;
        *length += got;
        need = *length + 1;
    }
}

acq_status acq_file_read(const char *path, char **bytes, size_t *length, acq_error *error)
{
    int file;
    char *content = NULL;
    size_t n = 0;
    acq_status status = acq_file_open(path, &file, error);
    if (status != ACQ_OK)
        return status;
    status = read_all(file, path, &content, &n, error);
    acq_file_close(file);
    if (status != ACQ_OK) {
        acq_free(content);
        return status;
    }
    content[n] = '\0';
    *bytes = content;
    *length = n;
    return ACQ_OK;
}
