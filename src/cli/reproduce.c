/* reproduce.c - `anycq reproduce`, and `anycq eval FOLDER`: the paper's tables from a folder.
 *
 * A line on stderr for every job, with the time that is left; on a terminal also how far the job
 * is. An interrupt keeps what is done, and the same command goes on. */
#include "reproduce/reproduce.h"

#include <stdio.h>
#include <unistd.h>

#include "base/budget.h"
#include "cli/eval.h"
#include "cli/interrupt.h"
#include "cli/report.h"

enum { STOP_SECONDS = 60, LINE_WIDTH = 78 };

static const int64_t REDRAW_NS = 250000000;

typedef struct job {
    const acq_options *options;
    acq_output output;
    acq_repro_report report;
    bool is_terminal;
    int64_t drawn_ns;
    int width; /* columns drawn last */
} job;

static void clear(job *j)
{
    if (j->width > 0)
        fprintf(stderr, "\r%*s\r", j->width, "");
    j->width = 0;
}

static void format_left(double seconds, char *out, size_t room)
{
    if (seconds < 0)
        out[0] = '\0';
    else if (seconds < 90)
        acq_format(out, room, ", %.0f s left", seconds);
    else
        acq_format(out, room, ", %.0f min left", seconds / 60);
}

static void draw(job *j, const acq_repro_news *news)
{
    char line[LINE_WIDTH + 1];
    const acq_progress *inner = news->inner;
    double share =
        inner == NULL || inner->total == 0 ? 0 : 100.0 * (double)inner->done / (double)inner->total;
    if (!j->is_terminal || acq_clock_ns() - j->drawn_ns < REDRAW_NS)
        return;
    clear(j);
    acq_format(line, sizeof line, "%zu/%zu  %.50s  %3.0f%%", news->done + 1, news->total,
               news->what, share);
    j->width = fprintf(stderr, "%s", line);
    fflush(stderr);
    j->drawn_ns = acq_clock_ns();
}

static bool tell(void *context, const acq_repro_news *news)
{
    job *j = context;
    char left[48], taken[32];
    if (news->seconds < 0) {
        draw(j, news);
        return !acq_interrupt_is_asked();
    }
    clear(j);
    format_left(news->left, left, sizeof left);
    acq_format(taken, sizeof taken, "%.1f s", news->seconds);
    fprintf(stderr, "%zu/%zu  %s  %s%s\n", news->done + 1, news->total, news->what, taken, left);
    return !acq_interrupt_is_asked();
}

static void note(void *context, const char *text)
{
    job *j = context;
    clear(j);
    acq_report_note(&j->output, "%s", text);
    acq_output_relieve_notes(&j->output);
}

static acq_status run(job *j, const char *folder, acq_error *error)
{
    const acq_options *options = j->options;
    acq_repro_settings settings = {
        .folder = folder,
        .output = options->output != NULL ? options->output : "anycq-reproduce",
        .models = options->models,
        .commit = acq_commit,
        .tables = options->repro_tables,
        .quick = options->quick,
        .first = options->repro_first,
        .model_seconds = options->model_time,
        .seconds = options->repro_time,
        .seed = options->repro_seed,
        .threads = (unsigned)options->repro_threads,
        .tell = tell,
        .note = note,
        .context = j,
    };
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(STOP_SECONDS);
    acq_status status = acq_reproduce(&settings, &j->report, error);
    acq_interrupt_release();
    clear(j);
    if (status == ACQ_ERR_INTERRUPTED && error != NULL) {
        *error = (acq_error){0};
        return acq_fail(error, status,
                        "interrupted after %zu of %zu jobs; the same command goes on",
                        j->report.n_kept + j->report.n_run, j->report.n_jobs);
    }
    if (status == ACQ_OK)
        acq_text_format(&j->output.data,
                        "jobs      %zu: %zu run, %zu kept from before, %zu left out\n"
                        "left out  %zu, listed in tables.md\n"
                        "time      %.0f s\n"
                        "page      %s/index.html\n",
                        j->report.n_jobs, j->report.n_run, j->report.n_kept, j->report.n_failed,
                        j->report.n_left_out, j->report.seconds, settings.output);
    return status;
}

int acq_cli_reproduce(const acq_options *options)
{
    job j = {.options = options, .is_terminal = isatty(STDERR_FILENO) != 0};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&j.output);
    j.output.streams = true;
    if (run(&j, options->args.items[0], &error) != ACQ_OK)
        code = acq_report_error(&j.output, options, &error, NULL); /* what is done is written */
    return acq_output_finish(&j.output, code);
}
