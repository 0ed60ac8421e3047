/* table.c - see table.h. */
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#include "base/json.h"
#include "base/search.h"

enum { DIGITS = 6 }; /* of a real number: link scores are floats */

static void begin_cell(acq_table *table)
{
    if (table->n++ > 0)
        acq_text_add_char(table->out, table->separator);
}

static void add_csv(acq_text *out, const char *text)
{
    if (text[0] != '\0' && strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ') {
        acq_text_add(out, text);
        return;
    }
    acq_text_add_char(out, '"');
    for (; *text != '\0'; text++)
        acq_text_add(out, *text == '"' ? "\"\"" : (const char[]){*text, '\0'});
    acq_text_add_char(out, '"');
}

static void add_tsv(acq_text *out, const char *text)
{
    static const char from[] = "\t\n\r\\", to[] = "tnr\\";
    for (; *text != '\0'; text++) {
        const char *at = strchr(from, *text);
        if (at != NULL)
            acq_text_add_char(out, '\\');
        acq_text_add_char(out, at == NULL ? *text : to[at - from]);
    }
}

void acq_table_add_text(acq_table *table, const char *text)
{
    begin_cell(table);
    if (table->separator == ',')
        add_csv(table->out, text);
    else
        add_tsv(table->out, text);
}

void acq_table_add_number(acq_table *table, double number)
{
    begin_cell(table);
    if (!isnan(number))
        acq_text_format(table->out, "%.*g", DIGITS, number);
}

void acq_table_add_count(acq_table *table, int64_t n)
{
    begin_cell(table);
    acq_text_format(table->out, "%lld", (long long)n);
}

void acq_table_end_line(acq_table *table)
{
    acq_text_add_char(table->out, '\n');
    table->n = 0;
}

void acq_table_add_line(acq_table *table, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        acq_table_add_text(table, texts[i]);
    acq_table_end_line(table);
}

/* ---- from JSON ---- */

static void add_value(acq_table *table, const acq_json *value)
{
    switch (value == NULL ? ACQ_JSON_NULL : value->kind) {
    case ACQ_JSON_TEXT:
        acq_table_add_text(table, value->text);
        break;
    case ACQ_JSON_INTEGER:
        acq_table_add_count(table, value->integer);
        break;
    case ACQ_JSON_TRUE:
    case ACQ_JSON_FALSE:
        acq_table_add_text(table, value->kind == ACQ_JSON_TRUE ? "true" : "false");
        break;
    default:
        acq_table_add_number(table,
                             value != NULL && value->kind == ACQ_JSON_REAL ? value->real : NAN);
    }
}

static void add_name(acq_table *table, const char *outer, const char *name)
{
    acq_text whole;
    acq_text_init(&whole);
    acq_text_format(&whole, "%s%s%s", outer, outer[0] == '\0' ? "" : ".", name);
    acq_table_add_text(table, whole.bytes == NULL ? "" : whole.bytes);
    table->out->failed = table->out->failed || whole.failed;
    acq_text_deinit(&whole);
}

static void add_names(acq_table *table, const char *outer, const acq_json *first)
{
    for (const acq_json *column = first->first; column != NULL; column = column->next)
        if (column->kind == ACQ_JSON_OBJECT)
            add_names(table, column->name, column);
        else if (column->kind != ACQ_JSON_ARRAY)
            add_name(table, outer, column->name);
}

/* The cells of `object` (NULL: all empty) under the columns of `first`. */
static void add_cells(acq_table *table, const acq_json *first, const acq_json *object)
{
    for (const acq_json *column = first->first; column != NULL; column = column->next) {
        const acq_json *value = object == NULL ? NULL : acq_json_get(object, column->name);
        if (column->kind == ACQ_JSON_OBJECT)
            add_cells(table, column, value);
        else if (column->kind != ACQ_JSON_ARRAY)
            add_value(table, value);
    }
}

static acq_status add_lines(acq_table *table, const char *lines, size_t length, acq_arena *arena)
{
    const acq_json *first = NULL, *object;
    for (const char *at = lines, *end; at < lines + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(lines + length - at));
        if (end == NULL)
            end = lines + length;
        acq_status status = acq_json_parse(at, (size_t)(end - at), arena, &object, NULL);
        if (status != ACQ_OK)
            return status;
        if (first == NULL) {
            first = object;
            add_names(table, "", first);
            acq_table_end_line(table);
        }
        add_cells(table, first, object);
        acq_table_end_line(table);
    }
    return ACQ_OK;
}

void acq_table_from_json(acq_text *out, char separator)
{
    acq_text made;
    acq_arena arena;
    acq_table table = {.out = &made, .separator = separator};
    if (separator == '\0' || out->failed || out->length == 0)
        return;
    acq_text_init(&made);
    acq_arena_init(&arena);
    if (add_lines(&table, out->bytes, out->length, &arena) != ACQ_OK)
        made.failed = true;
    acq_arena_deinit(&arena);
    acq_text_deinit(out);
    *out = made;
}

/* ---- width ----
 *
 * Decoding and widths are libunistring's. */

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

void acq_width_pad_to(acq_text *out, size_t used, size_t n)
{
    acq_width_pad(out, used < n ? n - used : 0);
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
    int n = per_second >= 99500 ? acq_format(buffer, size, "%.2f M triples/s", per_second / 1e6)
                                : acq_format(buffer, size, "%.0f triples/s", per_second);
    return n < 0 ? 0 : (size_t)n;
}
