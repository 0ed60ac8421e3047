/* lines.c - reads the whole file and cuts it in place. */
#include "cli/lines.h"

#include <string.h>

#include "base/memory.h"
#include "base/file.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Appends the line [begin, end) unless it is blank or a comment. */
static acq_status add_line(acq_lines *lines, size_t *capacity, char *begin, char *end,
                           size_t number)
{
    char *start = begin;
    while (start < end && is_space(*start))
        start++;
    while (end > start && is_space(end[-1]))
        end--;
    *end = '\0';
    if (*start == '\0' || *start == '#')
        return ACQ_OK;
    if (ACQ_RESERVE(lines->items, *capacity, lines->n + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    lines->items[lines->n++] =
        (acq_line){.text = start, .number = number, .indent = (size_t)(start - begin)};
    return ACQ_OK;
}

static acq_status cut(acq_lines *lines, size_t n_bytes)
{
    char *begin = lines->bytes, *end_of_file = lines->bytes + n_bytes;
    if (n_bytes >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3;
    size_t capacity = 0;
    for (size_t number = 1; begin < end_of_file; number++) {
        char *end = memchr(begin, '\n', (size_t)(end_of_file - begin));
        end = end == NULL ? end_of_file : end;
        if (add_line(lines, &capacity, begin, end, number) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        begin = end + 1;
    }
    return ACQ_OK;
}

acq_status acq_lines_init(acq_lines *lines, const char *path, acq_error *error)
{
    *lines = (acq_lines){0};
    size_t n_bytes;
    acq_status status = acq_file_read(path, &lines->bytes, &n_bytes, error);
    if (status != ACQ_OK)
        return status;
    if (cut(lines, n_bytes) != ACQ_OK)
        return acq_fail_memory(error);
    if (lines->n > 0)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_INPUT, "no query in this file; write one per line");
    acq_error_set_file(error, path);
    return ACQ_ERR_INPUT;
}

void acq_lines_deinit(acq_lines *lines)
{
    acq_free(lines->bytes);
    acq_free(lines->items);
    *lines = (acq_lines){0};
}
