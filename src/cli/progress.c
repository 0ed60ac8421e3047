/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "cli/width.h"

enum { BAR = 30, REDRAW_NS = 100000000, LABEL = 20 };

void acq_progress_init(acq_progress *progress, const char *label)
{
    *progress = (acq_progress){
        .label = label, .is_shown = isatty(STDERR_FILENO) != 0, .start_ns = acq_clock_ns()};
}

static size_t format_left(double seconds, char *buffer, size_t size)
{
    int n = seconds < 90     ? snprintf(buffer, size, "  %.0f s left", seconds)
            : seconds < 5400 ? snprintf(buffer, size, "  %.0f min left", seconds / 60)
                             : snprintf(buffer, size, "  %.1f h left", seconds / 3600);
    return n < 0 ? 0 : (size_t)n;
}

size_t acq_progress_format(const acq_progress *progress, size_t done, size_t all, double seconds,
                           char *buffer, size_t size)
{
    double share = all == 0 ? 1.0 : (double)(done < all ? done : all) / (double)all;
    int filled = (int)(share * BAR);
    char bar[BAR + 1];
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)filled);
    bar[BAR] = '\0';
    int n = snprintf(buffer, size, "%.*s  [%s] %3d%%  %zu/%zu", LABEL, progress->label, bar,
                     (int)(share * 100), done, all);
    size_t used = n < 0 ? 0 : (size_t)n;
    bool is_telling = done > 0 && done < all && seconds > 0.5 && used < size;
    if (is_telling)
        used += format_left(seconds * (1 - share) / share, buffer + used, size - used);
    return acq_width_of(buffer);
}

void acq_progress_show(void *context, size_t done, size_t all)
{
    acq_progress *progress = context;
    int64_t now = acq_clock_ns();
    if (!progress->is_shown || (now - progress->drawn_ns < REDRAW_NS && done < all))
        return;
    char line[160];
    double seconds = (double)(now - progress->start_ns) / 1e9;
    size_t width = acq_progress_format(progress, done, all, seconds, line, sizeof line);
    size_t rest = progress->width > width ? progress->width - width : 0;
    fprintf(stderr, "\r%s%*s", line, (int)rest, "");
    fflush(stderr);
    progress->drawn_ns = now;
    progress->width = width;
}

void acq_progress_deinit(acq_progress *progress)
{
    if (progress->width > 0)
        fprintf(stderr, "\r%*s\r", (int)progress->width, "");
    *progress = (acq_progress){0};
}
