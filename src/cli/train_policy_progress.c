/* train_policy_progress.c - see train_policy_progress.h. */
#include "cli/train_policy_progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/budget.h"
#include "cli/width.h"

static const int64_t REDRAW_NS = 200000000, LINE_NS = 30000000000;

void acq_policy_progress_init(acq_policy_progress *progress, const acq_train_policy_params *params)
{
    *progress = (acq_policy_progress){.params = params,
                                      .is_terminal = isatty(STDERR_FILENO) != 0,
                                      .shown_ns = acq_clock_ns(),
                                      .hub_solved = NAN};
}

void acq_policy_progress_deinit(acq_policy_progress *progress)
{
    if (progress->is_terminal && progress->width > 0)
        fprintf(stderr, "\r%*s\r", (int)progress->width, "");
    progress->width = 0;
}

/* By the number of batches or by the clock, whichever ends first. */
static double get_seconds_left(const acq_train_policy_params *params, const acq_curve_point *point)
{
    double left = INFINITY;
    if (params->batches > 0 && point->batch > 0)
        left = point->seconds * ((double)params->batches / (double)point->batch - 1);
    if (params->seconds > 0)
        left = fmin(left, params->seconds - point->seconds);
    return fmax(left, 0);
}

static void add_episodes(const acq_curve_point *point, acq_text *out)
{
    double n = (double)point->episodes;
    double per_second = point->seconds > 0 ? n / point->seconds : 0;
    acq_text_format(out, "seed %llu  ", (unsigned long long)point->seed);
    if (n < 1e5)
        acq_text_format(out, "%.0f episodes", n);
    else
        acq_text_format(out, "%.2fM episodes", n / 1e6);
    acq_text_format(out, "  %.0f/s", per_second);
}

static void add_left(double seconds, acq_text *out)
{
    if (seconds < 90)
        acq_text_format(out, "  %.0f s left", seconds);
    else if (seconds < 5400)
        acq_text_format(out, "  %.0f min left", seconds / 60);
    else if (isfinite(seconds))
        acq_text_format(out, "  %.1f h left", seconds / 3600);
}

static void add_line(const acq_policy_progress *progress, const acq_curve_point *point,
                     bool with_reward, acq_text *out)
{
    add_episodes(point, out);
    acq_text_format(out, "  solved %.3g%%", 100 * point->solved);
    if (!isnan(progress->hub_solved))
        acq_text_format(out, "  hub %.3g%%", 100 * progress->hub_solved);
    if (with_reward)
        acq_text_format(out, "  reward %.2g", point->reward);
    add_left(get_seconds_left(progress->params, point), out);
}

void acq_policy_progress_print(const acq_policy_progress *progress, const acq_curve_point *point,
                               acq_text *out)
{
    add_line(progress, point, true, out);
    if (out->length < ACQ_COLUMNS)
        return;
    acq_text_clear(out);
    add_line(progress, point, false, out);
}

static void draw(acq_policy_progress *progress, const char *line, size_t width)
{
    size_t rest = progress->width > width ? progress->width - width : 0;
    if (progress->is_terminal)
        fprintf(stderr, "\r%s%*s", line, (int)rest, "");
    else
        fprintf(stderr, "%s\n", line);
    fflush(stderr);
    progress->width = width;
}

void acq_policy_progress_show(void *context, const acq_curve_point *point)
{
    acq_policy_progress *progress = context;
    int64_t now = acq_clock_ns();
    if (!isnan(point->hub_solved))
        progress->hub_solved = point->hub_solved;
    bool is_soon = now - progress->shown_ns < (progress->is_terminal ? REDRAW_NS : LINE_NS);
    if (is_soon || isnan(point->solved)) /* no episode since the point before */
        return;
    acq_text line;
    acq_text_init(&line);
    acq_policy_progress_print(progress, point, &line);
    if (!line.failed)
        draw(progress, line.bytes, line.length);
    progress->shown_ns = now;
    acq_text_deinit(&line);
}
