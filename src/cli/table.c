/* table.c - see table.h. */
#include "cli/table.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

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
