/* utf8.h - is this text UTF-8? */
#ifndef ACQ_GRAPH_UTF8_H
#define ACQ_GRAPH_UTF8_H

#include <stddef.h>

/* Position of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF), or length. O(length), 8 ASCII bytes a step. */
size_t acq_utf8_check(const char *bytes, size_t length);

#endif
