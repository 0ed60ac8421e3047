/* utf8.c - well-formed UTF-8 by the table of RFC 3629, section 4. */
#include "graph/utf8.h"

#include <stdint.h>
#include <string.h>

/* Length of the sequence that the first byte announces, and the range of its second byte. */
typedef struct lead {
    size_t length; /* 0: no sequence starts so */
    unsigned char low, high;
} lead;

static lead read_lead(unsigned char c)
{
    if (c >= 0xC2 && c <= 0xDF)
        return (lead){2, 0x80, 0xBF};
    if (c >= 0xE0 && c <= 0xEF)
        return (lead){3, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF};
    if (c >= 0xF0 && c <= 0xF4)
        return (lead){4, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF};
    return (lead){0, 0, 0};
}

static size_t sequence_length(const unsigned char *p, size_t left)
{
    lead first = read_lead(p[0]);
    if (first.length == 0 || first.length > left || p[1] < first.low || p[1] > first.high)
        return 0;
    for (size_t i = 2; i < first.length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    return first.length;
}

size_t acq_utf8_check(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        if (length - i >= sizeof word) {
            memcpy(&word, p + i, sizeof word);
            if ((word & 0x8080808080808080ULL) == 0) {
                i += sizeof word;
                continue;
            }
        }
        size_t step = p[i] < 0x80 ? 1 : sequence_length(p + i, length - i);
        if (step == 0)
            return i;
        i += step;
    }
    return length;
}
