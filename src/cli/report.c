/* report.c - see report.h. */
#include "cli/report.h"

#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/table.h"

enum {
    MUCH = 1 << 20, /* bytes */
    DIGITS = 6      /* of a real number: link scores are floats */
};

void acq_output_init(acq_output *output)
{
    output->streams = false;
    acq_text_init(&output->data);
    acq_text_init(&output->notes);
}

void acq_output_deinit(acq_output *output)
{
    acq_text_deinit(&output->data);
    acq_text_deinit(&output->notes);
}

static bool write_out(FILE *stream, const acq_text *text)
{
    size_t n = text->length;
    bool is_written = n == 0 || fwrite(text->bytes, 1, n, stream) == n;
    return fflush(stream) == 0 && is_written && !ferror(stream);
}

int acq_output_flush(acq_output *output, int code)
{
    bool failed = output->data.failed || output->notes.failed;
    if (!write_out(stdout, &output->data)) {
        fputs("anycq: cannot write to standard output\n", stderr);
        code = ACQ_EXIT_SYSTEM;
    }
    write_out(stderr, &output->notes);
    if (failed) {
        fputs("anycq: out of memory\n", stderr);
        code = ACQ_EXIT_SYSTEM;
    }
    acq_text_clear(&output->data);
    acq_text_clear(&output->notes);
    return code;
}

void acq_output_relieve(acq_output *output)
{
    acq_text *data = &output->data;
    if (!output->streams || data->failed || data->length < MUCH)
        return;
    fwrite(data->bytes, 1, data->length, stdout);
    acq_text_clear(data);
}

void acq_output_relieve_notes(acq_output *output)
{
    if (!output->streams || output->notes.failed)
        return;
    write_out(stderr, &output->notes);
    acq_text_clear(&output->notes);
}

int acq_output_finish(acq_output *output, int code)
{
    code = acq_output_flush(output, code);
    acq_output_deinit(output);
    return code;
}

void acq_report_note(acq_output *output, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    acq_format_list(line, sizeof line, format, args);
    va_end(args);
    acq_text_add(&output->notes, "anycq: note: ");
    acq_width_add(&output->notes, line);
    acq_text_add_char(&output->notes, '\n');
}

int acq_report_get_exit_code(acq_status status)
{
    switch (status) {
    case ACQ_OK:
        return ACQ_EXIT_YES;
    case ACQ_ERR_USAGE:
    case ACQ_ERR_PARSE:
    case ACQ_ERR_INPUT:
    case ACQ_ERR_NAME:
    case ACQ_ERR_LIMIT:
        return ACQ_EXIT_USAGE;
    case ACQ_ERR_INTERRUPTED:
        return ACQ_EXIT_INTERRUPTED;
    case ACQ_ERR_IO:
    case ACQ_ERR_MEMORY:
    case ACQ_ERR_INTERNAL:
        break;
    }
    return ACQ_EXIT_SYSTEM;
}

int acq_report_worse(int a, int b)
{
    static const int order[] = {ACQ_EXIT_SYSTEM, ACQ_EXIT_USAGE, ACQ_EXIT_UNDECIDED, ACQ_EXIT_NO};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return ACQ_EXIT_YES;
}

const char *acq_report_name_file(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* FILE:LINE:COLUMN: with the parts that are known. */
static void add_place(acq_text *out, const acq_error *error)
{
    if (error->file[0] != '\0')
        acq_width_add(out, acq_report_name_file(error->file));
    else if (error->line > 0)
        acq_text_add(out, "query");
    else
        return;
    if (error->line > 0)
        acq_text_format(out, ":%zu", error->line);
    if (error->line > 0 && error->column > 0)
        acq_text_format(out, ":%zu", error->column);
    acq_text_add(out, ": ");
}

/* Start of the line that holds byte `column` of line `line`; a one-line source may stand for any
 * line of its file. */
static const char *find_line(const char *source, size_t line)
{
    const char *start = source;
    while (line > 1) {
        const char *end = strchr(start, '\n');
        if (end == NULL)
            return start == source ? source : NULL;
        start = end + 1;
        line--;
    }
    return start;
}

/* The line with a mark below the column; a long one is shown around it. */
static void add_mark(acq_text *out, const acq_error *error, const char *source)
{
    enum { FITS = 70, BEFORE = 40, INDENT = 2 };
    const char *line = find_line(source, error->line);
    if (line == NULL || error->column == 0 || error->column > strcspn(line, "\n") + 1)
        return;
    char window[160];
    size_t at = error->column - 1;
    size_t begin = at > FITS ? at - BEFORE : 0;
    while (begin > 0 && begin < at && ((unsigned char)line[begin] & 0xc0) == 0x80)
        begin++;
    size_t length = strcspn(line + begin, "\n\r");
    length = length < sizeof window - 1 ? length : sizeof window - 1;
    memcpy(window, line + begin, length);
    window[length] = '\0';
    acq_width_pad(out, INDENT);
    acq_width_add_cut(out, window, ACQ_COLUMNS - INDENT);
    acq_text_add_char(out, '\n');
    window[at - begin < length ? at - begin : length] = '\0';
    acq_width_pad(out, INDENT + acq_width_of(window));
    acq_text_add(out, "^\n");
}

static void add_json(acq_text *out, const acq_error *error)
{
    json_t *inner = json_object();
    json_object_set_new(inner, "code", json_string(acq_status_name(error->code)));
    json_object_set_new(inner, "file",
                        error->file[0] == '\0' ? json_null() : acq_json_text(error->file));
    json_object_set_new(inner, "line",
                        error->line == 0 ? json_null() : json_integer((json_int_t)error->line));
    json_object_set_new(inner, "column",
                        error->column == 0 ? json_null() : json_integer((json_int_t)error->column));
    json_object_set_new(inner, "message", acq_json_text(error->message));
    json_t *outer = json_object();
    json_object_set_new(outer, "error", inner);
    acq_json_add_line(out, outer);
}

int acq_report_error(acq_output *output, const acq_options *options, const acq_error *error,
                     const char *source)
{
    acq_text_add(&output->notes, "anycq: ");
    add_place(&output->notes, error);
    acq_width_add(&output->notes, error->message);
    if (error->code == ACQ_ERR_MEMORY && options != NULL && acq_limits_get_memory(options) > 0)
        acq_text_add(&output->notes, "; give more with --memory MB");
    acq_text_add_char(&output->notes, '\n');
    if (source != NULL && error->line > 0)
        add_mark(&output->notes, error, source);
    if (options != NULL && options->json)
        add_json(&output->data, error);
    return acq_report_get_exit_code(error->code);
}

int acq_report_stop(acq_output *output, const acq_options *options, const acq_error *error)
{
    acq_error stopped = {0};
    if (error->code != ACQ_ERR_INTERRUPTED)
        return acq_report_error(output, options, error, NULL);
    acq_fail(&stopped, ACQ_ERR_INTERRUPTED, "interrupted; nothing was written");
    if (options->output != NULL)
        acq_error_set_file(&stopped, options->output);
    return acq_report_error(output, options, &stopped, NULL);
}

int acq_report_failure(const acq_options *options, const acq_error *error)
{
    acq_output output;
    acq_output_init(&output);
    int code = acq_report_error(&output, options, error, NULL);
    return acq_output_finish(&output, code);
}

/* ---- JSON ---- */

/* jansson lets members go when an allocation fails, and its allocator takes no context: the only
 * state of the command that is not on a stack. A library could not do this to its program. */
static atomic_bool has_json_failed;

static json_t *repaired(const char *text, size_t length)
{
    acq_text copy;
    acq_text_init(&copy);
    while (length > 0) {
        size_t good = acq_utf8_check(text, length);
        acq_text_add_bytes(&copy, text, good);
        text += good;
        length -= good;
        if (length > 0) {
            acq_text_add(&copy, "\xef\xbf\xbd");
            text++;
            length--;
        }
    }
    if (copy.failed)
        atomic_store(&has_json_failed, true);
    json_t *value = copy.failed ? NULL : json_stringn(copy.bytes, copy.length);
    acq_text_deinit(&copy);
    return value;
}

json_t *acq_json_text(const char *text)
{
    size_t length = strlen(text);
    if (acq_utf8_check(text, length) == length)
        return json_stringn_nocheck(text, length);
    return repaired(text, length);
}

json_t *acq_json_count(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *acq_json_hash(uint64_t hash)
{
    return json_sprintf("%016llx", (unsigned long long)hash);
}

void acq_json_set_read(json_t *object, const acq_read_report *report)
{
    json_object_set_new(object, "lines", acq_json_count(report->lines));
    json_object_set_new(object, "left_out", acq_json_count(report->bad));
    json_object_set_new(object, "duplicates", acq_json_count(report->duplicates));
    json_object_set_new(object, "inverses_added", acq_json_count(report->completed));
    json_object_set_new(object, "literals_left_out", acq_json_count(report->literals));
    json_object_set_new(object, "labels", acq_json_count(report->labels));
}

static void *allocate_json(size_t bytes)
{
    void *block = acq_alloc(bytes, 1);
    if (block == NULL)
        atomic_store(&has_json_failed, true);
    return block;
}

void acq_json_init(void)
{
    json_set_alloc_funcs(allocate_json, acq_free);
}

static int add_bytes(const char *bytes, size_t length, void *out)
{
    acq_text_add_bytes(out, bytes, length);
    return ((acq_text *)out)->failed ? -1 : 0;
}

void acq_json_add(acq_text *out, json_t *value)
{
    if (value == NULL ||
        json_dump_callback(value, add_bytes, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) != 0)
        out->failed = true;
    if (atomic_exchange(&has_json_failed, false))
        out->failed = true;
    json_decref(value);
}

void acq_json_add_line(acq_text *out, json_t *value)
{
    acq_json_add(out, value);
    acq_text_add_char(out, '\n');
}
