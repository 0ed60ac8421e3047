/* read_csv.c - plain triples: a piece of lines, fields separated by tabs, by commas or semicolons. */
#include "graph/text/reader.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* ---- tsv ----
 *
 * A piece, line by line, and triples separated by tabs, one a line.
 *
 *   file = [BOM] { line ("\n" | "\r\n") } [line]
 *   line = "" | head "\t" relation "\t" tail          names are taken as they stand
 *
 * A few passes of memchr over each line; the cost is that of the dictionary lookups. Whether a
 * piece is clean text is found out once for all its lines, many bytes a step; only in a piece that
 * is not are the names looked at one by one. */

static bool is_clean_text(const char *bytes, size_t length)
{
    return length == 0 ||
           (memchr(bytes, '\0', length) == NULL && acq_utf8_check(bytes, length) == length);
}

static void note_long_line(acq_batch *batch)
{
    batch->counts.lines++;
    batch->n_lines++;
    (void)acq_batch_bad(batch, 1, 1,
                        "the line has more than %d MB; is this a text file with lines? Split the "
                        "line, or take it out",
                        ACQ_LINE_MOST >> 20);
}

void acq_parse_lines(acq_batch *batch, const acq_piece *piece, acq_line_fn parse)
{
    const char *at = piece->bytes;
    size_t length = piece->length;
    if (piece->is_long) {
        note_long_line(batch);
        return;
    }
    if (piece->is_first && acq_skip_mark(&at, &length, &batch->error) != ACQ_OK)
        return;
    if (piece->is_first) {
        at += batch->rules->header_bytes;
        length -= batch->rules->header_bytes;
        batch->n_lines = batch->rules->header_lines;
    }
    bool is_text = is_clean_text(at, length);
    acq_status status = ACQ_OK;
    for (const char *end = at + length; status == ACQ_OK && at < end; batch->n_lines++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop == NULL ? end : stop + 1;
        size_t width = (size_t)((stop == NULL ? end : stop) - at);
        if (width > 0 && at[width - 1] == '\r')
            width--;
        if (width > 0)
            status = parse(batch, at, width, batch->n_lines + 1, is_text);
        at = next;
    }
}

/* Splits at tabs; keeps the first three fields, returns how many there are. */
static size_t split(const char *line, size_t length, size_t number, acq_field fields[3],
                    size_t *fourth)
{
    const char *end = line + length;
    const char *start = line;
    size_t count = 0;
    for (;;) {
        const char *stop = memchr(start, '\t', (size_t)(end - start));
        size_t width = (size_t)((stop == NULL ? end : stop) - start);
        size_t column = (size_t)(start - line) + 1;
        if (count < 3)
            fields[count] = (acq_field){start, width, start, width, number, column};
        else if (count == 3)
            *fourth = column;
        count++;
        if (stop == NULL)
            return count;
        start = stop + 1;
    }
}

static acq_status parse_line(acq_batch *batch, const char *line, size_t length, size_t number,
                             bool is_text)
{
    acq_field fields[3];
    size_t fourth = 0;
    batch->counts.lines++;
    size_t count = split(line, length, number, fields, &fourth);
    if (count == 3 + batch->rules->n_more)
        count = 3;
    if (count == 3 && batch->rules->is_reordered)
        acq_table_reorder(batch->rules, fields);
    if (count != 3)
        return acq_batch_bad_count(batch, number, count < 3 ? length + 1 : fourth, count);
    return acq_batch_add_triple(batch, fields, is_text);
}

void acq_parse_tsv(acq_batch *batch, const acq_piece *piece)
{
    acq_parse_lines(batch, piece, parse_line);
}

/* ---- csv ----
 *
 * Triples separated by commas, RFC 4180, or by semicolons (table.c tells which).
 *
 *   file   = [BOM] { record ("\n" | "\r\n") } [record]
 *   record = "" | field "," field "," field          or ; for ,
 *   field  = { any but , " CR LF } | '"' { any but '"' | '""' } '"'
 *
 * A quoted field may span lines. After a bad record, reading goes on at the line after the
 * one where that record began, so that a lost quote costs one line, not the file. A window of the
 * text is in memory: whole records, which must be shorter than ACQ_LINE_MOST. */

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
