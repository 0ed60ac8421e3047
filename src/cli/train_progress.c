/* train_progress.c - see train_progress.h. */
#include "cli/train_progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "cli/interrupt.h"

static const int64_t REDRAW_NS = 200000000, LINE_NS = 30000000000;

void acq_train_meter_init(acq_train_meter *meter, const char *unit, double limit)
{
    *meter = (acq_train_meter){.unit = unit,
                               .limit = limit,
                               .is_terminal = isatty(STDERR_FILENO) != 0,
                               .shown_ns = acq_clock_ns()};
}

void acq_train_meter_deinit(acq_train_meter *meter)
{
    if (meter->is_terminal && meter->width > 0)
        fprintf(stderr, "\r%*s\r", (int)meter->width, "");
    meter->width = 0;
}

/* Of this phase, by what is done or by the clock, whichever ends first; infinite: unknown. */
static double get_seconds_left(const acq_train_meter *meter, const acq_train_progress *now)
{
    double left = INFINITY, done = now->done - meter->since.done;
    if (done > 0 && now->total > 0)
        left = (now->seconds - meter->since.seconds) * (now->total - now->done) / done;
    if (meter->limit > 0)
        left = fmin(left, meter->limit - now->seconds);
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

void acq_train_meter_print(const acq_train_meter *meter, const acq_train_progress *now,
                           acq_text *out)
{
    if (now->text != NULL) {
        acq_text_add(out, now->text);
        add_left(get_seconds_left(meter, now), out);
        return;
    }
    bool is_whole = now->total == floor(now->total) && now->done == floor(now->done);
    int digits = is_whole || now->total >= 1000 ? 0 : 1;
    acq_text_format(out, "%.30s", now->phase == NULL ? "training" : now->phase);
    if (now->total > 0 && now->done >= 0)
        acq_text_format(out, "  %.*f of %.*f%s%s", digits, now->done, digits, now->total,
                        meter->unit[0] == '\0' ? "" : " ", meter->unit);
    if (isfinite(now->loss) && now->loss != 0)
        acq_text_format(out, "  loss %.4g", now->loss);
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

bool acq_train_meter_show(void *context, const acq_train_progress *now)
{
    acq_train_meter *meter = context;
    int64_t clock = acq_clock_ns();
    const char *phase = meter->since.phase;
    if (phase == NULL || now->phase == NULL || strcmp(phase, now->phase) != 0 ||
        now->done < meter->since.done)
        meter->since = *now;
    meter->last = *now;
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
