/* vfs.h - an SQLite VFS on top of the usual one that tells disk.h of every operation, and fails
 * those that disk.h wants to fail. */
#ifndef TEST_SUPPORT_VFS_H
#define TEST_SUPPORT_VFS_H

/* Becomes SQLite's default; the usual one keeps its name ("unix"). Once per process. */
void vfs_install(void);

/* The usual one is the default again. */
void vfs_remove(void);

#endif
