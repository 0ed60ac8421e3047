/* limits.c - see limits.h. */
#include "cli/limits.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/interrupt.h"

/* What is in memory besides private data: code, and files that are mapped. Below LEAST_MB, which
 * the command needs to say anything, only searches keep the limit. */
enum { OTHER_MB = 8, LEAST_MB = 24, LEAST_SEARCH_MB = 1 };

uint64_t acq_limits_get_memory(const acq_options *options)
{
    if (acq_options_has(options, memory))
        return options->memory;
    return acq_options_has(options, import_memory) ? options->import_memory : options->whole_memory;
}

/* In pages; 0: the system does not say. */
static uint64_t count_data_pages(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %*s %*s %*s %*s %llu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages;
}

size_t acq_limits_get_memory_left(const acq_options *options)
{
    uint64_t all = acq_limits_get_memory(options) << 20, least = LEAST_SEARCH_MB << 20;
    uint64_t used = count_data_pages() * (uint64_t)sysconf(_SC_PAGESIZE) + (OTHER_MB << 20);
    if (all == 0)
        return SIZE_MAX;
    return all > used + least ? all - used : least;
}

/* A sanitizer's shadow memory counts too, and is larger than any limit. */
static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

static void limit_memory(uint64_t mb)
{
    struct rlimit limit;
    if (mb == 0 || is_sanitized() || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    rlim_t bytes = (rlim_t)(mb > LEAST_MB + OTHER_MB ? mb - OTHER_MB : LEAST_MB) << 20;
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    (void)setrlimit(RLIMIT_DATA, &limit);
}

void acq_limits_set(const acq_options *options)
{
    double seconds = acq_options_get_seconds_left(options);
    limit_memory(acq_limits_get_memory(options));
    if (!isinf(seconds))
        acq_interrupt_end_after(seconds);
}
