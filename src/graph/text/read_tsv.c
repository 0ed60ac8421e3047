/* read_tsv.c - triples separated by tabs, one a line.
 *
 *   line = "" | head "\t" relation "\t" tail          names are taken as they stand
 *
 * A few passes of memchr over each line; the cost is that of the dictionary lookups. */
#include "graph/text/reader.h"

#include <string.h>

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
    if (count != 3)
        return acq_batch_bad_count(batch, number, count < 3 ? length + 1 : fourth, count);
    return acq_batch_add_triple(batch, fields, is_text);
}

void acq_parse_tsv(acq_batch *batch, const acq_piece *piece)
{
    acq_parse_lines(batch, piece, parse_line);
}
