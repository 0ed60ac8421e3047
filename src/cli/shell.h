/* shell.h - the lines of `anycq shell`: from a terminal, with history and completion, or from a
 * script. */
#ifndef ACQ_CLI_SHELL_H
#define ACQ_CLI_SHELL_H

#include "anycq.h"
#include "base/text.h"

/* How a line began. */
typedef enum acq_shell_read {
    ACQ_SHELL_LINE,
    ACQ_SHELL_END,       /* of the file, or Ctrl-D */
    ACQ_SHELL_INTERRUPT, /* Ctrl-C: what was typed is dropped */
    ACQ_SHELL_LEAVE,     /* the terminal is gone, or somebody wants us to end */
} acq_shell_read;

typedef struct acq_shell_input acq_shell_input;

/* NULL: out of memory. Whose names are completed: graph's, besides the `n` words, which are
 * commands. */
acq_shell_input *acq_shell_input_new(const acq_graph *graph, const char *const *words, size_t n);
void acq_shell_input_free(acq_shell_input *input);

/* Is somebody there who reads prompts? */
bool acq_shell_input_is_terminal(const acq_shell_input *input);

/* The next line without its end, in `line`, which is cleared first. prompt is for a terminal. */
acq_shell_read acq_shell_input_next(acq_shell_input *input, const char *prompt, acq_text *line);

/* What arrow up brings back. */
void acq_shell_input_remember(acq_shell_input *input, const char *text);

#endif
