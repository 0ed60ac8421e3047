/* progress.h - a bar on stderr for long work, only when stderr is a terminal.
 *
 *   3hub  [##########--------------------]  33%  412/1250  12 s left
 *   reading  [##########--------------------]  33%  0.98 M triples/s  12 s left
 *
 * Redrawn at most ten times a second; not for use by several threads at once. Work in stages
 * shows nothing in its first moments, so that what is quick does not flicker. */
#ifndef ACQ_CLI_PROGRESS_H
#define ACQ_CLI_PROGRESS_H

#include "graph/text/read.h"

typedef struct acq_progress {
    const char *label;
    bool is_shown; /* stderr is a terminal */
    int64_t start_ns, drawn_ns;
    size_t width;         /* columns drawn last */
    const char *phase;    /* of work in stages */
    int64_t phase_ns;     /* when it began */
    uint64_t phase_facts; /* at that time */
} acq_progress;

void acq_progress_init(acq_progress *progress, const char *label);

/* May be passed as a callback: context is the acq_progress. */
void acq_progress_show(void *context, size_t done, size_t all);

void acq_progress_show_stage(acq_progress *progress, const acq_stage *now);

/* The line for one stage, `seconds` and `facts` after its beginning. */
size_t acq_progress_format_stage(const acq_stage *now, double seconds, uint64_t facts, char *buffer,
                                 size_t size);

/* Takes the bar away. */
void acq_progress_deinit(acq_progress *progress);

/* The line without moving the cursor, for tests: fills buffer, returns its columns. */
size_t acq_progress_format(const acq_progress *progress, size_t done, size_t all, double seconds,
                           char *buffer, size_t size);

#endif
