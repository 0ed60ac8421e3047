/* lines.h - a file of queries, one per line; blank lines and lines that begin with # are left
 * out, a byte order mark and carriage returns are taken away. */
#ifndef ACQ_CLI_LINES_H
#define ACQ_CLI_LINES_H

#include "base/types.h"

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
