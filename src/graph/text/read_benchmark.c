/* read_benchmark.c - a benchmark graph: kgindex.json, its dictionary, and lines of three ids.
 *
 *   {"e": {"name": id, ...}, "r": {"name": id, ...}}
 *   line = "" | head "\t" relation "\t" tail       decimal, below the counts of kgindex.json
 *
 * n names have the ids 0 .. n-1, each once; relation 2k+1 is the inverse of 2k, so there is an
 * even number of relations. Other members are ignored. A wrong index is always an error: no
 * line could be trusted without it. A line costs one pass over its digits; one that is not of this
 * form is looked at again to say why. */
#include "graph/text/reader.h"

#include <jansson.h>
#include <string.h>

#include "graph/names.h"

static acq_status fail_json(const json_error_t *json, acq_error *error)
{
    if (json_error_code(json) == json_error_out_of_memory)
        return acq_fail_memory(error);
    size_t line = json->line > 0 ? (size_t)json->line : 0;
    size_t column = json->column > 0 ? (size_t)json->column : 0;
    return acq_fail_at(error, ACQ_ERR_PARSE, line, column, "not valid JSON: %s; correct it",
                       json->text);
}

static acq_status set_one(acq_names *names, const char *kind, const char *name, json_t *value,
                          size_t n, acq_error *error)
{
    size_t length = strlen(name);
    if (length == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "%s has an empty name; name it", kind);
    if (length > ACQ_NAME_MOST)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "%s \"%.60s...\" has %zu bytes; a name may have up to %d, shorten it", kind,
                        name, length, ACQ_NAME_MOST);
    if (!json_is_integer(value))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the id of %s \"%.100s\" is not a whole number; make it one from 0 to %zu",
                        kind, name, n - 1);
    json_int_t id = json_integer_value(value);
    if (id < 0 || (uint64_t)id >= n)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the id of %s \"%.100s\" is %" JSON_INTEGER_FORMAT
                        "; the ids of %zu names must run from 0 to %zu without a gap",
                        kind, name, id, n, n - 1);
    return acq_dictionary_set(names, kind, (uint32_t)id, name, length, error);
}

static acq_status set_all(acq_names *names, const char *kind, json_t *root, const char *key,
                          acq_error *error)
{
    const char *name;
    json_t *value, *map = json_object_get(root, key);
    if (!json_is_object(map))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the member \"%s\" is missing or not an object; it maps the name of each "
                        "%s to its id",
                        key, kind);
    size_t n = json_object_size(map);
    if (n == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "the member \"%s\" is empty; name each %s", key,
                        kind);
    if (n >= ACQ_NO_ID - 1)
        return acq_fail(error, ACQ_ERR_LIMIT, "too many names; ids have 32 bits");
    json_object_foreach(map, name, value)
    {
        acq_status status = set_one(names, kind, name, value, n, error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status read_root(acq_dictionary *dictionary, json_t *root, acq_error *error)
{
    acq_status status = set_all(&dictionary->entities, "entity", root, "e", error);
    if (status == ACQ_OK)
        status = set_all(&dictionary->relations, "relation", root, "r", error);
    size_t n_relations = json_object_size(json_object_get(root, "r"));
    if (status == ACQ_OK && n_relations % 2 != 0)
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "there are %zu relations, an odd number; each relation 2k needs its "
                          "inverse 2k+1",
                          n_relations);
    return status;
}

acq_status acq_read_index(acq_dictionary *dictionary, const char *bytes, size_t length,
                          acq_error *error)
{
    json_error_t json_error;
    acq_status status = acq_skip_mark(&bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &json_error);
    status = root == NULL ? fail_json(&json_error, error) : read_root(dictionary, root, error);
    json_decref(root);
    return status;
}

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
    const acq_syntax_rules *rules = batch->rules;
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
