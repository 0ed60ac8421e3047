/* reading.c - see reading.h. */
#include "cli/reading.h"

#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"

void acq_reading_init(acq_reading *reading, acq_output *output)
{
    *reading = (acq_reading){.output = output};
    acq_progress_init(&reading->progress, "");
}

static void note_bad_line(void *context, const acq_error *bad)
{
    acq_reading *reading = context;
    if (reading->n_bad++ >= ACQ_MOST_BAD_LINES)
        return;
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

bool acq_reading_show_stage(void *context, const acq_stage *now)
{
    acq_reading *reading = context;
    acq_progress_show_stage(&reading->progress, now);
    return !acq_interrupt_is_asked();
}

acq_read_params acq_reading_get_params(acq_reading *reading, const acq_options *options)
{
    return (acq_read_params){.split = options->split,
                             .format = options->read_format,
                             .strict = options->strict,
                             .base = options->base,
                             .literals = options->literals,
                             .bad_line = note_bad_line,
                             .progress = acq_reading_show_stage,
                             .context = reading};
}

void acq_reading_finish(acq_reading *reading, const char *what, const acq_read_report *report)
{
    acq_progress_deinit(&reading->progress);
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
        strcmp(split, "test") == 0 || strcmp(split, ACQ_SPLIT_LATEST) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "no split \"%.100s\"; use train, valid or test", split);
}
