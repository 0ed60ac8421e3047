/* new_file.c - see new_file.h. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { MOST_TRIES = 1000, LARGEST_WRITE = 1 << 30 };

static acq_status fail_io(const acq_new_file *file, const char *act, const char *then,
                          acq_error *error)
{
    acq_status status =
        acq_fail(error, ACQ_ERR_IO, "cannot %s %s%s: %s", act, file->what, then, strerror(errno));
    acq_error_set_file(error, file->path);
    return status;
}

static acq_status refuse_path(const acq_new_file *file, const char *why, acq_error *error)
{
    acq_status status = acq_fail(error, ACQ_ERR_USAGE, "%s", why);
    acq_error_set_file(error, file->path);
    return status;
}

/* The final name will be replaced: only a regular file may be, and a link stays a link to it. */
static acq_status resolve_path(acq_new_file *file, acq_error *error)
{
    struct stat info;
    bool is_there = stat(file->path, &info) == 0;
    if (!is_there && lstat(file->path, &info) == 0)
        return refuse_path(file, "this is a symbolic link to nothing; name another file", error);
    if (!is_there)
        return ACQ_OK;
    if (!S_ISREG(info.st_mode))
        return refuse_path(file, "this is not a regular file; name a file to be written", error);
    char *real = realpath(file->path, NULL);
    char *copy = real == NULL ? NULL : acq_copy_string(real);
    free(real);
    if (copy == NULL)
        return acq_fail_memory(error);
    acq_free(file->path);
    file->path = copy;
    return ACQ_OK;
}

/* The i-th name beside the final one; NULL: out of memory. */
static char *make_temporary(const char *path, int i)
{
    size_t room = strlen(path) + 40;
    char *name = acq_alloc(room, 1);
    if (name != NULL)
        snprintf(name, room, "%s.tmp-%ld-%d", path, (long)getpid(), i);
    return name;
}

/* One that nobody has. */
static acq_status open_temporary(acq_new_file *file, acq_error *error)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        acq_free(file->temporary);
        file->temporary = make_temporary(file->path, i);
        if (file->temporary == NULL)
            return acq_fail_memory(error);
        file->file = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->file >= 0)
            return ACQ_OK;
        if (errno != EEXIST)
            break;
    }
    acq_status status = fail_io(file, "create", "", error);
    acq_free(file->temporary);
    file->temporary = NULL;
    return status;
}

acq_status acq_new_file_init(acq_new_file *file, const char *path, const char *what,
                             acq_error *error)
{
    *file = (acq_new_file){.what = what, .file = -1, .path = acq_copy_string(path)};
    if (file->path == NULL)
        return acq_fail_memory(error);
    acq_status status = resolve_path(file, error);
    return status == ACQ_OK ? open_temporary(file, error) : status;
}

char *acq_new_file_copy_temporary(const char *path)
{
    acq_new_file file = {.file = -1, .path = acq_copy_string(path)};
    char *name = NULL;
    if (file.path != NULL && resolve_path(&file, NULL) == ACQ_OK)
        name = make_temporary(file.path, 0);
    acq_free(file.path);
    return name;
}

acq_status acq_new_file_put(acq_new_file *file, const void *bytes, size_t length, uint64_t at,
                            acq_error *error)
{
    const char *p = bytes;
    while (length > 0) {
        size_t piece = length < LARGEST_WRITE ? length : LARGEST_WRITE;
        ssize_t done = pwrite(file->file, p, piece, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_io(file, "write", "", error);
        p += done;
        at += (uint64_t)done;
        length -= (size_t)done;
    }
    return ACQ_OK;
}

void acq_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = -1;
    if (slash == NULL) {
        folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } else {
        char *name = acq_copy_string(path);
        if (name == NULL)
            return;
        name[slash - path + 1] = '\0';
        folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        acq_free(name);
    }
    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}

acq_status acq_new_file_finish(acq_new_file *file, acq_error *error)
{
    if (fsync(file->file) != 0)
        return fail_io(file, "write", " to disk", error);
    int closed = close(file->file);
    file->file = -1;
    if (closed != 0)
        return fail_io(file, "close", "", error);
    if (rename(file->temporary, file->path) != 0)
        return fail_io(file, "put", " in place", error);
    acq_free(file->temporary);
    file->temporary = NULL;
    acq_sync_folder(file->path);
    return ACQ_OK;
}

void acq_new_file_deinit(acq_new_file *file)
{
    if (file->path == NULL)
        return;
    if (file->file >= 0)
        close(file->file);
    if (file->temporary != NULL)
        (void)unlink(file->temporary);
    acq_free(file->temporary);
    acq_free(file->path);
    *file = (acq_new_file){.file = -1};
}

acq_status acq_new_file_write(const char *path, const char *what, const void *bytes, size_t length,
                              acq_error *error)
{
    acq_new_file file;
    acq_status status = acq_new_file_init(&file, path, what, error);
    if (status == ACQ_OK)
        status = acq_new_file_put(&file, bytes, length, 0, error);
    if (status == ACQ_OK)
        status = acq_new_file_finish(&file, error);
    acq_new_file_deinit(&file);
    return status;
}
