/* limits.c - see limits.h. */
#include "cli/limits.h"

#include <math.h>
#include <sys/resource.h>

#include "cli/interrupt.h"

/* What is in memory besides private data: code, and files that are mapped. */
enum { OTHER_MB = 8 };

uint64_t acq_limits_get_memory(const acq_options *options)
{
    if (acq_options_has(options, memory))
        return options->memory;
    return acq_options_has(options, import_memory) ? options->import_memory : options->whole_memory;
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
    rlim_t bytes = (rlim_t)(mb > 2 * OTHER_MB ? mb - OTHER_MB : mb) << 20;
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
