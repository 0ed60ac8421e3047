/* scale.h - how many cases a test runs: all in the build that ships; with sanitizers, which cost ten
 * times as much, cases of every kind but fewer of each. */
#ifndef TEST_SUPPORT_SCALE_H
#define TEST_SUPPORT_SCALE_H

#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCALE(all, sanitized) (sanitized)
#else
#define SCALE(all, sanitized) (all)
#endif

/* $ACQ_CASES, without it n. */
static inline size_t count_cases(size_t n)
{
    const char *text = getenv("ACQ_CASES");
    return text == NULL ? n : (size_t)strtoul(text, NULL, 10);
}

#endif
