/* pattern.h - the argument of `anycq predict`: rel(head, ?) or rel(?, tail).
 *
 *   pattern  ::= relation "(" ( name "," "?" | "?" "," name ) ")"
 *   relation ::= name | "inverse(" name ")"
 *   name     ::= '"' { character | '\' character } '"' | what stands there
 *
 * Since one side is always "?", names need no quotes even when they hold commas, spaces or
 * parentheses. */
#ifndef ACQ_CLI_PATTERN_H
#define ACQ_CLI_PATTERN_H

#include "base/types.h"

typedef struct acq_pattern {
    char *bytes; /* owned copy of the text, cut in place */
    const char *relation;
    const char *entity;
    bool is_inverse;    /* written inverse(relation) */
    bool asks_for_head; /* rel(?, tail) */
} acq_pattern;

/* Columns of errors count in `text`. Deinit also after an error. */
acq_status acq_pattern_init(acq_pattern *pattern, const char *text, acq_error *error);
void acq_pattern_deinit(acq_pattern *pattern);

#endif
