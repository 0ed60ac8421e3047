/* read_lines.c - a piece, line by line.
 *
 *   file = [BOM] { line ("\n" | "\r\n") } [line]
 *
 * Whether a piece is clean text is found out once for all its lines, many bytes a step; only in
 * a piece that is not are the names looked at one by one. */
#include "graph/text/reader.h"

#include <string.h>

#include "base/utf8.h"

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
