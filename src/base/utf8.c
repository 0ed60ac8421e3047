/* utf8.c - well-formed UTF-8 by the table of RFC 3629, section 4. */
#include "base/utf8.h"

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

uint32_t acq_utf8_decode(const char *text, size_t *length)
{
    const unsigned char *p = (const unsigned char *)text;
    lead first = read_lead(p[0]);
    *length = first.length == 0 ? 1 : first.length;
    uint32_t character = first.length == 0 ? p[0] : p[0] & (0x7FU >> first.length);
    for (size_t i = 1; i < first.length; i++)
        character = character << 6 | (p[i] & 0x3FU);
    return character;
}

size_t acq_utf8_encode(uint32_t character, char out[4])
{
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    if (n == 1) {
        out[0] = (char)character;
        return 1;
    }
    for (size_t i = n - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)(leads[n] | character);
    return n;
}
