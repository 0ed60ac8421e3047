/* input.h - query text before any lexer sees it: limits, encoding, places, how a piece of it is
 * shown in a message; and what the lexers of all syntaxes have in common. */
#ifndef ACQ_QUERY_INPUT_H
#define ACQ_QUERY_INPUT_H

#include "base/text.h"

typedef struct acq_input_place {
    uint32_t line, column; /* from 1; columns in bytes */
} acq_input_place;

/* Refuses text past ACQ_MOST_TEXT, NUL bytes and anything that is not UTF-8, with the place. */
acq_status acq_input_check(const char *text, size_t length, acq_error *error);

/* A piece of text for a message: at most ~60 bytes, cut at a character, control bytes as \xNN. */
typedef struct acq_shown {
    char text[96];
} acq_shown;
acq_shown acq_input_show(const char *text, size_t length);

/* ---- lexers ---- */

typedef struct acq_scan { /* a text and how far it is read */
    const char *text;     /* has passed acq_input_check */
    size_t length, at, line_start;
    uint32_t line;
    acq_text decoded;  /* of a token with escapes */
    acq_error problem; /* of a token that is none */
} acq_scan;

void acq_scan_init(acq_scan *scan, const char *text, size_t length);
void acq_scan_deinit(acq_scan *scan);

/* Past blanks, line ends and comments, which begin with #. */
void acq_scan_skip_blanks(acq_scan *scan);

acq_input_place acq_scan_get_place(const acq_scan *scan, size_t at); /* at: in the current line */

/* Notes a problem at the byte `offset` of the current line. */
#define ACQ_SCAN_NOTE(scan, offset, ...)                                                           \
    ((void)acq_fail_at(&(scan)->problem, ACQ_ERR_PARSE, acq_scan_get_place(scan, offset).line,     \
                       acq_scan_get_place(scan, offset).column, __VA_ARGS__))

/* Hands the problem to the caller of the lexer. */
acq_status acq_scan_fail(const acq_scan *scan, acq_error *error);

/* A token in a message: 'x' in quotes, or "the end of the query". */
acq_shown acq_scan_show(const char *source, size_t length, bool is_end);

/* Letters, digits, "_" and what is beyond ASCII. */
bool acq_scan_is_name_char(char c);

#endif
