/* vfs.c - see vfs.h. SQLite opens temporary files from its sorting threads too, and
 * a file's name must last as long as the file, so names are kept in a list under a lock. */
#include "store/import/vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct temporary_name {
    struct temporary_name *next;
    char text[];
} temporary_name;

struct acq_temporary_vfs {
    sqlite3_vfs vfs; /* first: SQLite hands back a pointer to it */
    sqlite3_vfs *real;
    const char *folder;
    char name[48];
    pthread_mutex_t lock; /* of the rest */
    temporary_name *names;
    unsigned n_names;
};

/* NULL: out of memory. */
static const char *make_name(acq_temporary_vfs *self)
{
    size_t room = strlen(self->folder) + 64;
    temporary_name *name = acq_alloc(1, sizeof *name + room);
    if (name == NULL)
        return NULL;
    pthread_mutex_lock(&self->lock);
    snprintf(name->text, room, "%s/.%s-%u", self->folder, self->name, self->n_names++);
    name->next = self->names;
    self->names = name;
    pthread_mutex_unlock(&self->lock);
    return name->text;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    acq_temporary_vfs *self = (acq_temporary_vfs *)vfs;
    if (name == NULL) {
        name = make_name(self);
        if (name == NULL) {
            file->pMethods = NULL;
            return SQLITE_NOMEM;
        }
    }
    return self->real->xOpen(self->real, name, file, flags, out_flags);
}

acq_status acq_temporary_vfs_new(const char *folder, acq_temporary_vfs **out)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    acq_temporary_vfs *self = acq_zalloc(1, sizeof *self);
    if (self == NULL || real == NULL) {
        acq_free(self);
        return ACQ_ERR_MEMORY;
    }
    self->vfs = *real;
    self->real = real;
    self->folder = folder;
    snprintf(self->name, sizeof self->name, "anycq-%ld-%p", (long)getpid(), (void *)self);
    self->vfs.pNext = NULL;
    self->vfs.zName = self->name;
    self->vfs.xOpen = open_file;
    pthread_mutex_init(&self->lock, NULL);
    if (sqlite3_vfs_register(&self->vfs, 0) != SQLITE_OK) {
        pthread_mutex_destroy(&self->lock);
        acq_free(self);
        return ACQ_ERR_MEMORY;
    }
    *out = self;
    return ACQ_OK;
}

void acq_temporary_vfs_free(acq_temporary_vfs *vfs)
{
    if (vfs == NULL)
        return;
    sqlite3_vfs_unregister(&vfs->vfs);
    while (vfs->names != NULL) {
        temporary_name *next = vfs->names->next;
        acq_free(vfs->names);
        vfs->names = next;
    }
    pthread_mutex_destroy(&vfs->lock);
    acq_free(vfs);
}

const char *acq_temporary_vfs_get_name(const acq_temporary_vfs *vfs)
{
    return vfs->name;
}
