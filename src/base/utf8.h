/* utf8.h - is this text UTF-8, and one character at a time. */
#ifndef ACQ_BASE_UTF8_H
#define ACQ_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Position of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF), or length. O(length), 8 ASCII bytes a step. */
size_t acq_utf8_check(const char *bytes, size_t length);

/* The character that well-formed text begins with; *length is that of its bytes. */
uint32_t acq_utf8_decode(const char *text, size_t *length);

/* Writes a character up to U+10FFFF that is no surrogate; returns the number of bytes. */
size_t acq_utf8_encode(uint32_t character, char out[4]);

#endif
