/* read_tsv.c - triples separated by tabs, one a line.
 *
 *   file = [BOM] { line ("\n" | "\r\n") } [line]
 *   line = "" | head "\t" relation "\t" tail          names are taken as they stand
 *
 * Two passes of memchr over each line; the cost is that of the dictionary lookups. */
#include "graph/reader.h"

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

static acq_status read_line(acq_reader *reader, const char *line, size_t length, size_t number)
{
    acq_field fields[3];
    size_t fourth = 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length == 0)
        return ACQ_OK;
    reader->report.lines++;
    size_t count = split(line, length, number, fields, &fourth);
    if (count != 3)
        return acq_reader_bad_count(reader, number, count < 3 ? length + 1 : fourth, count,
                                    ACQ_TABS);
    return acq_reader_add_triple(reader, fields);
}

acq_status acq_read_tsv(acq_reader *reader, const char *bytes, size_t length)
{
    return acq_reader_each_line(reader, bytes, length, read_line);
}
