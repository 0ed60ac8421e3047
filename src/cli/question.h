/* question.h - one query from its text to the printed result, for ask and check. */
#ifndef ACQ_CLI_QUESTION_H
#define ACQ_CLI_QUESTION_H

#include "base/types.h"
#include "cli/report.h"
#include "engine/engine.h"

typedef struct acq_question {
    const acq_options *options;
    const acq_predictor *predictor;
    acq_engine_params params;
    const char *text;          /* NUL-terminated */
    const char *file;          /* where it stands; NULL: on the command line */
    size_t line;               /* in that file */
    size_t indent;             /* bytes before it in that line */
    uint64_t stream;           /* its number, for its own random numbers */
    const char *const *values; /* check: names, n_values of them */
    size_t n_values;
    bool is_check;
} acq_question;

/* Parses, asks or checks, prints to output; returns the exit code. */
int acq_question_answer(const acq_question *question, acq_output *output);

/* A file of queries, one per line; blank lines and lines that begin with # are left out, a byte
 * order mark and carriage returns are taken away. */
typedef struct acq_line {
    const char *text; /* NUL-terminated, without spaces around it */
    size_t number;    /* in the file, from 1 */
    size_t indent;    /* bytes before text in its line */
} acq_line;

typedef struct acq_lines {
    char *bytes;
    acq_line *items;
    size_t n;
} acq_lines;

/* "-" is standard input. Deinit also after an error. */
acq_status acq_lines_init(acq_lines *lines, const char *path, acq_error *error);
void acq_lines_deinit(acq_lines *lines);

#endif
