/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/table.h"

enum { BAR = 30, REDRAW_NS = 100000000, QUIET_NS = 300000000, LABEL = 20 };
enum { SILENT_NS = 1000000000 };

typedef struct acq_bar_pulse {
    acq_bar *bar;
    const char *text;
    pthread_t thread;
    pthread_mutex_t lock; /* whoever draws or hides has it */
    pthread_cond_t is_over_now;
    bool is_over;
} acq_bar_pulse;

static void lock(const acq_bar *progress)
{
    if (progress->pulse != NULL)
        pthread_mutex_lock(&progress->pulse->lock);
}

static void unlock(const acq_bar *progress)
{
    if (progress->pulse != NULL)
        pthread_mutex_unlock(&progress->pulse->lock);
}

void acq_bar_init(acq_bar *progress, const char *label)
{
    *progress = (acq_bar){
        .label = label, .is_shown = isatty(STDERR_FILENO) != 0, .start_ns = acq_clock_ns()};
}

static size_t format_left(double seconds, char *buffer, size_t size)
{
    seconds = seconds < 1 ? 1 : seconds;
    int n = seconds < 90     ? acq_format(buffer, size, "  %.0f s left", seconds)
            : seconds < 5400 ? acq_format(buffer, size, "  %.0f min left", seconds / 60)
                             : acq_format(buffer, size, "  %.1f h left", seconds / 3600);
    return n < 0 ? 0 : (size_t)n;
}

/* The bar with its percentage; returns its length. */
static size_t format_bar(double share, const char *label, char *buffer, size_t size)
{
    char bar[BAR + 1];
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)(share * BAR));
    bar[BAR] = '\0';
    int n = snprintf(buffer, size, "%.*s  [%s] %3d%%", LABEL, label, bar, (int)(share * 100));
    return n < 0 ? 0 : (size_t)n;
}

static double share_of(uint64_t done, uint64_t all)
{
    return all == 0 ? 1.0 : (double)(done < all ? done : all) / (double)all;
}

size_t acq_bar_format(const acq_bar *progress, size_t done, size_t all, double seconds,
                      char *buffer, size_t size)
{
    double share = share_of(done, all);
    size_t used = format_bar(share, progress->label, buffer, size);
    int n = used < size ? snprintf(buffer + used, size - used, "  %zu/%zu", done, all) : 0;
    used += n < 0 ? 0 : (size_t)n;
    bool is_telling = done > 0 && done < all && seconds > 0.5 && used < size;
    if (is_telling)
        format_left(seconds * (1 - share) / share, buffer + used, size - used);
    return acq_width_of(buffer);
}

size_t acq_bar_format_stage(const acq_progress *now, double seconds, uint64_t facts, char *buffer,
                            size_t size)
{
    double share = share_of(now->done, now->total);
    size_t used;
    if (now->total > 0) {
        used = format_bar(share, now->phase, buffer, size);
    } else {
        int n = snprintf(buffer, size, "%.*s  %llu triples", LABEL, now->phase,
                         (unsigned long long)now->facts);
        used = n < 0 ? 0 : (size_t)n;
    }
    if (facts > 0 && seconds > 0 && used + 2 < size) {
        memcpy(buffer + used, "  ", 3);
        used += 2;
        used += acq_size_format_rate((double)facts / seconds, buffer + used, size - used);
    }
    bool is_telling = now->done > 0 && now->done < now->total && seconds > 0.5;
    if (is_telling && used < size)
        format_left(seconds * (1 - share) / share, buffer + used, size - used);
    return acq_width_of(buffer);
}

static void draw_locked(acq_bar *progress, const char *line, size_t width)
{
    size_t rest = progress->width > width ? progress->width - width : 0;
    fprintf(stderr, "\r%s%*s", line, (int)rest, "");
    fflush(stderr);
    progress->width = width;
}

static void draw(acq_bar *progress, const char *line, size_t width, int64_t now)
{
    lock(progress);
    draw_locked(progress, line, width);
    progress->drawn_ns = now;
    unlock(progress);
}

void acq_bar_show(void *context, size_t done, size_t all)
{
    acq_bar *progress = context;
    int64_t now = acq_clock_ns();
    if (!progress->is_shown || (now - progress->drawn_ns < REDRAW_NS && done < all))
        return;
    char line[160];
    double seconds = (double)(now - progress->start_ns) / 1e9;
    size_t width = acq_bar_format(progress, done, all, seconds, line, sizeof line);
    draw(progress, line, width, now);
}

void acq_bar_show_stage(acq_bar *progress, const acq_progress *now)
{
    int64_t clock = acq_clock_ns();
    if (progress->phase == NULL || strcmp(progress->phase, now->phase) != 0) {
        progress->phase = now->phase;
        progress->phase_ns = clock;
        progress->phase_facts = now->facts;
    }
    if (!progress->is_shown || clock - progress->start_ns < QUIET_NS ||
        clock - progress->drawn_ns < REDRAW_NS)
        return;
    char line[160];
    double seconds = (double)(clock - progress->phase_ns) / 1e9;
    size_t width =
        acq_bar_format_stage(now, seconds, now->facts - progress->phase_facts, line, sizeof line);
    draw(progress, line, width, clock);
}

void acq_bar_hide(acq_bar *progress)
{
    lock(progress);
    if (progress->width > 0)
        fprintf(stderr, "\r%*s\r", (int)progress->width, "");
    progress->width = 0;
    if (progress->pulse != NULL) /* what is printed now is not written over */
        progress->drawn_ns = acq_clock_ns();
    unlock(progress);
}

/* ---- silent work ---- */

static void show_pulse(acq_bar *progress, const char *text)
{
    int64_t now = acq_clock_ns();
    char line[80];
    if (now - progress->start_ns < SILENT_NS || now - progress->drawn_ns < SILENT_NS)
        return;
    acq_format(line, sizeof line, "%.60s  %.0f s", text, (double)(now - progress->start_ns) / 1e9);
    draw_locked(progress, line, acq_width_of(line));
}

static void *beat(void *context)
{
    acq_bar_pulse *pulse = context;
    pthread_mutex_lock(&pulse->lock);
    while (!pulse->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&pulse->is_over_now, &pulse->lock, &until);
        if (!pulse->is_over)
            show_pulse(pulse->bar, pulse->text);
    }
    pthread_mutex_unlock(&pulse->lock);
    return NULL;
}

/* Without memory or threads there is only the bar. */
void acq_bar_keep_alive(acq_bar *progress, const char *text)
{
    acq_bar_pulse *pulse = progress->is_shown ? acq_zalloc(1, sizeof *pulse) : NULL;
    if (pulse == NULL)
        return;
    *pulse = (acq_bar_pulse){.bar = progress, .text = text};
    pthread_mutex_init(&pulse->lock, NULL);
    pthread_cond_init(&pulse->is_over_now, NULL);
    if (pthread_create(&pulse->thread, NULL, beat, pulse) == 0)
        progress->pulse = pulse;
    else
        acq_free(pulse);
}

static void stop_pulse(acq_bar *progress)
{
    acq_bar_pulse *pulse = progress->pulse;
    if (pulse == NULL)
        return;
    pthread_mutex_lock(&pulse->lock);
    pulse->is_over = true;
    pthread_cond_signal(&pulse->is_over_now);
    pthread_mutex_unlock(&pulse->lock);
    pthread_join(pulse->thread, NULL);
    pthread_cond_destroy(&pulse->is_over_now);
    pthread_mutex_destroy(&pulse->lock);
    acq_free(pulse);
    progress->pulse = NULL;
}

void acq_bar_deinit(acq_bar *progress)
{
    stop_pulse(progress);
    acq_bar_hide(progress);
    *progress = (acq_bar){0};
}

/* ---- reading ---- */

void acq_reading_init(acq_reading *reading, acq_output *output)
{
    *reading = (acq_reading){.output = output};
    acq_bar_init(&reading->progress, "");
}

static void note_file(void *context, const acq_error *bad)
{
    acq_reading *reading = context;
    const char *file = acq_report_name_file(bad->file);
    char place[sizeof bad->file + 48] = "";
    if (bad->column > 0)
        snprintf(place, sizeof place, "%s:%zu:%zu: ", file, bad->line, bad->column);
    else if (bad->line > 0)
        snprintf(place, sizeof place, "%s:%zu: ", file, bad->line);
    else if (file[0] != '\0')
        snprintf(place, sizeof place, "%s: ", file);
    acq_report_note(reading->output, "%s%s", place, bad->message);
}

static void note_bad_line(void *context, const acq_error *bad)
{
    acq_reading *reading = context;
    if (reading->n_bad++ < ACQ_MOST_BAD_LINES)
        note_file(context, bad);
}

bool acq_reading_show_stage(void *context, const acq_progress *now)
{
    acq_reading *reading = context;
    acq_bar_show_stage(&reading->progress, now);
    return !acq_interrupt_is_asked();
}

void acq_reading_init_params(acq_reading *reading, const acq_options *options,
                             acq_graph_params *out)
{
    acq_graph_params_init(out);
    out->split = options->split;
    out->format = options->read_format;
    out->strict = options->strict;
    out->base = options->base;
    out->literals = options->literals;
    out->named_graphs = options->named_graphs;
    out->no_header = options->no_header;
    out->note = note_file;
    out->left_out = note_bad_line;
    out->progress = acq_reading_show_stage;
    out->context = reading;
}

void acq_reading_finish(acq_reading *reading, const char *what, const acq_read_report *report)
{
    acq_bar_deinit(&reading->progress);
    if (report == NULL)
        return;
    what = acq_report_name_file(what);
    if (reading->n_bad > 0)
        acq_report_note(reading->output, "%s: %llu line%s left out; --strict makes that an error",
                        what, (unsigned long long)reading->n_bad,
                        reading->n_bad == 1 ? " was" : "s were");
    if (report->literals > 0)
        acq_report_note(reading->output,
                        "%s: %llu statement%s left out whose object is a literal; --literals keeps "
                        "%s",
                        what, (unsigned long long)report->literals,
                        report->literals == 1 ? " was" : "s were",
                        report->literals == 1 ? "it" : "them");
}

acq_status acq_reading_check_split(const acq_options *options, acq_error *error)
{
    const char *split = options->split;
    if (split == NULL || strcmp(split, "train") == 0 || strcmp(split, "valid") == 0 ||
        strcmp(split, "test") == 0 || strcmp(split, "latest") == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "no split \"%.100s\"; use train, valid or test", split);
}

/* ---- training ---- */

static const int64_t TELL_NS = 200000000, LINE_NS = 30000000000;

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

static void draw_line(acq_train_meter *meter, const acq_text *line)
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
    if (clock - meter->shown_ns >= (meter->is_terminal ? TELL_NS : LINE_NS)) {
        acq_text line;
        acq_text_init(&line);
        acq_train_meter_print(meter, now, &line);
        if (!line.failed)
            draw_line(meter, &line);
        meter->shown_ns = clock;
        acq_text_deinit(&line);
    }
    return !acq_interrupt_is_asked();
}
