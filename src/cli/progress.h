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

#include "base/text.h"
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

/* --split, --format, --strict, --base, --literals, --named-graphs and --no-header, with callbacks to `reading`. */
void acq_reading_init_params(acq_reading *reading, const acq_options *options,
                             acq_graph_params *out);

/* For work that goes on in stages after reading; context is the acq_reading. */
bool acq_reading_show_stage(void *context, const acq_progress *now);

/* Takes the bar away. With a report (not after an error) the notes about what was left out follow;
 * `what` names the source. */
void acq_reading_finish(acq_reading *reading, const char *what, const acq_read_report *report);

/* --split must name one. */
acq_status acq_reading_check_split(const acq_options *options, acq_error *error);

/* ---- training ----
 *
 * How a training or a fit goes, on stderr: one line that is redrawn
 * on a terminal, else a line every half a minute.
 *
 *   training  12.4 of 50 epochs  loss 4.132  12 min left */

typedef struct acq_train_meter {
    double limit;  /* seconds it may take; 0: any */
    uint64_t done; /* what was told last */
    double seconds;
    char phase[32]; /* that of now; what was told first of it is for the estimate */
    uint64_t first_done;
    double first_seconds;
    bool is_terminal;
    int64_t began_ns, shown_ns;
    size_t width; /* columns drawn last */
} acq_train_meter;

void acq_train_meter_init(acq_train_meter *meter, double limit);
void acq_train_meter_deinit(acq_train_meter *meter); /* takes the line away */

/* The callback of acq_train and acq_fit_completion; context is the meter. False when an interrupt
 * was asked for. */
bool acq_train_meter_show(void *context, const acq_progress *now);

/* The line alone, below 80 columns of ASCII. out is empty before. */
void acq_train_meter_print(const acq_train_meter *meter, const acq_progress *now, acq_text *out);

#endif
