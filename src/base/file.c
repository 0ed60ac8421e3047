/* file.c - see file.h. Reads until the end, so pipes and growing files work too. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

enum { FIRST_READ = 64 * 1024, LARGEST_READ = 1 << 30, LARGEST_WRITE = 1 << 30, MOST_TRIES = 1000 };
enum { MOST_WAIT_MS = 1000 };

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

/* ---- a new file ---- */

/* Between the moment a file gets its temporary name and the one it has its final name, a handler
 * that ends the process must not look for the temporary one: it could come too late to be found. So
 * that is a section which threads enter with their signals blocked, and which can be closed. */
static atomic_uint n_naming;
static atomic_bool is_naming_over;

static void enter_naming(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    n_naming++;
    if (!is_naming_over)
        return;
    n_naming--;
    for (;;)
        pause();
}

static void leave_naming(const sigset_t *before)
{
    n_naming--;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void acq_new_file_stop_all(void)
{
    is_naming_over = true;
    for (int ms = 0; n_naming > 0 && ms < MOST_WAIT_MS; ms++)
        (void)poll(NULL, 0, 1);
}

static acq_status fail_io(const acq_new_file *file, const char *act, const char *then,
                          acq_error *error)
{
    acq_status status =
        acq_fail(error, ACQ_ERR_IO, "cannot %s %s%s: %s", act, file->what, then, strerror(errno));
    acq_error_set_file(error, file->path);
    return status;
}

static acq_status refuse(const acq_new_file *file, const char *why, acq_error *error)
{
    acq_status status = acq_fail(error, ACQ_ERR_USAGE, "%s", why);
    acq_error_set_file(error, file->path);
    return status;
}

/* The final name will be replaced: only a regular file may be, and a link stays a link to it.
 * `old` describes what is there; its mode is 0 where nothing is. */
static acq_status resolve_path(acq_new_file *file, struct stat *old, acq_error *error)
{
    *old = (struct stat){0};
    if (stat(file->path, old) != 0) {
        *old = (struct stat){0};
        struct stat link;
        if (lstat(file->path, &link) == 0 && S_ISLNK(link.st_mode))
            return refuse(file, "this is a symbolic link to nothing; name another file", error);
        return ACQ_OK;
    }
    if (!S_ISREG(old->st_mode))
        return refuse(file, "this is not a regular file; name a file to be written", error);
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

enum { PROC_PATH = 40 };

static void get_proc_path(int file, char out[PROC_PATH])
{
    snprintf(out, PROC_PATH, "/proc/self/fd/%d", file);
}

/* A file without a name, which /proc can give one; -1 where the system cannot do it. The path is
 * cut behind its folder meanwhile. */
static int open_nameless(char *path, mode_t mode)
{
    char name[PROC_PATH], *slash = strrchr(path, '/'), first = '\0';
    if (slash != NULL) {
        first = slash[1];
        slash[1] = '\0';
    }
    int file = open(slash == NULL ? "." : path, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (slash != NULL)
        slash[1] = first;
    if (file < 0)
        return -1;
    get_proc_path(file, name);
    if (access(name, F_OK) == 0)
        return file;
    close(file);
    return -1;
}

/* Calls `make` with names beside the final one until it makes one that nobody has. */
static acq_status try_names(acq_new_file *file, bool (*make)(acq_new_file *file, mode_t mode),
                            mode_t mode, acq_error *error)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        acq_free(file->temporary);
        file->temporary = make_temporary(file->path, i);
        if (file->temporary == NULL)
            return acq_fail_memory(error);
        file->is_named = make(file, mode);
        if (file->is_named)
            return ACQ_OK;
        if (errno != EEXIST)
            break;
    }
    return fail_io(file, "create", "", error);
}

static bool create_named(acq_new_file *file, mode_t mode)
{
    file->file = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return file->file >= 0;
}

static bool link_nameless(acq_new_file *file, mode_t mode)
{
    char name[PROC_PATH];
    (void)mode;
    get_proc_path(file->file, name);
    return linkat(AT_FDCWD, name, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static acq_status open_temporary(acq_new_file *file, mode_t mode, acq_error *error)
{
    file->file = open_nameless(file->path, mode);
    if (file->file < 0) {
        sigset_t before;
        enter_naming(&before);
        acq_status status = try_names(file, create_named, mode, error);
        leave_naming(&before);
        return status;
    }
    file->temporary = make_temporary(file->path, 0);
    return file->temporary == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* Owner, group and mode of what will be replaced. Another group than before gets no more rights
 * than everybody. */
static bool take_rights(int file, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    bool has_group =
        fchown(file, old->st_uid, old->st_gid) == 0 || fchown(file, (uid_t)-1, old->st_gid) == 0;
    if (!has_group)
        mode = (mode & 0707) | (mode & 07) << 3;
    return fchmod(file, mode) == 0;
}

acq_status acq_new_file_init(acq_new_file *file, const char *path, const char *what,
                             acq_error *error)
{
    struct stat old;
    *file = (acq_new_file){.what = what, .file = -1, .path = acq_copy_string(path)};
    if (file->path == NULL)
        return acq_fail_memory(error);
    acq_status status = resolve_path(file, &old, error);
    if (status == ACQ_OK)
        status = open_temporary(file, old.st_mode == 0 ? 0666 : 0600, error);
    if (status == ACQ_OK && old.st_mode != 0 && !take_rights(file->file, &old))
        status = fail_io(file, "create", " with the rights of the old file", error);
    return status;
}

char *acq_new_file_copy_temporary(const char *path)
{
    acq_new_file file = {.file = -1, .path = acq_copy_string(path)};
    struct stat old;
    char *name = NULL;
    if (file.path != NULL && resolve_path(&file, &old, NULL) == ACQ_OK)
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

/* The folder of a path with its slash, "." without one; NULL: out of memory. */
static char *copy_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = acq_copy_string(slash == NULL ? "." : path);
    if (name != NULL && slash != NULL)
        name[slash - path + 1] = '\0';
    return name;
}

void acq_sync_folder(const char *path)
{
    char *name = copy_folder(path);
    int folder = name == NULL ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    acq_free(name);
    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}

/* From a file that is on disk to one in its place. */
static acq_status put_in_place(acq_new_file *file, acq_error *error)
{
    acq_status status = file->is_named ? ACQ_OK : try_names(file, link_nameless, 0, error);
    if (status != ACQ_OK)
        return status;
    int closed = close(file->file);
    file->file = -1;
    if (closed != 0)
        return fail_io(file, "close", "", error);
    if (rename(file->temporary, file->path) != 0)
        return fail_io(file, "put", " in place", error);
    file->is_named = false;
    return ACQ_OK;
}

acq_status acq_new_file_finish(acq_new_file *file, acq_error *error)
{
    sigset_t before;
    if (fsync(file->file) != 0)
        return fail_io(file, "write", " to disk", error);
    enter_naming(&before);
    acq_status status = put_in_place(file, error);
    leave_naming(&before);
    if (status != ACQ_OK)
        return status;
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
    if (file->is_named)
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

/* ---- shards ---- */

static const char SHARD_FORMAT[] = "anycq shard 1\npart %u of %u\n";

static uint64_t hash_shard(const char *bytes, size_t length)
{
    return acq_hash_bytes(bytes, length, 1);
}

acq_status acq_work_shard_write(const char *path, const acq_work_shard *shard, acq_error *error)
{
    acq_text out;
    acq_text_init(&out);
    acq_text_format(&out, SHARD_FORMAT, shard->part + 1, shard->of);
    acq_text_add(&out, shard->identity);
    acq_text_add_char(&out, '\n');
    acq_text_add_bytes(&out, shard->bytes, shard->length);
    uint64_t checksum = out.failed ? 0 : hash_shard(out.bytes, out.length);
    acq_text_add_bytes(&out, (const char *)&checksum, sizeof checksum);
    acq_status status = out.failed
                            ? acq_fail_memory(error)
                            : acq_new_file_write(path, "the shard", out.bytes, out.length, error);
    acq_text_deinit(&out);
    return status;
}

/* The empty line ends the identity, which is cut into a string of its own. */
static acq_status parse_shard(size_t length, acq_work_shard *out, acq_error *error)
{
    uint64_t checksum = 0;
    int n_head = 0;
    bool is_shard =
        sscanf(out->block, "anycq shard 1 part %u of %u%n", &out->part, &out->of, &n_head) == 2 &&
        n_head > 0 && out->block[n_head] == '\n';
    char *identity = is_shard ? out->block + n_head + 1 : NULL;
    char *end = identity == NULL ? NULL : strstr(identity, "\n\n");
    if (end == NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "this is not a shard; --shard I/N makes them");
    size_t n_text = (size_t)(end - out->block) + 2;
    if (length >= n_text + sizeof checksum)
        memcpy(&checksum, out->block + length - sizeof checksum, sizeof checksum);
    if (length < n_text + sizeof checksum ||
        checksum != hash_shard(out->block, length - sizeof checksum) || out->part < 1 ||
        out->part > out->of)
        return acq_fail(error, ACQ_ERR_INPUT, "the shard is cut off or changed; make it again");
    end[1] = '\0';
    out->part--;
    out->identity = identity;
    out->bytes = end + 2;
    out->length = length - n_text - sizeof checksum;
    return ACQ_OK;
}

/* The first line in which a shard was made otherwise. */
static acq_status fail_identity(const char *has, const char *wanted, acq_error *error)
{
    while (*has != '\0' && strcspn(has, "\n") == strcspn(wanted, "\n") &&
           strncmp(has, wanted, strcspn(has, "\n")) == 0) {
        has += strcspn(has, "\n") + 1;
        wanted += strcspn(wanted, "\n") + 1;
    }
    return acq_fail(
        error, ACQ_ERR_INPUT,
        "this shard was made with \"%.*s\", not \"%.*s\"; give the same options and graphs",
        (int)strcspn(has, "\n"), has, (int)strcspn(wanted, "\n"), wanted);
}

static acq_status read_shard(const char *path, const char *identity, acq_work_shard *out,
                             acq_error *error)
{
    size_t length;
    *out = (acq_work_shard){0};
    acq_status status = acq_file_read(path, &out->block, &length, error);
    if (status != ACQ_OK)
        return status;
    status = parse_shard(length, out, error);
    if (status == ACQ_OK && strcmp(out->identity, identity) != 0)
        status = fail_identity(out->identity, identity, error);
    if (status != ACQ_OK)
        acq_error_set_file(error, path);
    return status;
}

static acq_status place_shard(acq_work_shard *shards, size_t n, const acq_work_shard *one,
                              const char *path, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (one->of != n)
        status =
            acq_fail(error, ACQ_ERR_USAGE,
                     "this is one of %u shards, and %zu are named; name all of them", one->of, n);
    else if (shards[one->part].block != NULL)
        status = acq_fail(error, ACQ_ERR_USAGE, "shard %u of %u is there twice; name each once",
                          one->part + 1, one->of);
    else
        shards[one->part] = *one;
    if (status != ACQ_OK)
        acq_error_set_file(error, path);
    return status;
}

acq_status acq_work_shards_read(const char *const *paths, size_t n, const char *identity,
                                acq_work_shard *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n; i++)
        out[i] = (acq_work_shard){0};
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_work_shard one;
        status = read_shard(paths[i], identity, &one, error);
        if (status == ACQ_OK)
            status = place_shard(out, n, &one, paths[i], error);
        if (status != ACQ_OK)
            acq_free(one.block);
    }
    if (status != ACQ_OK)
        acq_work_shards_deinit(out, n);
    return status;
}

void acq_work_shards_deinit(acq_work_shard *shards, size_t n)
{
    for (size_t i = 0; shards != NULL && i < n; i++) {
        acq_free(shards[i].block);
        shards[i] = (acq_work_shard){0};
    }
}
