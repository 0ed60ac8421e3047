/* read_csv.c - triples separated by commas, RFC 4180, or by semicolons (table.c tells which).
 *
 *   file   = [BOM] { record ("\n" | "\r\n") } [record]
 *   record = "" | field "," field "," field          or ; for ,
 *   field  = { any but , " CR LF } | '"' { any but '"' | '""' } '"'
 *
 * A quoted field may span lines. After a bad record, reading goes on at the line after the
 * one where that record began, so that a lost quote costs one line, not the file. A window of the
 * text is in memory: whole records, which must be shorter than ACQ_LINE_MOST. */
#include "graph/text/reader.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

typedef struct csv {
    acq_batch *batch;
    char separator;
    const char *at, *end;
    const char *line_start; /* of the current line */
    size_t line;
    bool is_last; /* nothing comes after `end` */
    acq_text unescaped[4]; /* of head, relation, tail and whatever comes behind */
} csv;

static size_t column_of(const csv *in)
{
    return (size_t)(in->at - in->line_start) + 1;
}

static bool at_line_end(const csv *in)
{
    if (in->at == in->end || *in->at == '\n')
        return true;
    return *in->at == '\r' && (in->at + 1 == in->end || in->at[1] == '\n');
}

static void skip_line_end(csv *in)
{
    if (in->at < in->end && *in->at == '\r')
        in->at++;
    if (in->at < in->end && *in->at == '\n')
        in->at++;
    in->line_start = in->at;
    in->line++;
}

/* Moves past the content of a quoted field; false when the closing quote is missing. */
static bool skip_quoted(csv *in, bool *escapes)
{
    for (; in->at < in->end; in->at++) {
        if (*in->at == '\n') {
            in->line++;
            in->line_start = in->at + 1;
        } else if (*in->at == '"') {
            if (in->at + 1 == in->end || in->at[1] != '"')
                return true;
            *escapes = true;
            in->at++;
        }
    }
    return false;
}

static acq_status unescape(acq_field *field, acq_text *buffer, acq_error *error)
{
    const char *from = field->raw, *end = field->raw + field->raw_length;
    acq_text_clear(buffer);
    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));
        const char *stop = quote == NULL ? end : quote + 1;
        acq_text_add_bytes(buffer, from, (size_t)(stop - from));
        from = quote == NULL ? end : quote + 2;
    }
    if (acq_text_finish(buffer, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    field->name = buffer->bytes;
    field->length = buffer->length;
    return ACQ_OK;
}

/* What reading a piece came to: BAD has been reported and counted as such. */
typedef enum outcome { GOOD, BAD, STOP } outcome;

static outcome bad_at(csv *in, size_t line, size_t column, const char *message, acq_status *status)
{
    *status = acq_batch_bad(in->batch, line, column, "%s", message);
    return *status == ACQ_OK ? BAD : STOP;
}

static outcome read_quoted(csv *in, acq_field *field, acq_text *buffer, acq_status *status)
{
    size_t line = in->line, column = column_of(in);
    bool escapes = false;
    in->at++;
    *field = (acq_field){.raw = in->at, .name = in->at, .line = line, .column = column + 1};
    if (!skip_quoted(in, &escapes))
        return bad_at(in, line, column, "this quote is never closed; add a closing quote", status);
    field->raw_length = field->length = (size_t)(in->at - field->raw);
    in->at++;
    bool is_closed = at_line_end(in) || *in->at == in->separator;
    if (!is_closed && in->line != line)
        return bad_at(in, line, column,
                      "the quote that closes this one on a later line has text behind it; add the "
                      "closing quote that is missing here",
                      status);
    if (!is_closed)
        return bad_at(in, in->line, column_of(in),
                      "text after a closing quote; double a quote that belongs to the name",
                      status);
    if (escapes)
        *status = unescape(field, buffer, &in->batch->error);
    return *status == ACQ_OK ? GOOD : STOP;
}

static outcome read_bare(csv *in, acq_field *field, acq_status *status)
{
    *field = (acq_field){.raw = in->at, .name = in->at, .line = in->line, .column = column_of(in)};
    for (; !at_line_end(in) && *in->at != in->separator; in->at++) {
        if (*in->at == '"')
            return bad_at(in, in->line, column_of(in),
                          "a quote inside a bare field; quote the whole field and double it",
                          status);
    }
    field->raw_length = field->length = (size_t)(in->at - field->raw);
    return GOOD;
}

/* Reads all fields of a record and keeps the first three. */
static outcome read_fields(csv *in, acq_field fields[3], acq_status *status)
{
    acq_field extra;
    size_t count = 0, place = 0, line = in->line;
    for (;; in->at++) {
        acq_field *field = count < 3 ? &fields[count] : &extra;
        acq_text *buffer = &in->unescaped[count < 3 ? count : 3];
        if (count == 3) {
            place = column_of(in);
            line = in->line;
        }
        outcome got = in->at < in->end && *in->at == '"' ? read_quoted(in, field, buffer, status)
                                                         : read_bare(in, field, status);
        if (got != GOOD)
            return got;
        count++;
        if (at_line_end(in))
            break;
    }
    if (count == 3 || count == 3 + in->batch->rules->n_more)
        return GOOD;
    if (count < 3) {
        place = column_of(in);
        line = in->line;
    }
    *status = acq_batch_bad_count(in->batch, line, place, count);
    return *status == ACQ_OK ? BAD : STOP;
}

static void go_to(csv *in, const char *start, size_t line)
{
    const char *stop = memchr(start, '\n', (size_t)(in->end - start));
    in->at = in->line_start = stop == NULL ? in->end : stop + 1;
    in->line = line + 1;
}

static acq_status read_record(csv *in)
{
    const char *start = in->at;
    size_t line = in->line;
    acq_field fields[3];
    acq_status status = ACQ_OK;
    if (at_line_end(in)) {
        skip_line_end(in);
        return ACQ_OK;
    }
    in->batch->counts.lines++;
    outcome got = read_fields(in, fields, &status);
    if (got == BAD)
        go_to(in, start, line);
    if (got != GOOD)
        return status;
    skip_line_end(in);
    if (in->batch->rules->is_reordered)
        acq_table_reorder(in->batch->rules, fields);
    return acq_batch_add_triple(in->batch, fields, false);
}

/* Does the window hold a line end that is not quoted? No record is read past that. */
static bool has_record(const csv *in)
{
    bool is_quoted = false;
    for (const char *at = in->at; at < in->end; at++) {
        if (*at == '"')
            is_quoted = !is_quoted;
        else if (*at == '\n' && !is_quoted)
            return true;
    }
    return false;
}

static bool can_read(const csv *in)
{
    return in->at < in->end && (in->is_last || has_record(in) || in->end - in->at >= ACQ_LINE_MOST);
}

/* Parses the records of the window, handing a batch on whenever it is full, and at the end: its
 * names are in the window. */
static acq_status read_records(csv *in, acq_merger *merger)
{
    acq_status status = ACQ_OK;
    bool is_good = true;
    while (status == ACQ_OK && is_good && can_read(in)) {
        is_good = read_record(in) == ACQ_OK;
        if (is_good && !acq_batch_is_full(in->batch))
            continue;
        status = acq_merger_take(merger, in->batch);
        acq_batch_clear(in->batch);
    }
    if (status == ACQ_OK && is_good)
        status = acq_merger_take(merger, in->batch);
    acq_batch_clear(in->batch);
    return status;
}

/* The start of the text: its mark, its table's head. */
static acq_status start(csv *in, const acq_piece *piece, acq_merger *merger,
                        acq_syntax_rules *rules)
{
    const char *bytes = piece->bytes;
    size_t length = piece->length;
    acq_table_look(rules, merger, bytes, length);
    if (acq_skip_mark(&bytes, &length, &in->batch->error) != ACQ_OK)
        return acq_merger_take(merger, in->batch);
    in->separator = rules->separator;
    in->line = 1 + rules->header_lines;
    in->at = bytes + rules->header_bytes;
    return ACQ_OK;
}

/* Reads on, and what there is of it. */
static acq_status read_window(csv *in, acq_cutter *cutter, acq_piece *piece, acq_merger *merger,
                              acq_syntax_rules *rules)
{
    bool is_start = in->at == NULL;
    acq_status status = acq_cutter_extend(cutter, piece, merger->error);
    if (status == ACQ_OK)
        status = acq_merger_progress(merger, piece->done);
    in->at = piece->bytes;
    if (status == ACQ_OK && is_start)
        status = start(in, piece, merger, rules);
    if (status != ACQ_OK)
        return status;
    in->line_start = in->at;
    in->end = piece->bytes + piece->length;
    in->is_last = cutter->has_ended;
    status = read_records(in, merger);
    piece->length = (size_t)(in->end - in->at);
    memmove(piece->bytes, in->at, piece->length);
    return status;
}

acq_status acq_read_csv(acq_stream *stream, acq_merger *merger, acq_batch *batch,
                        acq_syntax_rules *rules)
{
    acq_cutter cutter;
    acq_piece piece = {0};
    csv in = {.batch = batch};
    acq_status status = ACQ_OK;
    for (int i = 0; i < 4; i++)
        acq_text_init(&in.unescaped[i]);
    acq_cutter_init(&cutter, stream, 0);
    while (status == ACQ_OK && !cutter.has_ended)
        status = read_window(&in, &cutter, &piece, merger, rules);
    for (int i = 0; i < 4; i++)
        acq_text_deinit(&in.unescaped[i]);
    acq_free(piece.bytes);
    acq_cutter_deinit(&cutter);
    return status;
}
