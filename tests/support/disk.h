/* disk.h - a model of what a disk holds, and mishaps at a chosen operation.
 *
 * What is written is in the real files at once, so everybody reads it; but the model knows which
 * of it would still be there after a power failure:
 *
 *   folder   durable: path -> file    pending: creations, renames, deletions since its last sync
 *   file     durable: bytes           pending: writes and truncations since its last sync
 *
 * When the power fails, a random prefix of the pending changes of names survives (file systems
 * write those in order), and of each pending write nothing, all, or any of its 512-byte sectors.
 * Where a lost write had made a file longer there are zeros, because file systems do not show old
 * blocks. The real files are made so, and the process dies. Of two writes of one sector the later
 * one wins if both survive, as the page cache has it; any other order equals the loss of one.
 *
 * vfs.h brings SQLite's operations here, calls.c those that the product makes itself. Safe from
 * several threads. */
#ifndef TEST_SUPPORT_DISK_H
#define TEST_SUPPORT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum disk_operation {
    DISK_OPEN,
    DISK_READ,
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_SYNC,
    DISK_DELETE,
    DISK_RENAME,
    DISK_MAP, /* shared memory */
    DISK_N_OPERATIONS,
} disk_operation;

enum {
    DISK_CHANGES = 1 << DISK_OPEN | 1 << DISK_WRITE | 1 << DISK_TRUNCATE | 1 << DISK_SYNC |
                   1 << DISK_DELETE | 1 << DISK_RENAME,
    DISK_EVERYTHING = (1 << DISK_N_OPERATIONS) - 1,
};

typedef enum disk_mishap {
    DISK_NONE,
    DISK_POWER_FAILURE, /* the process dies, and unsynced writes with it */
    DISK_KILL,          /* the process dies; what was written stays */
    DISK_FAIL_ONCE,     /* this operation fails, those after it work */
    DISK_FAIL_FROM,     /* this one and all after it fail */
} disk_mishap;

typedef struct disk_plan {
    disk_mishap mishap;
    unsigned operations; /* bits 1 << disk_operation: which ones count */
    uint64_t at;         /* at the at-th of them from now: 1 is the next; 0: never */
    bool is_full;        /* failures say that there is no space, not that the device is broken */
    uint64_t seed;       /* of what survives */
} disk_plan;

/* From now on. Files are modelled only for a power failure. */
void disk_set_plan(const disk_plan *plan);
uint64_t disk_get_count(void);  /* operations counted since then */
unsigned disk_get_failed(void); /* bits of the operations that failed since then */
bool disk_is_full(void);        /* is that the reason? */

/* Counts one operation. true: it must fail. Does not return when the process is to die. */
bool disk_step(disk_operation operation);

/* The power fails now. */
_Noreturn void disk_fail_power(void);

typedef struct disk_file disk_file; /* NULL when nothing is modelled: every function takes it */

/* The file at `path`, which is absolute; what it holds when first seen is durable. is_new: it has
 * just been created. */
disk_file *disk_open(const char *path, bool is_new);
disk_file *disk_find(const char *path); /* NULL: never opened */
void disk_write(disk_file *file, uint64_t offset, const void *bytes, size_t n);
void disk_truncate(disk_file *file, uint64_t size);
void disk_sync(disk_file *file);

/* The folder of `path`, or the folder itself when it ends in a slash. */
void disk_sync_folder(const char *path);
void disk_rename(const char *from, const char *to);
void disk_delete(const char *path);

#endif
