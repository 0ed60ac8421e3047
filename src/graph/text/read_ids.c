/* read_ids.c - the facts of a benchmark graph: lines of three ids.
 *
 *   line = "" | head "\t" relation "\t" tail       decimal, below the counts of kgindex.json
 *
 * One pass over the digits; a line that is not of this form is looked at again to say why. */
#include "graph/text/reader.h"

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

static acq_status complain_id(acq_batch *batch, size_t number, size_t column, int which,
                              const char *text, size_t length)
{
    static const char *const what[3] = {"head", "relation", "tail"};
    uint32_t limit = which == 1 ? batch->rules->n_relations : batch->rules->n_entities;
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    int shown = length < 40 ? (int)length : 40;
    if (length == 0)
        return acq_batch_bad(batch, number, column, "the %s is empty; give its id", what[which]);
    if (digits < length)
        return acq_batch_bad(batch, number, column,
                             "the %s is not an id; write a number of kgindex.json, 0 to %u",
                             what[which], limit - 1);
    return acq_batch_bad(batch, number, column,
                         "the %s id %.*s is out of range; kgindex.json has 0 to %u", what[which],
                         shown, text, limit - 1);
}

/* Says what is wrong with the first bad field of a line. */
static acq_status complain(acq_batch *batch, const char *line, size_t length, size_t number)
{
    size_t fourth = 0;
    size_t count = count_fields(line, length, &fourth);
    if (count != 3)
        return acq_batch_bad_count(batch, number, count < 3 ? length + 1 : fourth, count);
    const char *start = line, *end = line + length;
    for (int which = 0; which < 3; which++) {
        const char *stop = memchr(start, '\t', (size_t)(end - start));
        size_t width = (size_t)((stop == NULL ? end : stop) - start);
        uint32_t limit = which == 1 ? batch->rules->n_relations : batch->rules->n_entities;
        const char *at = start;
        uint32_t id;
        if (!read_id(&at, start + width, limit, &id))
            return complain_id(batch, number, (size_t)(start - line) + 1, which, start, width);
        start += width + 1;
    }
    return acq_fail(&batch->error, ACQ_ERR_INTERNAL, "a good line was taken for a bad one");
}

static acq_status parse_line(acq_batch *batch, const char *line, size_t length, size_t number,
                             bool is_text)
{
    const acq_rules *rules = batch->rules;
    const char *at = line, *end = line + length;
    acq_triple fact;
    (void)is_text; /* digits are */
    batch->counts.lines++;
    if (!read_id(&at, end, rules->n_entities, &fact.head) || at++ == end ||
        !read_id(&at, end, rules->n_relations, &fact.relation) || at++ == end ||
        !read_id(&at, end, rules->n_entities, &fact.tail) || at != end)
        return complain(batch, line, length, number);
    return acq_batch_add_fact(batch, fact);
}

void acq_parse_ids(acq_batch *batch, const acq_piece *piece)
{
    acq_parse_lines(batch, piece, parse_line);
}
