/* progress.h - a bar on stderr for long work, only when stderr is a terminal.
 *
 *   3hub  [##########--------------------]  33%  412/1250  12 s left
 *   reading  [##########--------------------]  33%  0.98 M triples/s  12 s left
 *
 * Redrawn at most ten times a second; not for use by several threads at once. Work in stages
 * shows nothing in its first moments, so that what is quick does not flicker. Where work may tell
 * nothing of itself for long, a thread says that it goes on:
 *
 *   working on predictions  12 s */
#ifndef ACQ_CLI_PROGRESS_H
#define ACQ_CLI_PROGRESS_H

#include "cli/options.h"
#include "cli/report.h"

typedef struct acq_bar {
    const char *label;
    bool is_shown; /* stderr is a terminal */
    int64_t start_ns, drawn_ns;
    size_t width;                /* columns drawn last */
    const char *phase;           /* of work in stages */
    int64_t phase_ns;            /* when it began */
    uint64_t phase_facts;        /* at that time */
    struct acq_bar_pulse *pulse; /* what says that silent work goes on; NULL: nothing does */
} acq_bar;

void acq_bar_init(acq_bar *progress, const char *label);

/* Until deinit: after a second without a bar `text` is shown, with the seconds since init. The bar
 * stays where it is in memory meanwhile. */
void acq_bar_keep_alive(acq_bar *progress, const char *text);

/* May be passed as a callback: context is the acq_bar. */
void acq_bar_show(void *context, size_t done, size_t all);

void acq_bar_show_stage(acq_bar *progress, const acq_progress *now);

/* The line for one stage, `seconds` and `facts` after its beginning. */
size_t acq_bar_format_stage(const acq_progress *now, double seconds, uint64_t facts, char *buffer,
                            size_t size);

/* Takes the bar away, until something is shown again, or for good. */
void acq_bar_hide(acq_bar *progress);
void acq_bar_deinit(acq_bar *progress);

/* The line without moving the cursor, for tests: fills buffer, returns its columns. */
size_t acq_bar_format(const acq_bar *progress, size_t done, size_t all, double seconds,
                      char *buffer, size_t size);

/* What is said while a graph is read: bad lines, a bar on a terminal, what was left out at the end.
 */
enum { ACQ_MOST_BAD_LINES = 5 }; /* that are shown */

typedef struct acq_reading {
    acq_output *output;
    uint64_t n_bad;
    acq_bar progress;
} acq_reading;

void acq_reading_init(acq_reading *reading, acq_output *output);

/* --split, --format, --strict, --base, --literals and --no-header, with callbacks to `reading`. */
void acq_reading_init_params(acq_reading *reading, const acq_options *options,
                             acq_graph_params *out);

/* For work that goes on in stages after reading; context is the acq_reading. */
bool acq_reading_show_stage(void *context, const acq_progress *now);

/* Takes the bar away. With a report (not after an error) the notes about what was left out follow;
 * `what` names the source. */
void acq_reading_finish(acq_reading *reading, const char *what, const acq_read_report *report);

/* --split must name one. */
acq_status acq_reading_check_split(const acq_options *options, acq_error *error);

#endif
