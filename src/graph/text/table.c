/* table.c - what a file of plain triples looks like, judged by its first lines.
 *
 *   separator   of a .csv: a semicolon where the first lines have three fields by it and not by
 *               commas, as spreadsheets write in half of Europe
 *   header      the first line, if it names the three columns with words like those below, and the
 *               name of its relation is no relation of the lines behind it; the order of its words
 *               is that of the columns; further columns behind these are left out
 *   swapped     columns, if many names stand where relations should and few in one of the others
 *
 * Looking costs a thousand lines at most, once a file. */
#include "graph/text/batch.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum {
    MOST_LINES = 1000,
    SEPARATOR_LINES = 20,
    LEAST_RELATIONS = 50,
    FEW = 10,
    REPEATS = 4,
    ENOUGH_LINES = 20
};

/* A piece of a line, without its quotes. */
typedef struct cell {
    const char *text;
    size_t length;
} cell;

typedef struct table {
    const char *at, *end;
    char separator;
    bool has_quotes; /* a quoted field may hold separators */
} table;

/* The next field of a line that ends at `end`; moves behind its separator, or beyond the end. */
static cell next_cell(const table *t, const char **at, const char *end)
{
    bool is_quoted = t->has_quotes && *at < end && **at == '"';
    const char *start = *at + is_quoted, *stop = start;
    if (is_quoted) {
        while (stop < end && (*stop != '"' || (stop + 1 < end && stop[1] == '"')))
            stop += *stop == '"' ? 2 : 1;
        stop = stop > end ? end : stop;
    }
    const char *separator = stop < end ? memchr(stop, t->separator, (size_t)(end - stop)) : NULL;
    if (!is_quoted)
        stop = separator == NULL ? end : separator;
    *at = separator == NULL ? end + 1 : separator + 1;
    return (cell){start, (size_t)(stop - start)};
}

/* The first cells of the next line that is not empty; how many it has. */
static size_t next_line(table *t, cell cells[3], size_t *n_lines)
{
    const char *line = t->at, *end = t->at;
    size_t n = 0;
    while (t->at < t->end && line == end) {
        const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
        line = t->at;
        end = stop == NULL ? t->end : stop;
        t->at = stop == NULL ? t->end : stop + 1;
        if (end > line && end[-1] == '\r')
            end--;
        ++*n_lines;
    }
    for (const char *at = line; at <= end; n++) {
        cell found = next_cell(t, &at, end);
        if (n < 3)
            cells[n] = found;
    }
    return n;
}

static size_t count_threes(table t, char separator)
{
    cell cells[3];
    size_t n = 0, n_lines = 0;
    t.separator = separator;
    while (t.at < t.end && n_lines < SEPARATOR_LINES)
        n += next_line(&t, cells, &n_lines) == 3;
    return n;
}

/* Head, relation or tail by the words that are used for them; 3: none. */
static unsigned role_of(cell of)
{
    static const char *const words[3] = {
        (" head h head_entity subject subj s source src from start start_id entity1 entity_1 e1 "
         "node1 "),
        " relation rel r relationship predicate pred p property edge edge_type type link label ",
        " tail t tail_entity object obj o target tgt to end end_id entity2 entity_2 e2 node2 "};
    while (of.length > 0 && strchr("#:?\" ", *of.text) != NULL)
        of = (cell){of.text + 1, of.length - 1};
    while (of.length > 0 && of.text[of.length - 1] == ' ')
        of.length--;
    for (unsigned role = 0; role < 3 && of.length > 0; role++) {
        for (const char *at = words[role] + 1, *stop; (stop = strchr(at, ' ')) != NULL;
             at = stop + 1) {
            if ((size_t)(stop - at) == of.length && strncasecmp(at, of.text, of.length) == 0)
                return role;
        }
    }
    return 3;
}

/* Do the words name each role once? columns[role] is where it stands. */
static bool names_columns(const cell cells[3], unsigned char columns[3])
{
    unsigned seen = 0;
    for (unsigned char i = 0; i < 3; i++) {
        unsigned role = role_of(cells[i]);
        if (role == 3)
            return false;
        seen |= 1U << role;
        columns[role] = i;
    }
    return seen == 7;
}

/* A header's word for relations is no relation: no line behind it has it there. */
static bool is_used(table t, const cell cells[3], unsigned column)
{
    cell others[3];
    size_t n_lines = 0, n = 0;
    while (t.at < t.end && n_lines < MOST_LINES) {
        if (next_line(&t, others, &n_lines) < 3)
            continue;
        n++;
        if (others[column].length == cells[column].length &&
            memcmp(others[column].text, cells[column].text, cells[column].length) == 0)
            return true;
    }
    return n == 0;
}

static size_t count_lines(table t)
{
    cell cells[3];
    size_t n_lines = 0, n = 0;
    while (t.at < t.end && n < ENOUGH_LINES)
        n += next_line(&t, cells, &n_lines) >= 3;
    return n;
}

/* Words in another language are no header; but all three of them in no other line look like one. */
static void doubt_fact(table t, const cell cells[3], size_t n_lines, acq_merger *merger)
{
    if (count_lines(t) < ENOUGH_LINES)
        return;
    for (unsigned i = 0; i < 3; i++)
        if (is_used(t, cells, i))
            return;
    acq_merger_note(merger, n_lines,
                    "read as a fact, with names that the next lines lack; delete the line if it is "
                    "a header");
}

static void find_header(table t, acq_syntax_rules *rules, acq_merger *merger)
{
    const char *start = t.at;
    unsigned char columns[3] = {0, 1, 2};
    cell cells[3];
    size_t n_lines = 0;
    size_t n = next_line(&t, cells, &n_lines);
    if (n < 3)
        return;
    if (!names_columns(cells, columns) || is_used(t, cells, columns[1])) {
        if (t.has_quotes)
            doubt_fact(t, cells, n_lines, merger);
        return;
    }
    rules->n_more = n - 3;
    rules->header_bytes = (size_t)(t.at - start);
    rules->header_lines = n_lines;
    memcpy(rules->columns, columns, sizeof columns);
    rules->is_reordered = columns[0] != 0 || columns[1] != 1;
    acq_merger_note(merger, n_lines,
                    rules->is_reordered
                        ? "read as a header, which says the order of the columns; --no-header "
                          "reads it as a fact"
                        : "read as a header and left out; --no-header reads it as a fact");
}

void acq_table_look(acq_syntax_rules *rules, acq_merger *merger, const char *bytes, size_t length)
{
    bool is_csv = rules->syntax == ACQ_COMMAS;
    if (rules->syntax != ACQ_TABS && !is_csv)
        return;
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    table t = {.at = bytes, .end = bytes + length, .separator = '\t', .has_quotes = is_csv};
    if (length == 0)
        return;
    if (is_csv)
        rules->separator = t.separator = count_threes(t, ';') > count_threes(t, ',') ? ';' : ',';
    if (!merger->params.no_header)
        find_header(t, rules, merger);
}

static size_t count_marks(const unsigned char *marks, size_t n, unsigned char mark)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (marks[i] & mark) != 0;
    return count;
}

acq_status acq_table_check_columns(acq_merger *merger, const acq_batch *batch)
{
    size_t n_relations = batch->relations.names.n_ids, n = batch->entities.names.n_ids;
    if (n_relations < LEAST_RELATIONS || n_relations * REPEATS < batch->n_facts)
        return ACQ_OK;
    unsigned char *marks = acq_zalloc(n, 1);
    if (marks == NULL)
        return acq_fail_memory(merger->error);
    for (size_t i = 0; i < batch->n_facts; i++) {
        marks[batch->facts[i].head] |= 1;
        marks[batch->facts[i].tail] |= 2;
    }
    size_t n_heads = count_marks(marks, n, 1), n_tails = count_marks(marks, n, 2);
    size_t fewer = n_heads < n_tails ? n_heads : n_tails;
    if (fewer * FEW <= n_relations)
        acq_merger_note(
            merger, 0,
            "columns swapped? The first %zu lines have %zu relations and only %zu %s%s; "
            "the order is head, relation, tail",
            batch->n_facts, n_relations, fewer, n_heads < n_tails ? "head" : "tail",
            fewer == 1 ? "" : "s");
    acq_free(marks);
    return ACQ_OK;
}
