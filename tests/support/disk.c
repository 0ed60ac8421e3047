/* disk.c - see disk.h. */
#include "support/disk.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { SECTOR = 512 };

typedef struct image {
    uint8_t *bytes;
    size_t n, capacity;
} image;

/* A write, or with bytes NULL a truncation to `offset` bytes. */
typedef struct pending_write {
    uint64_t offset;
    size_t n;
    uint8_t *bytes;
} pending_write;

struct disk_file {
    image durable;
    pending_write *pending;
    size_t n_pending, capacity;
};

/* From now on `from` is nothing and `to` is `file`; a creation has no from, a deletion no to. */
typedef struct pending_name {
    char *from, *to;
    disk_file *file;
} pending_name;

typedef struct entry {
    char *path;
    disk_file *file; /* NULL: nothing there */
} entry;

static struct {
    pthread_mutex_t lock;
    disk_plan plan;
    uint64_t count;
    unsigned failed;
    acq_random random;
    entry *durable; /* every path ever seen */
    size_t n_durable, durable_capacity;
    pending_name *pending;
    size_t n_pending, pending_capacity;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *must(void *block)
{
    if (block == NULL)
        abort();
    return block;
}

static void make_room(void **block, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return;
    *capacity = need * 2;
    *block = must(realloc(*block, *capacity * size));
}

#define MAKE_ROOM(array, capacity, need)                                                           \
    make_room((void **)&(array), &(capacity), (need), sizeof *(array))

/* ---- bytes ---- */

/* Bytes that come to be without a write are zeros. */
static void resize(image *to, size_t n)
{
    MAKE_ROOM(to->bytes, to->capacity, n);
    if (n > to->n)
        memset(to->bytes + to->n, 0, n - to->n);
    to->n = n;
}

static void put(image *to, uint64_t offset, const uint8_t *bytes, size_t n)
{
    if (to->n < offset + n)
        resize(to, offset + n);
    if (n > 0)
        memcpy(to->bytes + offset, bytes, n);
}

static void apply_write(image *to, const pending_write *write)
{
    if (write->bytes == NULL) {
        resize(to, write->offset);
        return;
    }
    put(to, write->offset, write->bytes, write->n);
}

/* Each sector that the write touches survives by itself. The file may have grown all the same. */
static void tear_write(image *to, const pending_write *write)
{
    uint64_t end = write->offset + write->n;
    if (to->n < end && acq_random_below(&disk.random, 2) == 0)
        resize(to, end);
    for (uint64_t at = write->offset; at < end;) {
        uint64_t next = (at / SECTOR + 1) * SECTOR;
        size_t n = (size_t)((next < end ? next : end) - at);
        if (acq_random_below(&disk.random, 2) == 0)
            put(to, at, write->bytes + (at - write->offset), n);
        at += n;
    }
}

static void drop_pending(disk_file *file)
{
    for (size_t i = 0; i < file->n_pending; i++)
        free(file->pending[i].bytes);
    file->n_pending = 0;
}

static void settle(disk_file *file)
{
    for (size_t i = 0; i < file->n_pending; i++)
        apply_write(&file->durable, &file->pending[i]);
    drop_pending(file);
}

static void settle_by_chance(disk_file *file)
{
    uint64_t luck = acq_random_below(&disk.random, 4); /* some files lose all, some nothing */
    for (size_t i = 0; i < file->n_pending; i++) {
        const pending_write *write = &file->pending[i];
        uint64_t fate = luck < 2 ? luck : acq_random_below(&disk.random, 3);
        if (fate == 1)
            apply_write(&file->durable, write);
        else if (fate == 2 && write->bytes != NULL)
            tear_write(&file->durable, write);
    }
    drop_pending(file);
}

static void read_content(const char *path, image *to)
{
    FILE *stream = fopen(path, "rb");
    struct stat facts;
    if (stream == NULL || fstat(fileno(stream), &facts) != 0)
        abort();
    resize(to, (size_t)facts.st_size);
    if (to->n > 0 && fread(to->bytes, 1, to->n, stream) != to->n)
        abort();
    fclose(stream);
}

static void write_content(const char *path, const image *from)
{
    FILE *stream = fopen(path, "wb");
    if (stream == NULL)
        abort();
    if (from->n > 0 && fwrite(from->bytes, 1, from->n, stream) != from->n)
        abort();
    if (fclose(stream) != 0)
        abort();
}

/* ---- names ---- */

static entry *find_durable(const char *path)
{
    for (size_t i = 0; i < disk.n_durable; i++)
        if (strcmp(disk.durable[i].path, path) == 0)
            return &disk.durable[i];
    MAKE_ROOM(disk.durable, disk.durable_capacity, disk.n_durable + 1);
    entry *new = &disk.durable[disk.n_durable++];
    *new = (entry){.path = must(strdup(path))};
    return new;
}

static bool is_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* What the path means now; NULL: nothing, or nothing that was seen. */
static disk_file *find_file(const char *path)
{
    for (size_t i = disk.n_pending; i-- > 0;) {
        if (is_same(disk.pending[i].to, path))
            return disk.pending[i].file;
        if (is_same(disk.pending[i].from, path))
            return NULL;
    }
    return find_durable(path)->file;
}

static void add_pending_name(const char *from, const char *to, disk_file *file)
{
    MAKE_ROOM(disk.pending, disk.pending_capacity, disk.n_pending + 1);
    disk.pending[disk.n_pending++] = (pending_name){
        .from = from ? must(strdup(from)) : NULL, .to = to ? must(strdup(to)) : NULL, .file = file};
}

static void settle_name(const pending_name *name)
{
    if (name->from != NULL)
        find_durable(name->from)->file = NULL;
    if (name->to != NULL)
        find_durable(name->to)->file = name->file;
}

static void free_name(pending_name *name)
{
    free(name->from);
    free(name->to);
}

static size_t measure_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static bool is_in_folder(const pending_name *name, const char *folder)
{
    const char *path = name->to != NULL ? name->to : name->from;
    size_t n = measure_folder(folder);
    return measure_folder(path) == n && strncmp(path, folder, n) == 0;
}

static void settle_folder(const char *folder)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk.n_pending; i++) {
        pending_name name = disk.pending[i];
        if (!is_in_folder(&name, folder)) {
            disk.pending[kept++] = name;
            continue;
        }
        settle_name(&name);
        free_name(&name);
    }
    disk.n_pending = kept;
}

static void settle_names_by_chance(void)
{
    size_t n = (size_t)acq_random_below(&disk.random, disk.n_pending + 1);
    for (size_t i = 0; i < disk.n_pending; i++)
        find_durable(disk.pending[i].to != NULL ? disk.pending[i].to : disk.pending[i].from);
    for (size_t i = 0; i < n; i++)
        settle_name(&disk.pending[i]);
}

/* ---- mishaps ---- */

/* Shared memory is a file too, of which anything may be left. */
static void spoil_shared_memory(const char *path)
{
    char name[4096];
    snprintf(name, sizeof name, "%s-shm", path);
    if (access(name, F_OK) != 0)
        return;
    uint64_t fate = acq_random_below(&disk.random, 3);
    image garbage = {0};
    if (fate == 1)
        remove(name);
    if (fate == 2) {
        resize(&garbage, 32768);
        for (size_t i = 0; i < garbage.n; i++)
            garbage.bytes[i] = (uint8_t)acq_random_next(&disk.random);
        write_content(name, &garbage);
    }
}

static void leave_what_survives(void)
{
    settle_names_by_chance();
    for (size_t i = 0; i < disk.n_durable; i++)
        remove(disk.durable[i].path); /* whoever still has it open writes into nothing */
    for (size_t i = 0; i < disk.n_durable; i++) {
        spoil_shared_memory(disk.durable[i].path);
        if (disk.durable[i].file == NULL)
            continue;
        settle_by_chance(disk.durable[i].file);
        write_content(disk.durable[i].path, &disk.durable[i].file->durable);
    }
}

/* With the lock held, so that no other thread goes on. */
static _Noreturn void die(void)
{
    if (disk.plan.mishap == DISK_POWER_FAILURE)
        leave_what_survives();
    kill(getpid(), SIGKILL);
    abort();
}

_Noreturn void disk_fail_power(void)
{
    pthread_mutex_lock(&disk.lock);
    die();
}

void disk_set_plan(const disk_plan *plan)
{
    pthread_mutex_lock(&disk.lock);
    disk.plan = *plan;
    disk.count = 0;
    disk.failed = 0;
    disk.random = acq_random_start(plan->seed, 0);
    pthread_mutex_unlock(&disk.lock);
}

uint64_t disk_get_count(void)
{
    pthread_mutex_lock(&disk.lock);
    uint64_t count = disk.count;
    pthread_mutex_unlock(&disk.lock);
    return count;
}

unsigned disk_get_failed(void)
{
    pthread_mutex_lock(&disk.lock);
    unsigned failed = disk.failed;
    pthread_mutex_unlock(&disk.lock);
    return failed;
}

bool disk_is_full(void)
{
    pthread_mutex_lock(&disk.lock);
    bool full = disk.plan.is_full;
    pthread_mutex_unlock(&disk.lock);
    return full;
}

/* Does the mishap happen at the operation that was just counted? */
static bool is_due(void)
{
    if (disk.plan.at == 0 || disk.plan.mishap == DISK_NONE)
        return false;
    return disk.count == disk.plan.at ||
           (disk.plan.mishap == DISK_FAIL_FROM && disk.count > disk.plan.at);
}

bool disk_step(disk_operation operation)
{
    bool fails = false;
    pthread_mutex_lock(&disk.lock);
    if ((disk.plan.operations & 1U << operation) != 0) {
        disk.count++;
        fails = is_due();
        if (fails && (disk.plan.mishap == DISK_POWER_FAILURE || disk.plan.mishap == DISK_KILL))
            die();
        disk.failed |= fails ? 1U << operation : 0;
    }
    pthread_mutex_unlock(&disk.lock);
    return fails;
}

/* ---- the model, kept only where the power will fail ---- */

static bool begin_modelling(void)
{
    pthread_mutex_lock(&disk.lock);
    if (disk.plan.mishap == DISK_POWER_FAILURE)
        return true;
    pthread_mutex_unlock(&disk.lock);
    return false;
}

static void end_modelling(void)
{
    pthread_mutex_unlock(&disk.lock);
}

disk_file *disk_open(const char *path, bool is_new)
{
    if (!begin_modelling())
        return NULL;
    disk_file *file = find_file(path);
    if (file == NULL) {
        file = must(calloc(1, sizeof *file));
        if (is_new) {
            add_pending_name(NULL, path, file);
        } else {
            read_content(path, &file->durable);
            find_durable(path)->file = file;
        }
    }
    end_modelling();
    return file;
}

disk_file *disk_find(const char *path)
{
    if (!begin_modelling())
        return NULL;
    disk_file *file = find_file(path);
    end_modelling();
    return file;
}

static void add_pending_write(disk_file *file, pending_write write)
{
    MAKE_ROOM(file->pending, file->capacity, file->n_pending + 1);
    file->pending[file->n_pending++] = write;
}

void disk_write(disk_file *file, uint64_t offset, const void *bytes, size_t n)
{
    if (file == NULL || !begin_modelling())
        return;
    uint8_t *copy = must(malloc(n + 1));
    memcpy(copy, bytes, n);
    add_pending_write(file, (pending_write){.offset = offset, .n = n, .bytes = copy});
    end_modelling();
}

void disk_truncate(disk_file *file, uint64_t size)
{
    if (file == NULL || !begin_modelling())
        return;
    add_pending_write(file, (pending_write){.offset = size});
    end_modelling();
}

void disk_sync(disk_file *file)
{
    if (file == NULL || !begin_modelling())
        return;
    settle(file);
    end_modelling();
}

void disk_sync_folder(const char *path)
{
    if (!begin_modelling())
        return;
    settle_folder(path);
    end_modelling();
}

void disk_rename(const char *from, const char *to)
{
    if (!begin_modelling())
        return;
    disk_file *file = find_file(from);
    if (file != NULL)
        add_pending_name(from, to, file);
    end_modelling();
}

void disk_delete(const char *path)
{
    if (!begin_modelling())
        return;
    if (find_file(path) != NULL)
        add_pending_name(path, NULL, NULL);
    end_modelling();
}
