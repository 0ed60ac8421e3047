/* train_progress.c - see train_progress.h. */
#include "cli/train_progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "cli/interrupt.h"

static const int64_t REDRAW_NS = 200000000, LINE_NS = 30000000000;

void acq_train_meter_init(acq_train_meter *meter, double limit)
{
    int64_t now = acq_clock_ns();
    *meter = (acq_train_meter){.limit = limit,
                               .is_terminal = isatty(STDERR_FILENO) != 0,
                               .began_ns = now,
                               .shown_ns = now};
}

void acq_train_meter_deinit(acq_train_meter *meter)
{
    if (meter->is_terminal && meter->width > 0)
        fprintf(stderr, "\r%*s\r", (int)meter->width, "");
    meter->width = 0;
}

/* Of this phase, by what is done or by the clock, whichever ends first; infinite: unknown. */
static double get_seconds_left(const acq_train_meter *meter, const acq_progress *now)
{
    double left = INFINITY;
    if (now->done > meter->first_done && now->total > 0)
        left = (meter->seconds - meter->first_seconds) * ((double)now->total - (double)now->done) /
               (double)(now->done - meter->first_done);
    if (meter->limit > 0)
        left = fmin(left, meter->limit - meter->seconds);
    return fmax(left, 0);
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

void acq_train_meter_print(const acq_train_meter *meter, const acq_progress *now, acq_text *out)
{
    acq_text_add(out, now->text == NULL ? now->phase : now->text);
    add_left(get_seconds_left(meter, now), out);
}

static void draw(acq_train_meter *meter, const acq_text *line)
{
    size_t rest = meter->width > line->length ? meter->width - line->length : 0;
    if (meter->is_terminal)
        fprintf(stderr, "\r%s%*s", line->bytes, (int)rest, "");
    else
        fprintf(stderr, "%s\n", line->bytes);
    fflush(stderr);
    meter->width = line->length;
}

bool acq_train_meter_show(void *context, const acq_progress *now)
{
    acq_train_meter *meter = context;
    int64_t clock = acq_clock_ns();
    meter->seconds = 1e-9 * (double)(clock - meter->began_ns);
    if (strcmp(meter->phase, now->phase) != 0 || now->done < meter->first_done) {
        snprintf(meter->phase, sizeof meter->phase, "%s", now->phase);
        meter->first_done = now->done;
        meter->first_seconds = meter->seconds;
    }
    meter->done = now->done;
    if (clock - meter->shown_ns >= (meter->is_terminal ? REDRAW_NS : LINE_NS)) {
        acq_text line;
        acq_text_init(&line);
        acq_train_meter_print(meter, now, &line);
        if (!line.failed)
            draw(meter, &line);
        meter->shown_ns = clock;
        acq_text_deinit(&line);
    }
    return !acq_interrupt_is_asked();
}
