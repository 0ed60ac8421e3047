/* new_completion.h - what complete and merge share: the half-written file goes when an interrupt
 * comes, and what was written is said. */
#ifndef ACQ_CLI_NEW_COMPLETION_H
#define ACQ_CLI_NEW_COMPLETION_H

#include "cli/report.h"

/* Holds interrupts; the name of the half-written file for the release. NULL (out of memory): an
 * interrupt may leave the file. */
char *acq_new_completion_hold(const char *path);
void acq_new_completion_release(char *half);

/* Reads the file's head back and notes what it holds. */
acq_status acq_new_completion_note(const char *path, acq_output *output, acq_error *error);

#endif
