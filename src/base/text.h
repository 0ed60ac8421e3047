/* text.h - a growing string. Appending remembers the first failure, so a printer checks
 * once at the end instead of at every piece. */
#ifndef ACQ_BASE_TEXT_H
#define ACQ_BASE_TEXT_H

#include "base/types.h"

typedef struct acq_text {
    char *bytes; /* NUL-terminated once anything was appended */
    size_t length;
    size_t capacity;
    bool failed; /* memory ran out: bytes is incomplete */
} acq_text;

void acq_text_init(acq_text *text);
void acq_text_deinit(acq_text *text);
void acq_text_clear(acq_text *text); /* keeps the memory */
void acq_text_add(acq_text *text, const char *piece);
void acq_text_add_bytes(acq_text *text, const char *bytes, size_t length);
void acq_text_add_char(acq_text *text, char c);
void acq_text_format(acq_text *text, const char *format, ...) ACQ_PRINTF(2, 3);

/* ACQ_OK, or ACQ_ERR_MEMORY if any append failed. */
acq_status acq_text_finish(const acq_text *text, acq_error *error);

/* Moves the string out (never NULL on success; caller frees with acq_free). */
acq_status acq_text_take(acq_text *text, char **out, acq_error *error);

#endif
