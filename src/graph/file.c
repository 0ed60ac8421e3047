/* file.c - see file.h. Reads until the end, so pipes and growing files work too. */
#include "graph/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { FIRST_READ = 64 * 1024, LARGEST_READ = 1 << 30 };

acq_file_kind acq_file_get_kind(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? ACQ_FILE_MISSING : ACQ_FILE_UNKNOWN;
    if (S_ISDIR(info.st_mode))
        return ACQ_FILE_FOLDER;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
        return ACQ_FILE_DEVICE;
    return S_ISREG(info.st_mode) ? ACQ_FILE_REGULAR : ACQ_FILE_STREAM;
}

static acq_status fail_open(const char *path, int reason, acq_error *error)
{
    acq_status status;
    if (reason == ENOENT || reason == ENOTDIR)
        status = acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path");
    else
        status = acq_fail(error, ACQ_ERR_IO, "cannot open the file: %s", strerror(reason));
    acq_error_set_file(error, path);
    return status;
}

/* One more than the size, so that the end of a regular file is seen without growing. */
static size_t first_capacity(int file)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0)
        return FIRST_READ;
    return (size_t)info.st_size + 1;
}

/* Fills the buffer up to the end of the file; 0 or an errno. */
static int read_all(int file, char **bytes, size_t *length)
{
    size_t capacity = 0, need = first_capacity(file);
    for (;;) {
        if (need > capacity && ACQ_RESERVE(*bytes, capacity, need) != ACQ_OK)
            return ENOMEM;
        size_t room = capacity - *length;
        ssize_t got = read(file, *bytes + *length, room < LARGEST_READ ? room : LARGEST_READ);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            *length += (size_t)got;
        need = *length + 1;
    }
}

acq_status acq_file_read(const char *path, char **bytes, size_t *length, acq_error *error)
{
    bool is_input = strcmp(path, "-") == 0;
    int file = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_open(path, errno, error);
    char *content = NULL;
    size_t n = 0;
    int reason = read_all(file, &content, &n);
    if (!is_input)
        close(file);
    if (reason == 0) {
        content[n] = '\0';
        *bytes = content;
        *length = n;
        return ACQ_OK;
    }
    acq_free(content);
    if (reason == ENOMEM)
        return acq_fail_memory(error);
    acq_status status = acq_fail(error, ACQ_ERR_IO, "cannot read the file: %s", strerror(reason));
    acq_error_set_file(error, is_input ? "standard input" : path);
    return status;
}
