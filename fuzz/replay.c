/* replay.c - runs a fuzz target over the files of the folders (or files) given as arguments.
 *
 * Each input is a heap block of its exact size, so that a sanitizer sees any step past its end.
 * A property that fails aborts; the name of the last input is on stderr then. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
}

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail(path);
    uint8_t *data = malloc(size == 0 ? 1 : size);
    size_t got = data == NULL ? 0 : fread(data, 1, size, file);
    fclose(file);
    if (data == NULL || got != size) {
        free(data);
        return fail(path);
    }
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int replay(const char *path, size_t *n);

static int replay_folder(const char *path, size_t *n)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), status = count < 0 ? fail(path) : 0;
    for (int i = 0; i < count; i++) {
        char child[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
            status |= replay(child, n);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

static int replay(const char *path, size_t *n)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return fail(path);
    if (S_ISDIR(info.st_mode))
        return replay_folder(path, n);
    ++*n;
    return replay_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv)
{
    size_t n = 0;
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= replay(argv[i], &n);
    printf("%zu inputs\n", n);
    return status != 0 || n == 0;
}
