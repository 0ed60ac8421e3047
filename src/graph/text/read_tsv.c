/* read_tsv.c - a piece, line by line, and triples separated by tabs, one a line.
 *
 *   file = [BOM] { line ("\n" | "\r\n") } [line]
 *   line = "" | head "\t" relation "\t" tail          names are taken as they stand
 *
 * A few passes of memchr over each line; the cost is that of the dictionary lookups. Whether a
 * piece is clean text is found out once for all its lines, many bytes a step; only in a piece that
 * is not are the names looked at one by one. */
#include "graph/text/reader.h"

#include <string.h>

#include "base/text.h"

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
