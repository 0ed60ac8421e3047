/* question.h - one query from its text to the printed result, for ask and check. */
#ifndef ACQ_CLI_QUESTION_H
#define ACQ_CLI_QUESTION_H

#include "base/types.h"
#include "cli/report.h"

/* One query of a file. */
typedef struct acq_line {
    char *text;    /* owned; NUL-terminated, without spaces around it */
    size_t number; /* in the file, from 1 */
    size_t indent; /* bytes before text in its line */
    size_t column; /* of a zero byte in it, after which text ends; 0: none */
} acq_line;

typedef struct acq_question {
    const acq_options *options;
    const acq_graph *graph;
    const acq_predictor *predictor;
    const acq_ask_params *params;
    const char *text;          /* NUL-terminated */
    const char *file;          /* where it stands; NULL: on the command line */
    const acq_line *line;      /* of that file */
    uint64_t stream;           /* its number, for its own random numbers */
    const char *const *values; /* check: names, n_values of them */
    size_t n_values;
    bool is_check;
    bool is_predicted; /* set by the answering: more than facts went into it */
} acq_question;

/* Parses, asks or checks, prints to output; returns the exit code. */
int acq_question_answer(acq_question *question, acq_output *output);

/* A file of queries, one per line, read as they come: blank lines and lines that begin with # are
 * left out, a byte order mark and carriage returns are taken away. */
typedef struct acq_lines {
    const char *path; /* "-" is standard input */
    int file;
    char *bytes; /* read, and not handed out: from begin to end */
    size_t begin, end, capacity;
    size_t number; /* of the last line that was cut */
    size_t n;      /* queries so far */
    bool is_over;  /* nothing more can be read */
    bool is_file;  /* no pipe or terminal: reading does not wait */
} acq_lines;

/* Deinit also after an error. */
acq_status acq_lines_init(acq_lines *lines, const char *path, acq_error *error);
void acq_lines_deinit(acq_lines *lines);

/* The next query; *out has no text at the end. Unless may_wait, it has none either where the next
 * line of a pipe or terminal has not arrived yet. A file without any query is an error. */
acq_status acq_lines_next(acq_lines *lines, bool may_wait, acq_line *out, acq_error *error);

/* The place of an error in the text, as one in the file. */
void acq_line_move_error(const acq_line *line, const char *path, acq_error *error);

/* A zero byte is an error, at its place in the file. */
acq_status acq_line_check(const acq_line *line, const char *path, acq_error *error);

/* ---- solutions ----
 *
 * `ask` with SPARQL that is more than a formula: solutions as its standard has them. */

/* Solves the question's SPARQL and prints its solutions; *code is the exit code. */
acq_status acq_cli_solve(acq_question *question, const acq_ask_params *ask, acq_output *output,
                         int *code, acq_error *error);

#endif
