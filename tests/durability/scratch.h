/* scratch.h - a folder for one test, removed at its end. */
#ifndef TEST_DURABILITY_SCRATCH_H
#define TEST_DURABILITY_SCRATCH_H

#include <stddef.h>

typedef struct test_scratch {
    char folder[256];
} test_scratch;

void scratch_make(test_scratch *scratch);
void scratch_remove(test_scratch *scratch);

/* Removes all files in it. */
void scratch_clear(const test_scratch *scratch);

/* A path in it; returns `out`. */
typedef char scratch_name[512];
const char *scratch_path(const test_scratch *scratch, const char *name, scratch_name out);

/* Number of files whose name contains `part`. */
size_t scratch_count(const test_scratch *scratch, const char *part);

/* Copies a file; a missing source is a missing copy. */
void scratch_copy(const char *from, const char *to);

#endif
