/* beside.c - see beside.h; the formats are those of sqlite.org/fileformat2.html and walformat.html.
 *
 *   -wal      0x377f0682 or 0x377f0683, big-endian
 *   -journal  d9 d5 05 f9 20 a1 63 d7, or zeros as long as it is not on disk
 *   -shm      3007000 in the order of the machine, or 0; regions of 32 KB
 *
 * Each may be empty. */
#include "store/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

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

acq_status acq_beside_check(const char *database, acq_error *error)
{
    return look_at_all(database, false, error);
}

acq_status acq_beside_remove(const char *database, acq_error *error)
{
    return look_at_all(database, true, error);
}
