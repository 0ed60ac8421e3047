/* text.h - text: a growing string, numbers as text, UTF-8.
 *
 * Numbers have a decimal point whatever locale the program has chosen: files, JSON and messages
 * must be readable elsewhere. Printing and reading switch this thread to the "C" locale meanwhile
 * (uselocale), so they disturb no other thread; the digits are the C library's. */
#ifndef ACQ_BASE_TEXT_H
#define ACQ_BASE_TEXT_H

#include "base/types.h"

/* ---- numbers and words ---- */

/* As vsnprintf and snprintf, with a decimal point. */
int acq_format_list(char *buffer, size_t room, const char *format, va_list args) ACQ_PRINTF(3, 0);
int acq_format(char *buffer, size_t room, const char *format, ...) ACQ_PRINTF(3, 4);

/* As strtod, with a decimal point: *end, where not NULL, is where the number ends. */
double acq_read_double(const char *text, char **end);

/* Are the first n bytes equal but for the case of ASCII letters? In Turkish, I is no capital i. */
bool acq_is_same_word(const char *a, const char *b, size_t n);

/* ---- a growing string ---- */

/* Appending remembers the first failure, so a printer checks once at the end instead of at every
 * piece. */
typedef struct acq_text {
    char *bytes; /* NUL-terminated once anything was appended */
    size_t length;
    size_t capacity;
    bool failed; /* memory ran out: bytes is incomplete */
} acq_text;

void acq_text_init(acq_text *text);
void acq_text_deinit(acq_text *text);
void acq_text_clear(acq_text *text); /* keeps the memory */
/* Room for so many bytes more and a NUL; false: the text has failed. */
bool acq_text_make_room(acq_text *text, size_t length);
void acq_text_add(acq_text *text, const char *piece);
void acq_text_add_bytes(acq_text *text, const char *bytes, size_t length);
void acq_text_add_char(acq_text *text, char c);
/* As a string of JSON, in quotes. What is not UTF-8 is replaced as a whole. */
void acq_text_add_json(acq_text *text, const char *bytes, size_t length);
/* The same, but of what is not UTF-8 each byte alone becomes U+FFFD. */
void acq_text_add_json_mended(acq_text *text, const char *string);
/* For HTML and SVG: markup escaped, control characters as blanks, bytes that are not UTF-8 as
 * U+FFFD. At most `most` characters, then "…". */
void acq_text_add_markup(acq_text *text, const char *string, size_t most);
/* As a name in quotes, which the query language reads back. */
void acq_text_add_quoted(acq_text *text, const char *bytes, size_t length);
void acq_text_format(acq_text *text, const char *format, ...) ACQ_PRINTF(2, 3);

/* ACQ_OK, or ACQ_ERR_MEMORY if any append failed. */
acq_status acq_text_finish(const acq_text *text, acq_error *error);

/* Moves the string out (never NULL on success; caller frees with acq_free). */
acq_status acq_text_take(acq_text *text, char **out, acq_error *error);

/* ---- UTF-8 ---- */

/* Position of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF), or length. O(length), 8 ASCII bytes a step. */
size_t acq_utf8_check(const char *bytes, size_t length);

/* Bytes of the character that text[0] begins, of `length` at most; 0: none, it is malformed. */
size_t acq_utf8_length(const char *text, size_t length);

/* The character that well-formed text begins with; *length is that of its bytes. */
uint32_t acq_utf8_decode(const char *text, size_t *length);

/* Writes a character up to U+10FFFF that is no surrogate; returns the number of bytes. */
size_t acq_utf8_encode(uint32_t character, char out[4]);

/* Begins with a scheme, as in http: or urn: */
bool acq_iri_is_absolute(const char *iri, size_t length);

#endif
