/* width.c - see width.h. Decoding and widths are libunistring's. */
#include "cli/width.h"

#include <stdio.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#include "base/search.h"

/* Invisible marks that turn or isolate the direction of writing, and line separators. */
static const struct {
    ucs4_t first, last;
} unsafe_ranges[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static bool is_unsafe(ucs4_t point)
{
    size_t i, n = sizeof unsafe_ranges / sizeof *unsafe_ranges;
    ACQ_SEARCH(i, 0, n, unsafe_ranges[i].last < point);
    return i < n && unsafe_ranges[i].first <= point;
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
    ucs4_t point;
    int n = u8_strmbtouc(&point, (const uint8_t *)text);
    if (n <= 0)
        return shown_as_code((unsigned char)text[0], true, 1);
    if (is_unsafe(point))
        return shown_as_code(point, point < 0x80, (size_t)n);
    int columns = uc_width(point, "UTF-8");
    piece p = {.length = (size_t)n, .taken = (size_t)n};
    p.columns = columns < 0 ? 1 : (size_t)columns;
    memcpy(p.bytes, text, p.length);
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
