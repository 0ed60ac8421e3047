/* read_ids.c - the facts of a benchmark graph: lines of three ids.
 *
 *   line = "" | head "\t" relation "\t" tail       decimal, below the counts of kgindex.json
 *
 * One pass over the digits; a line that is not of this form is looked at again to say why. */
#include "graph/reader.h"

#include <string.h>

/* Reads an id that ends at a tab or the end; false leaves the reason to complain_id. */
static bool read_id(const char **at, const char *end, uint32_t limit, uint32_t *out)
{
    uint64_t value = 0;
    const char *p = *at;
    for (; p < end && *p >= '0' && *p <= '9' && value < limit; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == *at || value >= limit || (p < end && *p != '\t'))
        return false;
    *out = (uint32_t)value;
    *at = p;
    return true;
}

static size_t count_fields(const char *line, size_t length, size_t *fourth)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t' && ++count == 4)
            *fourth = i + 2;
    }
    return count;
}

static acq_status complain_id(acq_reader *reader, size_t number, size_t column, int which,
                              const char *text, size_t length)
{
    static const char *const what[3] = {"head", "relation", "tail"};
    uint32_t limit = which == 1 ? reader->n_relations : reader->n_entities;
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    int shown = length < 40 ? (int)length : 40;
    if (length == 0)
        return acq_reader_bad(reader, number, column, "the %s is empty; give its id", what[which]);
    if (digits < length)
        return acq_reader_bad(reader, number, column,
                              "the %s is not an id; write a number of kgindex.json, 0 to %u",
                              what[which], limit - 1);
    return acq_reader_bad(reader, number, column,
                          "the %s id %.*s is out of range; kgindex.json has 0 to %u", what[which],
                          shown, text, limit - 1);
}

/* Says what is wrong with the first bad field of a line. */
static acq_status complain(acq_reader *reader, const char *line, size_t length, size_t number)
{
    size_t fourth = 0;
    size_t count = count_fields(line, length, &fourth);
    if (count != 3)
        return acq_reader_bad_count(reader, number, count < 3 ? length + 1 : fourth, count,
                                    ACQ_TABS);
    const char *start = line, *end = line + length;
    for (int which = 0; which < 3; which++) {
        const char *stop = memchr(start, '\t', (size_t)(end - start));
        size_t width = (size_t)((stop == NULL ? end : stop) - start);
        uint32_t limit = which == 1 ? reader->n_relations : reader->n_entities;
        const char *at = start;
        uint32_t id;
        if (!read_id(&at, start + width, limit, &id))
            return complain_id(reader, number, (size_t)(start - line) + 1, which, start, width);
        start += width + 1;
    }
    return acq_fail(reader->error, ACQ_ERR_INTERNAL, "a good line was taken for a bad one");
}

static acq_status read_line(acq_reader *reader, const char *line, size_t length, size_t number)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length == 0)
        return ACQ_OK;
    reader->report.lines++;
    const char *at = line, *end = line + length;
    uint32_t head, relation, tail;
    if (!read_id(&at, end, reader->n_entities, &head) || at++ == end ||
        !read_id(&at, end, reader->n_relations, &relation) || at++ == end ||
        !read_id(&at, end, reader->n_entities, &tail) || at != end)
        return complain(reader, line, length, number);
    return acq_reader_add_fact(reader, (acq_triple){head, relation, tail});
}

acq_status acq_read_ids(acq_reader *reader, const char *bytes, size_t length)
{
    return acq_reader_each_line(reader, bytes, length, read_line);
}
