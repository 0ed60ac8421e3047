/* scratch.c - see scratch.h. */
#include "durability/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scratch_make(test_scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch->folder, sizeof scratch->folder, "%s/anycq-XXXXXX", base ? base : "/tmp");
    if (mkdtemp(scratch->folder) == NULL)
        abort();
}

const char *scratch_path(const test_scratch *scratch, const char *name, scratch_name out)
{
    snprintf(out, sizeof(scratch_name), "%s/%s", scratch->folder, name);
    return out;
}

/* Calls unlink on every file if `remove`; counts those whose name contains `part`. */
static size_t walk(const test_scratch *scratch, const char *part, int remove)
{
    size_t n = 0;
    scratch_name path;
    DIR *folder = opendir(scratch->folder);
    if (folder == NULL)
        abort();
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n += strstr(entry->d_name, part) != NULL;
        if (remove)
            unlink(scratch_path(scratch, entry->d_name, path));
    }
    closedir(folder);
    return n;
}

void scratch_clear(const test_scratch *scratch)
{
    walk(scratch, "", 1);
}

size_t scratch_count(const test_scratch *scratch, const char *part)
{
    return walk(scratch, part, 0);
}

void scratch_remove(test_scratch *scratch)
{
    scratch_clear(scratch);
    rmdir(scratch->folder);
}

void scratch_copy(const char *from, const char *to)
{
    char buffer[65536];
    size_t n;
    unlink(to);
    FILE *source = fopen(from, "rb");
    if (source == NULL)
        return;
    FILE *copy = fopen(to, "wb");
    if (copy == NULL)
        abort();
    while ((n = fread(buffer, 1, sizeof buffer, source)) > 0)
        if (fwrite(buffer, 1, n, copy) != n)
            abort();
    fclose(source);
    if (fclose(copy) != 0)
        abort();
}
