/* input.h - query text before any lexer sees it: limits, encoding, places, and how a piece of it
 * is shown in a message. */
#ifndef ACQ_QUERY_INPUT_H
#define ACQ_QUERY_INPUT_H

#include "base/types.h"

typedef struct acq_input_place {
    uint32_t line, column; /* from 1; columns in bytes */
} acq_input_place;

/* Refuses text past ACQ_MOST_TEXT, NUL bytes and anything that is not UTF-8, with the place. */
acq_status acq_input_check(const char *text, size_t length, acq_error *error);

/* Length of the UTF-8 character that begins at text[0]; 0 when it is malformed. */
size_t acq_utf8_length(const char *text, size_t length);

/* Appends a code point to buffer (4 bytes of room); returns the bytes written, 0 when it is none.
 */
size_t acq_utf8_write(uint32_t code, char *buffer);

/* A piece of text for a message: at most ~60 bytes, cut at a character, control bytes as \xNN. */
typedef struct acq_shown {
    char text[96];
} acq_shown;
acq_shown acq_input_show(const char *text, size_t length);

#endif
