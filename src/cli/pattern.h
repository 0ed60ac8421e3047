/* pattern.h - rel(head, tail) on the command line: what predict, add and remove take.
 *
 *   pattern  ::= relation "(" place "," place ")"
 *   relation ::= name | "inverse(" name ")"
 *   place    ::= name | "?"                      predict: exactly one of the two
 *   name     ::= '"' { character | '\' one of "\nrt } '"' | "<" { character } ">"
 *              | what stands there
 *
 * Names need no quotes even when they hold spaces or parentheses, nor commas where the other
 * place is "?". */
#ifndef ACQ_CLI_PATTERN_H
#define ACQ_CLI_PATTERN_H

#include "base/types.h"

typedef enum acq_pattern_kind {
    ACQ_PATTERN_LINK, /* one place is ? */
    ACQ_PATTERN_FACT, /* two names */
} acq_pattern_kind;

typedef struct acq_pattern {
    char *bytes; /* owned copy of the text, cut in place */
    const char *relation;
    const char *head, *tail; /* NULL: ? */
    bool is_inverse;         /* written inverse(relation) */
    bool has_iri;            /* some name in <...> is an absolute IRI */
} acq_pattern;

/* Columns of errors count in `text`. Deinit also after an error. */
acq_status acq_pattern_init(acq_pattern *pattern, acq_pattern_kind kind, const char *text,
                            acq_error *error);
void acq_pattern_deinit(acq_pattern *pattern);

#endif
