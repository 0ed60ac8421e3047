/* width.c - see width.h. The ranges follow Unicode's East Asian Width (W and F) and general
 * categories Mn, Me and Cf, rounded to whole blocks where that only affects rare scripts. */
#include "cli/width.h"

#include <stdio.h>
#include <string.h>

#include "base/search.h"

typedef struct range {
    uint32_t first, last;
} range;

static const range zero_ranges[] = {
    {0x0300, 0x036f},   {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
    {0x05c4, 0x05c5},   {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc},
    {0x06df, 0x06e4},   {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x0900, 0x0902}, {0x093a, 0x093a},
    {0x093c, 0x093c},   {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0951, 0x0957}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
    {0x20d0, 0x20ff},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
    {0xe0100, 0xe01ef},
};

static const range wide_ranges[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26aa, 0x26ab},
    {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26f2, 0x26f5},   {0x2705, 0x2705},
    {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2757},
    {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x17000, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f1e6, 0x1f1ff},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

/* Invisible marks that turn or isolate the direction of writing, and line separators. */
static const range unsafe_ranges[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static bool is_in(const range *ranges, size_t n, uint32_t point)
{
    size_t i;
    ACQ_SEARCH(i, 0, n, ranges[i].last < point);
    return i < n && ranges[i].first <= point;
}

#define IS_IN(ranges, point) is_in(ranges, sizeof(ranges) / sizeof *(ranges), point)

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Decodes one character of a NUL-terminated text; returns its bytes, 0 when it is not UTF-8. */
static size_t decode(const char *text, uint32_t *point)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t n = bytes[0] < 0x80 ? 1 : (bytes[0] >> 5) == 6 ? 2 : (bytes[0] >> 4) == 14 ? 3 : 4;
    if (n == 1) {
        *point = bytes[0];
        return 1;
    }
    if (n == 4 && (bytes[0] >> 3) != 30)
        return 0;
    uint32_t value = bytes[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(bytes[i]))
            return 0;
        value = value << 6 | (bytes[i] & 0x3fU);
    }
    bool is_bad = value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000);
    *point = value;
    return is_bad ? 0 : n;
}

static size_t point_width(uint32_t point)
{
    if (point < 0x300)
        return 1;
    return IS_IN(zero_ranges, point) ? 0 : IS_IN(wide_ranges, point) ? 2 : 1;
}

/* One character as it is shown. */
typedef struct piece {
    char bytes[16];
    size_t length;
    size_t columns;
    size_t taken; /* bytes of the text it stands for */
} piece;

static piece shown_as_code(uint32_t point, bool is_byte, size_t taken)
{
    piece p = {.taken = taken};
    if (is_byte)
        snprintf(p.bytes, sizeof p.bytes, "\\x%02x", point & 0xffU);
    else
        snprintf(p.bytes, sizeof p.bytes, "\\u{%x}", point & 0x1fffffU);
    p.length = strlen(p.bytes);
    p.columns = p.length;
    return p;
}

static piece next_piece(const char *text)
{
    uint32_t point;
    size_t n = decode(text, &point);
    if (n == 0)
        return shown_as_code((unsigned char)text[0], true, 1);
    if (IS_IN(unsafe_ranges, point))
        return shown_as_code(point, point < 0x80, n);
    piece p = {.length = n, .columns = point_width(point), .taken = n};
    memcpy(p.bytes, text, n);
    return p;
}

size_t acq_width_of(const char *text)
{
    size_t columns = 0;
    while (*text != '\0') {
        piece p = next_piece(text);
        columns += p.columns;
        text += p.taken;
    }
    return columns;
}

size_t acq_width_since(const acq_text *out, size_t start)
{
    return out->bytes == NULL || start >= out->length ? 0 : acq_width_of(out->bytes + start);
}

void acq_width_add(acq_text *out, const char *text)
{
    while (*text != '\0') {
        piece p = next_piece(text);
        acq_text_add_bytes(out, p.bytes, p.length);
        text += p.taken;
    }
}

void acq_width_add_cut(acq_text *out, const char *text, size_t columns)
{
    if (acq_width_of(text) <= columns) {
        acq_width_add(out, text);
        return;
    }
    size_t used = 0;
    while (*text != '\0') {
        piece p = next_piece(text);
        if (used + p.columns + 1 > columns)
            break;
        acq_text_add_bytes(out, p.bytes, p.length);
        used += p.columns;
        text += p.taken;
    }
    if (columns > 0)
        acq_text_add(out, "…");
}

void acq_width_add_cut_middle(acq_text *out, const char *text, size_t columns)
{
    size_t width = acq_width_of(text);
    if (width <= columns || columns < 3) {
        acq_width_add_cut(out, text, columns);
        return;
    }
    size_t before = (columns - 1) / 2;
    acq_width_add_cut(out, text, before + 1); /* with its ellipsis */
    size_t to_skip = width - (columns - 1 - before);
    while (to_skip > 0 && *text != '\0') {
        piece p = next_piece(text);
        to_skip = p.columns < to_skip ? to_skip - p.columns : 0;
        text += p.taken;
    }
    acq_width_add(out, text);
}

void acq_width_pad(acq_text *out, size_t n)
{
    while (n-- > 0)
        acq_text_add_char(out, ' ');
}

/* Bytes of `text` that go on a line of `room` columns: up to the last good place to break, or as
 * many as fit, at least one character. */
static size_t line_length(const char *text, size_t room)
{
    size_t used = 0, i = 0, good = 0;
    while (text[i] != '\0') {
        piece p = next_piece(text + i);
        if (used + p.columns > room && i > 0)
            return good > 0 ? good : i;
        used += p.columns;
        i += p.taken;
        if (strchr(" ,/", text[i - 1]) != NULL)
            good = i;
    }
    return i;
}

void acq_width_wrap(acq_text *out, const char *text, size_t at, size_t indent, size_t columns)
{
    size_t room = at + 8 < columns ? columns - at : 8;
    while (*text != '\0') {
        size_t n = line_length(text, room);
        size_t kept = n;
        while (kept > 0 && text[kept - 1] == ' ' && text[n] != '\0')
            kept--;
        acq_text_add_bytes(out, text, kept);
        text += n;
        while (*text == ' ')
            text++;
        if (*text == '\0')
            return;
        acq_text_add_char(out, '\n');
        acq_width_pad(out, indent);
        room = indent + 8 < columns ? columns - indent : 8;
    }
}

/* ---- tables of numbers ---- */

void acq_size_print_count(acq_text *out, const char *label, uint64_t n)
{
    acq_text_format(out, "%-*s%*llu\n", ACQ_SIZE_LABEL, label, ACQ_SIZE_COUNT,
                    (unsigned long long)n);
}

void acq_size_print_text(acq_text *out, const char *label, const char *text)
{
    acq_text safe;
    acq_text_init(&safe);
    acq_width_add(&safe, text);
    acq_text_format(out, "%-*s", ACQ_SIZE_LABEL, label);
    acq_width_wrap(out, safe.bytes == NULL ? "" : safe.bytes, ACQ_SIZE_LABEL, ACQ_SIZE_LABEL,
                   ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || safe.failed;
    acq_text_deinit(&safe);
}

void acq_size_add_bytes(acq_text *out, uint64_t n)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)n / 1e3;
    size_t unit = 0;
    while (value >= 999.5 && unit < 3) {
        value /= 1e3;
        unit++;
    }
    acq_text_format(out, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void acq_size_print_bytes(acq_text *out, const char *label, uint64_t n)
{
    acq_text_format(out, "%-*s", ACQ_SIZE_LABEL, label);
    acq_size_add_bytes(out, n);
    acq_text_add_char(out, '\n');
}

void acq_size_print_hash(acq_text *out, const char *label, uint64_t hash)
{
    acq_text_format(out, "%-*s%016llx\n", ACQ_SIZE_LABEL, label, (unsigned long long)hash);
}

void acq_size_print_read(acq_text *out, const acq_read_report *report)
{
    acq_size_print_count(out, "lines read", report->lines);
    acq_size_print_count(out, "left out", report->bad);
    acq_size_print_count(out, "duplicates", report->duplicates);
    if (report->literals > 0)
        acq_size_print_count(out, "literals out", report->literals);
    if (report->labels > 0)
        acq_size_print_count(out, "labels", report->labels);
    if (report->completed > 0)
        acq_size_print_count(out, "inverses added", report->completed);
}

size_t acq_size_format_rate(double per_second, char *buffer, size_t size)
{
    int n = per_second >= 99500 ? snprintf(buffer, size, "%.2f M triples/s", per_second / 1e6)
                                : snprintf(buffer, size, "%.0f triples/s", per_second);
    return n < 0 ? 0 : (size_t)n;
}
