/* input.c - see input.h. UTF-8 as in RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
 */
#include "query/input.h"

#include <stdio.h>
#include <string.h>

#include "query/query.h"

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The second byte alone decides about overlong forms, surrogates and the upper end. */
static bool is_second_byte(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_continuation(second);
    }
}

size_t acq_utf8_length(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 0)
        return 0;
    if (bytes[0] < 0x80)
        return 1;
    size_t n = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || n > length || !is_second_byte(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < n; i++) {
        if (!is_continuation(bytes[i]))
            return 0;
    }
    return n;
}

size_t acq_utf8_write(uint32_t code, char *buffer)
{
    if (code < 0x80) {
        buffer[0] = (char)code;
        return 1;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        buffer[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    buffer[0] = (char)((0xF00 >> n & 0xFF) | code);
    return n;
}

static acq_status fail_encoding(const char *text, size_t at, size_t line_start, size_t line,
                                acq_error *error)
{
    size_t column = at - line_start + 1;
    if (text[at] == '\0')
        return acq_fail_at(error, ACQ_ERR_PARSE, line, column,
                           "a query cannot contain a NUL byte; remove it");
    return acq_fail_at(error, ACQ_ERR_PARSE, line, column,
                       "byte 0x%02X is not valid UTF-8; save the query as UTF-8",
                       (unsigned char)text[at]);
}

acq_status acq_input_check(const char *text, size_t length, acq_error *error)
{
    if (length > ACQ_MOST_TEXT)
        return acq_fail_at(error, ACQ_ERR_LIMIT, 1, 1,
                           "the query has %zu bytes, the limit is %d; split it", length,
                           (int)ACQ_MOST_TEXT);
    size_t line = 1, line_start = 0;
    for (size_t i = 0; i < length;) {
        size_t n = text[i] == '\0' ? 0 : acq_utf8_length(text + i, length - i);
        if (n == 0)
            return fail_encoding(text, i, line_start, line, error);
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
        i += n;
    }
    return ACQ_OK;
}

acq_shown acq_input_show(const char *text, size_t length)
{
    enum { MOST = 60 };
    acq_shown shown = {0};
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)text[i];
        size_t n = acq_utf8_length(text + i, length - i);
        bool plain = n != 0 && byte >= 0x20 && byte != 0x7F;
        size_t need = plain ? n : 4;
        if (used + need > MOST) {
            memcpy(shown.text + used, "...", 3);
            break;
        }
        if (plain)
            memcpy(shown.text + used, text + i, n);
        else
            snprintf(shown.text + used, 5, "\\x%02X", byte);
        used += need;
        i += plain ? n : 1;
    }
    return shown;
}
