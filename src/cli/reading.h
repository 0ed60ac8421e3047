/* reading.h - what is said while a graph is read: bad lines, a bar on a terminal, what was left
 * out at the end. */
#ifndef ACQ_CLI_READING_H
#define ACQ_CLI_READING_H

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"

enum { ACQ_MOST_BAD_LINES = 5 }; /* that are shown */

typedef struct acq_reading {
    acq_output *output;
    uint64_t n_bad;
    acq_progress progress;
} acq_reading;

void acq_reading_init(acq_reading *reading, acq_output *output);

/* --split, --format, --strict, --base and --literals, with callbacks to `reading`. */
acq_read_params acq_reading_get_params(acq_reading *reading, const acq_options *options);

/* For work that goes on in stages after reading; context is the acq_reading. */
bool acq_reading_show_stage(void *context, const acq_stage *now);

/* Takes the bar away. With a report (not after an error) the notes about what was left out follow;
 * `what` names the source. */
void acq_reading_finish(acq_reading *reading, const char *what, const acq_read_report *report);

/* --split must name one. */
acq_status acq_reading_check_split(const acq_options *options, acq_error *error);

#endif
