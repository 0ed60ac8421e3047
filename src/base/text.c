/* text.c - see text.h. Well-formed UTF-8 is that of the table of RFC 3629, section 4. */
#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The "C" locale of the C library is a constant: taking it neither allocates nor fails. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

int acq_format_list(char *buffer, size_t room, const char *format, va_list args)
{
    locale_t before = enter_c_locale();
    int length = vsnprintf(buffer, room, format, args);
    uselocale(before);
    return length;
}

int acq_format(char *buffer, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = acq_format_list(buffer, room, format, args);
    va_end(args);
    return length;
}

double acq_read_double(const char *text, char **end)
{
    locale_t before = enter_c_locale();
    double number = strtod(text, end);
    uselocale(before);
    return number;
}

static int to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool acq_is_same_word(const char *a, const char *b, size_t n)
{
    for (; n > 0 && to_lower(*a) == to_lower(*b); n--, a++, b++)
        if (*a == '\0')
            return true;
    return n == 0;
}

void acq_text_init(acq_text *text)
{
    *text = (acq_text){0};
}

void acq_text_deinit(acq_text *text)
{
    acq_free(text->bytes);
    *text = (acq_text){0};
}

void acq_text_clear(acq_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

/* The first block is not tiny: most texts soon need it. */
bool acq_text_make_room(acq_text *text, size_t length)
{
    enum { FIRST = 256 };
    size_t need = text->length + length + 1;
    if (!text->failed && need > text->capacity)
        text->failed =
            ACQ_RESERVE(text->bytes, text->capacity, need < FIRST ? FIRST : need) != ACQ_OK;
    return !text->failed;
}

void acq_text_add_bytes(acq_text *text, const char *bytes, size_t length)
{
    if (!acq_text_make_room(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void acq_text_add(acq_text *text, const char *piece)
{
    acq_text_add_bytes(text, piece, strlen(piece));
}

void acq_text_add_char(acq_text *text, char c)
{
    acq_text_add_bytes(text, &c, 1);
}

/* ASCII that a string of JSON has as it is, as nearly all names are. Without a branch in the loop,
 * so that compilers look at many bytes at a time. */
static bool is_plain(const char *bytes, size_t length)
{
    unsigned others = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        others |= (c < 0x20) | (c == '"') | (c == '\\') | (c >= 0x7F);
    }
    return others == 0;
}

static void add_json_escaped(acq_text *text, const char *bytes, size_t length)
{
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F)
            continue;
        acq_text_add_bytes(text, bytes + done, i - done);
        acq_text_format(text, c == '"' || c == '\\' ? "\\%c" : "\\u%04X", c);
        done = i + 1;
    }
    acq_text_add_bytes(text, bytes + done, length - done);
}

void acq_text_add_json(acq_text *text, const char *bytes, size_t length)
{
    bool plain = is_plain(bytes, length);
    if (!plain && acq_utf8_check(bytes, length) != length) {
        acq_text_add(text, "\"(not UTF-8)\"");
        return;
    }
    acq_text_add_char(text, '"');
    if (plain)
        acq_text_add_bytes(text, bytes, length);
    else
        add_json_escaped(text, bytes, length);
    acq_text_add_char(text, '"');
}

void acq_text_add_json_mended(acq_text *text, const char *string)
{
    acq_text_add_char(text, '"');
    for (size_t left = strlen(string), n; left > 0; string += n, left -= n) {
        n = acq_utf8_length(string, left);
        if (n == 0)
            acq_text_add(text, "\\ufffd");
        else if (*string == '"' || *string == '\\')
            acq_text_format(text, "\\%c", *string);
        else if ((unsigned char)*string < ' ')
            acq_text_format(text, "\\u%04x", (unsigned)*string);
        else
            acq_text_add_bytes(text, string, n);
        n = n == 0 ? 1 : n;
    }
    acq_text_add_char(text, '"');
}

void acq_text_add_markup(acq_text *text, const char *string, size_t most)
{
    for (size_t left = strlen(string), n; left > 0; string += n, left -= n) {
        if (most-- == 0) {
            acq_text_add(text, "…");
            return;
        }
        n = acq_utf8_length(string, left);
        if (n == 0)
            acq_text_add(text, "\xEF\xBF\xBD");
        else if ((unsigned char)*string < ' ')
            acq_text_add_char(text, ' ');
        else if (strchr("<>&\"'", *string) != NULL)
            acq_text_format(text, "&#%d;", *string);
        else
            acq_text_add_bytes(text, string, n);
        n = n == 0 ? 1 : n;
    }
}

void acq_text_add_quoted(acq_text *text, const char *bytes, size_t length)
{
    acq_text_add_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        static const char PLAIN[] = "\"\\\n\r\t", ESCAPED[] = "\"\\nrt";
        const char *special = memchr(PLAIN, bytes[i], sizeof PLAIN - 1);
        if (special != NULL)
            acq_text_add_char(text, '\\');
        acq_text_add_char(text, special == NULL ? bytes[i] : ESCAPED[special - PLAIN]);
    }
    acq_text_add_char(text, '"');
}

/* The length that the formatted text has; it is written as far as there is room. */
ACQ_PRINTF(2, 0)
static int format_into_room(acq_text *text, const char *format, va_list args)
{
    size_t room = text->capacity - text->length;
    return acq_format_list(room == 0 ? NULL : text->bytes + text->length, room, format, args);
}

void acq_text_format(acq_text *text, const char *format, ...)
{
    va_list args;
    if (!acq_text_make_room(text, 0))
        return;
    va_start(args, format);
    int length = format_into_room(text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length >= text->capacity - text->length &&
        acq_text_make_room(text, (size_t)length)) {
        va_start(args, format);
        length = format_into_room(text, format, args);
        va_end(args);
    }
    text->failed |= length < 0;
    text->length += text->failed ? 0 : (size_t)length;
}

acq_status acq_text_finish(const acq_text *text, acq_error *error)
{
    return text->failed ? acq_fail_memory(error) : ACQ_OK;
}

acq_status acq_text_take(acq_text *text, char **out, acq_error *error)
{
    acq_text_add_bytes(text, "", 0);
    if (acq_text_finish(text, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    *out = text->bytes;
    *text = (acq_text){0};
    return ACQ_OK;
}

/* ---- UTF-8 ---- */

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

size_t acq_utf8_length(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    if (length == 0 || p[0] < 0x80)
        return length == 0 ? 0 : 1;
    lead first = read_lead(p[0]);
    if (first.length == 0 || first.length > length || p[1] < first.low || p[1] > first.high)
        return 0;
    for (size_t i = 2; i < first.length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    return first.length;
}

size_t acq_utf8_check(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        if (length - i >= sizeof word) {
            memcpy(&word, bytes + i, sizeof word);
            if ((word & 0x8080808080808080ULL) == 0) {
                i += sizeof word;
                continue;
            }
        }
        size_t step = acq_utf8_length(bytes + i, length - i);
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

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool acq_iri_is_absolute(const char *iri, size_t length)
{
    if (length == 0 || !is_letter(iri[0]))
        return false;
    for (size_t i = 1; i < length; i++) {
        if (iri[i] == ':')
            return true;
        if (!is_letter(iri[i]) && !is_digit(iri[i]) && strchr("+-.", iri[i]) == NULL)
            return false;
    }
    return false;
}
