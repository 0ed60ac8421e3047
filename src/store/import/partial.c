/* partial.c - see import.h.
 *
 * The lock is flock's, on a descriptor of its own: SQLite's locks on the same file are of another
 * kind, and both are gone when the process is. A file may lose its name between being opened and
 * being locked, because another import has just finished: then the name is looked up again. */
#include "store/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/store.h"

enum { HEAD = 8, REGION = 32768, INDEX_VERSION = 3007000 };

typedef bool (*head_fn)(const unsigned char head[HEAD], off_t size);

static bool is_log(const unsigned char head[HEAD], off_t size)
{
    (void)size;
    return memcmp(head, "\x37\x7f\x06\x82", 4) == 0 || memcmp(head, "\x37\x7f\x06\x83", 4) == 0;
}

static bool is_journal(const unsigned char head[HEAD], off_t size)
{
    static const unsigned char zeros[HEAD];
    (void)size;
    return memcmp(head, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", HEAD) == 0 ||
           memcmp(head, zeros, HEAD) == 0;
}

static bool is_index(const unsigned char head[HEAD], off_t size)
{
    uint32_t version;
    memcpy(&version, head, sizeof version);
    return size % REGION == 0 && (version == INDEX_VERSION || version == 0);
}

static bool is_sqlites(const char *path, head_fn is_it)
{
    struct stat info;
    unsigned char head[HEAD];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    bool is_ours =
        fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_size == 0 || (pread(file, head, HEAD, 0) == HEAD && is_it(head, info.st_size)));
    close(file);
    return is_ours;
}

static acq_status fail_in_the_way(const char *path, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE,
             "this file has the name of one that SQLite keeps beside the graph, and it is not "
             "SQLite's; move it, or name another output");
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status fail_remove(const char *path, acq_error *error)
{
    acq_fail(error, ACQ_ERR_IO,
             "cannot remove what an earlier graph left: %s; check the folder of the output and its "
             "disk",
             strerror(errno));
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

static acq_status look_at(const char *path, head_fn is_it, bool removes, acq_error *error)
{
    struct stat info;
    if (lstat(path, &info) != 0 && errno == ENOENT)
        return ACQ_OK;
    if (!is_sqlites(path, is_it))
        return fail_in_the_way(path, error);
    if (removes && unlink(path) != 0 && errno != ENOENT)
        return fail_remove(path, error);
    return ACQ_OK;
}

static acq_status look_at_all(const char *database, bool removes, acq_error *error)
{
    static const struct {
        const char *ending;
        head_fn is_it;
    } kinds[] = {{"-wal", is_log}, {"-shm", is_index}, {"-journal", is_journal}};
    acq_text path;
    acq_status status = ACQ_OK;
    acq_text_init(&path);
    for (size_t i = 0; status == ACQ_OK && i < sizeof kinds / sizeof kinds[0]; i++) {
        acq_text_clear(&path);
        acq_text_format(&path, "%s%s", database, kinds[i].ending);
        status = acq_text_finish(&path, error);
        if (status == ACQ_OK)
            status = look_at(path.bytes, kinds[i].is_it, removes, error);
    }
    acq_text_deinit(&path);
    return status;
}

static acq_status check_beside(const char *database, acq_error *error)
{
    return look_at_all(database, false, error);
}

static acq_status remove_beside(const char *database, acq_error *error)
{
    return look_at_all(database, true, error);
}

enum { MOST_TRIES = 100 };

static acq_status fail(const char *path, acq_status code, const char *message, acq_error *error)
{
    acq_fail(error, code, "%s", message);
    acq_error_set_file(error, path);
    return code;
}

static acq_status fail_io(const char *path, const char *act, acq_error *error)
{
    acq_fail(error, ACQ_ERR_IO, "cannot %s: %s; check the folder of the output and its disk", act,
             strerror(errno));
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

/* ---- names ---- */

static acq_status join(const char *a, const char *b, char **out, acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    acq_text_format(&text, "%s%s", a, b);
    acq_status status = acq_text_take(&text, out, error);
    acq_text_deinit(&text);
    return status;
}

static acq_status resolve(const char *path, char **out, acq_error *error)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return errno == ENOMEM ? acq_fail_memory(error)
                               : fail_io(path, "find where the graph is to be written", error);
    *out = acq_copy_string(real);
    free(real);
    return *out == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* The folder that holds `path`, which need not be there itself. */
static acq_status resolve_folder(const char *path, char **out, acq_error *error)
{
    const char *slash = strrchr(path, '/');
    char *given = acq_copy_string(slash == NULL ? "./" : path);
    if (given == NULL)
        return acq_fail_memory(error);
    if (slash != NULL)
        given[slash - path + 1] = '\0';
    acq_status status = resolve(given, out, error);
    acq_free(given);
    return status;
}

/* Is there something in the place of OUTPUT, and may it be a store? */
static acq_status look(acq_partial *partial, const char *output, acq_error *error)
{
    struct stat info;
    acq_file_kind kind = acq_file_get_kind(output);
    partial->has_output = kind == ACQ_FILE_REGULAR;
    if (kind == ACQ_FILE_REGULAR)
        return ACQ_OK;
    if (kind == ACQ_FILE_FOLDER || output[0] == '\0' || output[strlen(output) - 1] == '/')
        return fail(output, ACQ_ERR_USAGE, "this is a folder; name a file to be written", error);
    if (kind == ACQ_FILE_UNKNOWN)
        return fail_io(output, "look at the output", error);
    if (kind != ACQ_FILE_MISSING)
        return fail(output, ACQ_ERR_USAGE, "this is not a regular file; name a file to be written",
                    error);
    if (lstat(output, &info) == 0)
        return fail(output, ACQ_ERR_USAGE,
                    "this is a symbolic link to nothing; remove it or name another file", error);
    return ACQ_OK;
}

static acq_status set_names(acq_partial *partial, const char *output, acq_error *error)
{
    char *place = NULL;
    const char *real = output;
    acq_status status = look(partial, output, error);
    if (status == ACQ_OK && partial->has_output) {
        status = resolve(output, &place, error);
        real = place;
    }
    if (status == ACQ_OK)
        status = resolve_folder(real, &partial->folder, error);
    if (status == ACQ_OK) {
        const char *slash = strrchr(real, '/');
        acq_text text;
        acq_text_init(&text);
        acq_text_format(&text, "%s/%s", partial->folder, slash == NULL ? real : slash + 1);
        status = acq_text_take(&text, &partial->output, error);
        acq_text_deinit(&text);
    }
    if (status == ACQ_OK)
        status = join(partial->output, ".partial", &partial->path, error);
    acq_free(place);
    return status;
}

/* ---- the lock ---- */

/* Does the open file still have its name? */
static bool has_name(int file, const char *path)
{
    struct stat open_file, named;
    return fstat(file, &open_file) == 0 && lstat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* An import's own unfinished file: empty, a database with our mark, or zeros where the mark did not
 * reach the disk before the power failed. */
static bool is_left_behind(int file)
{
    static const unsigned char zeros[72];
    unsigned char head[sizeof zeros];
    ssize_t n = pread(file, head, sizeof head, 0);
    if (n <= 0)
        return n == 0;
    uint32_t mark =
        (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
    bool is_store = memcmp(head, "SQLite format 3", 16) == 0 && mark == ACQ_STORE_APPLICATION;
    return n == sizeof head && (is_store || memcmp(head, zeros, sizeof zeros) == 0);
}

static bool may_remove(int file)
{
    struct stat info;
    return geteuid() == 0 || (fstat(file, &info) == 0 && info.st_uid == geteuid());
}

/* The file is locked: it is ours if it was made here, so that its owner and mode are ours too. What
 * an import left behind loses its name rather than its content, in case it has got another name. */
static acq_status take(acq_partial *partial, int file, bool is_new, acq_error *error)
{
    if (!has_name(file, partial->path))
        return ACQ_OK;
    if (!is_left_behind(file) || !may_remove(file))
        return fail(partial->path, ACQ_ERR_USAGE,
                    "this file is in the way and no import left it; move it, or name another "
                    "output",
                    error);
    if (is_new)
        partial->file = file;
    else if (unlink(partial->path) != 0)
        return fail_io(partial->path, "remove what another import left", error);
    return ACQ_OK;
}

/* One attempt; it may end well without a file when the name was lost. */
static acq_status try_lock(acq_partial *partial, acq_error *error)
{
    const char *path = partial->path;
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int file = open(path, flags | O_CREAT | O_EXCL, 0666);
    bool is_new = file >= 0;
    acq_status status;
    if (file < 0 && errno == EEXIST)
        file = open(path, flags);
    if (file < 0 && errno == ENOENT)
        return ACQ_OK;
    if (file < 0)
        return fail_io(path, "create the file that the graph is written to", error);
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        status = take(partial, file, is_new, error);
    else if (errno == EWOULDBLOCK)
        status = fail(partial->output, ACQ_ERR_IO,
                      "another import is writing this graph; wait for it to end, or name another "
                      "file",
                      error);
    else
        status = fail_io(path, "lock the file that the graph is written to", error);
    if (partial->file < 0)
        close(file);
    return status;
}

static acq_status lock(acq_partial *partial, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (int i = 0; status == ACQ_OK && partial->file < 0; i++) {
        if (i == MOST_TRIES)
            return fail(partial->output, ACQ_ERR_IO,
                        "other imports keep writing this graph; wait for them to end", error);
        status = try_lock(partial, error);
    }
    return status;
}

acq_status acq_partial_init(acq_partial *partial, const char *output, acq_error *error)
{
    *partial = (acq_partial){.file = -1};
    acq_status status = set_names(partial, output, error);
    if (status == ACQ_OK && !partial->has_output)
        status = check_beside(partial->output, error);
    if (status == ACQ_OK)
        status = lock(partial, error);
    return status == ACQ_OK ? remove_beside(partial->path, error) : status;
}

/* ---- the end ---- */

/* As rename, but never over another file, also where the file system cannot do that at once. */
static int rename_to_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return -1;
    if (link(from, to) != 0)
        return -1;
    (void)unlink(from);
    return 0;
}

acq_status acq_partial_finish(acq_partial *partial, acq_error *error)
{
    static const char appeared[] =
        "a file of this name appeared during the import and was left alone; move it and import "
        "again";
    struct stat info;
    if (fsync(partial->file) != 0)
        return fail_io(partial->path, "write the graph to disk", error);
    if (lstat(partial->output, &info) == 0)
        return fail(partial->output, ACQ_ERR_IO, appeared, error);
    acq_status status = remove_beside(partial->output, error);
    if (status != ACQ_OK)
        return status;
    acq_sync_folder(partial->output);
    if (rename_to_new(partial->path, partial->output) != 0)
        return errno == EEXIST ? fail(partial->output, ACQ_ERR_IO, appeared, error)
                               : fail_io(partial->output, "put the graph in place", error);
    close(partial->file); /* at once: it would take locks of other threads on the store along */
    partial->file = -1;
    acq_sync_folder(partial->output);
    return ACQ_OK;
}

void acq_partial_deinit(acq_partial *partial)
{
    if (partial->path != NULL && partial->file >= 0) {
        (void)remove_beside(partial->path, NULL);
        (void)unlink(partial->path);
        close(partial->file);
    }
    acq_free(partial->output);
    acq_free(partial->folder);
    acq_free(partial->path);
    *partial = (acq_partial){.file = -1};
}
