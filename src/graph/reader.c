/* reader.c - bad lines, checks of names, and the end of reading; shared by all formats. */
#include "graph/reader.h"

#include <stdio.h>
#include <string.h>

#include "graph/names.h"
#include "graph/utf8.h"

void acq_reader_init(acq_reader *reader, const acq_read_params *params, const acq_sink *sink,
                     acq_error *error)
{
    *reader = (acq_reader){.sink = sink, .error = error, .file = ""};
    if (params != NULL)
        reader->params = *params;
}

static acq_status report_bad(acq_reader *reader, const acq_error *bad)
{
    if (reader->params.strict) {
        acq_status status =
            acq_fail_at(reader->error, bad->code, bad->line, bad->column, "%s", bad->message);
        acq_error_set_file(reader->error, bad->file);
        return status;
    }
    if (reader->report.bad++ == 0)
        reader->first_bad = *bad;
    if (reader->params.bad_line != NULL)
        reader->params.bad_line(reader->params.context, bad);
    return ACQ_OK;
}

acq_status acq_reader_bad(acq_reader *reader, size_t line, size_t column, const char *format, ...)
{
    acq_error bad = {.code = ACQ_ERR_PARSE, .line = line, .column = column};
    va_list args;
    va_start(args, format);
    vsnprintf(bad.message, sizeof bad.message, format, args);
    va_end(args);
    acq_error_set_file(&bad, reader->file);
    return report_bad(reader, &bad);
}

acq_status acq_reader_bad_count(acq_reader *reader, size_t line, size_t column, size_t count,
                                acq_separator separator)
{
    bool tabs = separator == ACQ_TABS;
    const char *few = tabs ? "separate them with tabs, or name the file .csv if it has commas"
                           : "separate them with commas, or name the file .tsv if it has tabs";
    const char *many = tabs ? "remove the rest" : "remove the rest, or quote a name with commas";
    return acq_reader_bad(reader, line, column,
                          "expected 3 fields (head, relation, tail), found %zu; %s", count,
                          count < 3 ? few : many);
}

/* Place of byte `at` of a field that may span lines. */
static void find_place(const acq_field *field, size_t at, size_t *line, size_t *column)
{
    *line = field->line;
    *column = field->column + at;
    for (size_t i = 0; i < at; i++) {
        if (field->raw[i] == '\n') {
            ++*line;
            *column = at - i;
        }
    }
}

/* True when the name is fine; else *status is what reporting it returned. */
static bool check_name(acq_reader *reader, const acq_field *field, const char *what,
                       acq_status *status)
{
    size_t line, column;
    if (field->length == 0) {
        *status = acq_reader_bad(reader, field->line, field->column,
                                 "the %s is empty; give it a name", what);
        return false;
    }
    if (field->length > ACQ_NAME_MOST) {
        *status = acq_reader_bad(reader, field->line, field->column,
                                 "the %s has %zu bytes; a name may have up to %d, shorten it", what,
                                 field->length, ACQ_NAME_MOST);
        return false;
    }
    const char *nul = memchr(field->raw, '\0', field->raw_length);
    if (nul != NULL) {
        find_place(field, (size_t)(nul - field->raw), &line, &column);
        *status = acq_reader_bad(reader, line, column,
                                 "the %s holds a NUL byte; is this a text file? Remove it", what);
        return false;
    }
    size_t valid = acq_utf8_check(field->raw, field->raw_length);
    if (valid < field->raw_length) {
        find_place(field, valid, &line, &column);
        *status = acq_reader_bad(reader, line, column,
                                 "the %s is not UTF-8 (byte 0x%02x); convert the file to UTF-8",
                                 what, (unsigned char)field->raw[valid]);
        return false;
    }
    return true;
}

static acq_status hand_over(acq_reader *reader)
{
    const acq_sink *sink = reader->sink;
    size_t n = reader->n_facts;
    reader->n_facts = 0;
    return n == 0 ? ACQ_OK : sink->add_facts(sink->self, reader->facts, n, reader->error);
}

acq_status acq_reader_add_fact(acq_reader *reader, acq_triple fact)
{
    acq_status status = reader->n_facts == ACQ_READER_FACTS ? hand_over(reader) : ACQ_OK;
    if (status == ACQ_OK)
        reader->facts[reader->n_facts++] = fact;
    return status;
}

static acq_status add_named(acq_reader *reader, const acq_field fields[3])
{
    acq_dictionary *dictionary = reader->sink->dictionary;
    acq_triple fact;
    acq_status status =
        acq_names_add(&dictionary->entities, fields[0].name, fields[0].length, 1, &fact.head);
    if (status == ACQ_OK)
        status = acq_names_add(&dictionary->relations, fields[1].name, fields[1].length, 2,
                               &fact.relation);
    if (status == ACQ_OK)
        status =
            acq_names_add(&dictionary->entities, fields[2].name, fields[2].length, 1, &fact.tail);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(reader->error);
    if (status != ACQ_OK)
        return acq_fail_at(reader->error, status, fields[0].line, 0,
                           "the graph is too large: ids have 32 bits; split it");
    return acq_reader_add_fact(reader, fact);
}

acq_status acq_reader_add_triple(acq_reader *reader, const acq_field fields[3])
{
    static const char *const what[3] = {"head", "relation", "tail"};
    acq_status status = ACQ_OK;
    for (int i = 0; i < 3; i++) {
        if (!check_name(reader, &fields[i], what[i], &status))
            return status;
    }
    return add_named(reader, fields);
}

acq_status acq_reader_skip_mark(acq_reader *reader, const char **bytes, size_t *length)
{
    if (*length >= 3 && memcmp(*bytes, "\xEF\xBB\xBF", 3) == 0) {
        *bytes += 3;
        *length -= 3;
    } else if (*length >= 2 &&
               (memcmp(*bytes, "\xFF\xFE", 2) == 0 || memcmp(*bytes, "\xFE\xFF", 2) == 0)) {
        acq_status status = acq_fail_at(reader->error, ACQ_ERR_INPUT, 1, 1,
                                        "the text is UTF-16; convert the file to UTF-8");
        acq_error_set_file(reader->error, reader->file);
        return status;
    }
    return ACQ_OK;
}

static acq_status fail_empty(acq_reader *reader)
{
    const acq_error *bad = &reader->first_bad;
    acq_status status;
    if (reader->report.bad == 0)
        status = acq_fail(reader->error, ACQ_ERR_INPUT,
                          "the input is empty; it should hold lines of head, relation, tail");
    else
        status = acq_fail_at(reader->error, ACQ_ERR_INPUT, bad->line, bad->column,
                             "no fact could be read, %llu of %llu lines are bad; the first: %.400s",
                             (unsigned long long)reader->report.bad,
                             (unsigned long long)reader->report.lines, bad->message);
    acq_error_set_file(reader->error, reader->report.bad == 0 ? reader->file : bad->file);
    return status;
}

acq_status acq_reader_finish(acq_reader *reader, acq_read_report *report)
{
    if (reader->report.lines == reader->report.bad)
        return fail_empty(reader);
    acq_status status = hand_over(reader);
    if (status == ACQ_OK)
        status = acq_dictionary_check(reader->sink->dictionary, reader->error);
    if (status != ACQ_OK)
        acq_error_set_file(reader->error, reader->file);
    else if (report != NULL)
        *report = reader->report;
    return status;
}

acq_status acq_reader_each_line(acq_reader *reader, const char *bytes, size_t length,
                                acq_line_fn read)
{
    acq_status status = acq_reader_skip_mark(reader, &bytes, &length);
    size_t number = 1;
    while (status == ACQ_OK && length > 0) {
        const char *stop = memchr(bytes, '\n', length);
        size_t width = stop == NULL ? length : (size_t)(stop - bytes);
        status = read(reader, bytes, width, number++);
        size_t used = stop == NULL ? length : width + 1;
        bytes += used;
        length -= used;
    }
    return status;
}
