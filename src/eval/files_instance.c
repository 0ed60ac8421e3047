/* files_instance.c - one instance of a query file: its grounding, its tuples, its type.
 *
 * The published files are taken as they are: names that the formula does not have are not used,
 * and where the type and the list of answers disagree, the type counts, as it does for the
 * published scorer. Both are counted. */
#include "eval/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/text.h"

ACQ_PRINTF(2, 3)
static acq_status fail_at(const acq_bench_reader *reader, const char *format, ...)
{
    char text[384];
    va_list arguments;
    va_start(arguments, format);
    acq_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return acq_fail(reader->error, ACQ_ERR_INPUT, "formula %zu, instance %zu: %s",
                    reader->i_formula + 1, reader->i_instance + 1, text);
}

static const char *json_kind(const acq_json *json)
{
    static const char *const kinds[] = {
        [ACQ_JSON_NULL] = "null",
        [ACQ_JSON_FALSE] = "true or false",
        [ACQ_JSON_TRUE] = "true or false",
        [ACQ_JSON_INTEGER] = "an integer",
        [ACQ_JSON_REAL] = "a number with a fraction",
        [ACQ_JSON_TEXT] = "a string",
        [ACQ_JSON_ARRAY] = "a list",
        [ACQ_JSON_OBJECT] = "an object",
    };
    return kinds[json->kind];
}

static bool is_id(const acq_json *json, uint32_t limit)
{
    return json->kind == ACQ_JSON_INTEGER && json->integer >= 0 && json->integer < (int64_t)limit;
}

/* Says what is wrong with a value that is_id refused. */
static acq_status fail_id(const acq_bench_reader *reader, const char *member, const char *name,
                          const acq_json *json, uint32_t limit, const char *kind)
{
    if (json->kind != ACQ_JSON_INTEGER)
        return fail_at(reader, "%s: %.60s has %s where an id must be; give an integer", member,
                       name, json_kind(json));
    return fail_at(reader,
                   "%s: %.60s has id %lld, but the graph's %s ids run from 0 to %lld; check "
                   "that the queries belong to this graph",
                   member, name, (long long)json->integer, kind, (long long)limit - 1);
}

static acq_status read_name(const acq_bench_reader *reader, const acq_json *grounding, size_t i,
                            uint32_t *out)
{
    bool is_relation = i < reader->query->n_relations;
    const char *kind = is_relation ? "relation" : "entity";
    uint32_t limit = is_relation ? reader->limits.n_relations : reader->limits.n_entities;
    const char *name = reader->formula->names[i];
    const acq_json *value = acq_json_get(grounding, name);
    if (value == NULL)
        return fail_at(reader,
                       "member 1 (grounding) does not say which %s %.60s is; add \"%.60s\": "
                       "ID",
                       kind, name, name);
    if (!is_id(value, limit))
        return fail_id(reader, "member 1 (grounding)", name, value, limit, kind);
    *out = (uint32_t)value->integer;
    return ACQ_OK;
}

static bool has_name(const acq_bench_formula *formula, const char *name)
{
    for (size_t i = 0; i < formula->n_names; i++)
        if (strcmp(formula->names[i], name) == 0)
            return true;
    return false;
}

/* Published groundings name relations and constants that their formula lost. */
static bool has_extra_names(const acq_bench_reader *reader, const acq_json *grounding)
{
    for (const acq_json *member = grounding->first; member != NULL; member = member->next)
        if (!has_name(reader->formula, member->name))
            return true;
    return false;
}

static acq_status read_grounding(const acq_bench_reader *reader, const acq_json *json,
                                 acq_bench_instance *out)
{
    if (json->kind != ACQ_JSON_OBJECT)
        return fail_at(reader,
                       "member 1 must be the grounding, an object like {\"r1\": 7, "
                       "\"s1\": 12}; it is %s",
                       json_kind(json));
    size_t n = reader->formula->n_names;
    out->ids = acq_arena_alloc(&reader->file->arena, n, sizeof *out->ids);
    if (out->ids == NULL)
        return acq_fail_memory(reader->error);
    for (size_t i = 0; i < n; i++) {
        acq_status status = read_name(reader, json, i, &out->ids[i]);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

/* "f1&f2" -> the query's variable number at each position of the file's tuples. */
static acq_status read_key(const acq_bench_reader *reader, const char *member, const char *key,
                           uint32_t *order)
{
    const acq_query *query = reader->query;
    uint32_t n = 0;
    for (const char *at = key; n < query->n_free; n++) {
        size_t length = strcspn(at, "&");
        uint32_t i = 0;
        while (i < query->n_free && (query->variables[i].length != length ||
                                     memcmp(query->variables[i].text, at, length) != 0))
            i++;
        for (uint32_t j = 0; j < n && i < query->n_free; j++)
            i = order[j] == i ? query->n_free : i;
        if (i == query->n_free)
            break;
        order[n] = i;
        at += length;
        if (*at == '\0' && n + 1 == query->n_free)
            return ACQ_OK;
        if (*at++ == '\0')
            break;
    }
    return fail_at(reader,
                   "%s: the key \"%.60s\" must name each of the formula's %u free variables "
                   "once, as in \"f1&f2\"",
                   member, key, query->n_free);
}

static acq_status read_tuple(const acq_bench_reader *reader, const char *member, size_t i,
                             const acq_json *json, const uint32_t *order, acq_ent *out)
{
    uint32_t limit = reader->limits.n_entities;
    char name[48];
    for (const acq_json *value = json->first; value != NULL; value = value->next) {
        if (!is_id(value, limit)) {
            snprintf(name, sizeof name, "tuple %zu", i + 1);
            return fail_id(reader, member, name, value, limit, "entity");
        }
        out[*order++] = (acq_ent)value->integer;
    }
    return ACQ_OK;
}

/* Before anything is allocated, so that memory stays in proportion to the file. */
static acq_status check_widths(const acq_bench_reader *reader, const char *member, const acq_json *list)
{
    uint32_t n_free = reader->query->n_free;
    size_t i = 1;
    for (const acq_json *tuple = list->first; tuple != NULL; tuple = tuple->next, i++)
        if (tuple->kind != ACQ_JSON_ARRAY || tuple->n != n_free)
            return fail_at(reader, "%s: tuple %zu must be a list of %u entity ids", member, i,
                           n_free);
    return ACQ_OK;
}

static acq_status read_list(const acq_bench_reader *reader, const char *member, const acq_json *list,
                            const uint32_t *order, acq_bench_tuples *out)
{
    size_t n_free = reader->query->n_free, i = 0;
    acq_status status = check_widths(reader, member, list);
    if (status != ACQ_OK)
        return status;
    out->n = list->n;
    out->values = acq_arena_alloc(&reader->file->arena, out->n * n_free, sizeof *out->values);
    if (out->values == NULL)
        return acq_fail_memory(reader->error);
    for (const acq_json *at = list->first; at != NULL && status == ACQ_OK; at = at->next, i++)
        status = read_tuple(reader, member, i, at, order, out->values + i * n_free);
    return status;
}

/* tuples = { key: [ [id, ...], ... ] }, one key only. */
static acq_status read_tuples(const acq_bench_reader *reader, const char *member, const acq_json *json,
                              acq_bench_tuples *out)
{
    const acq_json *list = json->kind == ACQ_JSON_OBJECT ? json->first : NULL;
    if (json->kind == ACQ_JSON_OBJECT && json->n == 0) /* no key, so no tuple either */
        return ACQ_OK;
    if (list == NULL || json->n != 1)
        return fail_at(reader,
                       "%s must be an object with one key, the free variables, like "
                       "{\"f1\": [[3], [9]]}; it is %s",
                       member, list == NULL ? json_kind(json) : "an object with several");
    if (list->kind != ACQ_JSON_ARRAY)
        return fail_at(reader, "%s: its value must be a list of tuples; it is %s", member,
                       json_kind(list));
    uint32_t *order = acq_arena_alloc(&reader->file->arena, reader->query->n_free, sizeof *order);
    if (order == NULL)
        return acq_fail_memory(reader->error);
    acq_status status = read_key(reader, member, list->name, order);
    return status == ACQ_OK ? read_list(reader, member, list, order, out) : status;
}

/* type = "e" | "h" | "n"; where the list of answers says otherwise, the type counts. */
static acq_status read_type(const acq_bench_reader *reader, const acq_json *json,
                            acq_bench_instance *out)
{
    const char *text = json->text;
    if (json->kind == ACQ_JSON_OBJECT)
        return fail_at(reader, "member 3 is an object, as in a qac file; evaluate this file "
                               "with `eval qac`");
    if (text == NULL || strlen(text) != 1 || strchr("ehn", text[0]) == NULL)
        return fail_at(reader, "member 3 must be the type, \"e\", \"h\" or \"n\"");
    out->type = text[0];
    return ACQ_OK;
}

static int compare_tuples(const void *left, const void *right, void *n_free)
{
    return memcmp(left, right, *(const uint32_t *)n_free * sizeof(acq_ent));
}

/* How many wrong tuples are listed as correct too. Sorts a copy of the correct ones. */
static acq_status count_doubles(const acq_bench_reader *reader, const acq_bench_instance *instance,
                                size_t *out)
{
    uint32_t n_free = reader->query->n_free;
    size_t n = instance->correct.n, size = n_free * sizeof(acq_ent);
    if (n == 0 || size == 0)
        return ACQ_OK;
    acq_ent *sorted = acq_alloc(n, size);
    if (sorted == NULL)
        return acq_fail_memory(reader->error);
    memcpy(sorted, instance->correct.values, n * size);
    qsort_r(sorted, n, size, compare_tuples, &n_free);
    for (size_t i = 0; i < instance->wrong.n; i++) {
        const acq_ent *tuple = instance->wrong.values + i * n_free;
        size_t low;
        ACQ_SEARCH(low, 0, n, compare_tuples(sorted + low * n_free, tuple, &n_free) < 0);
        *out += low < n && compare_tuples(sorted + low * n_free, tuple, &n_free) == 0;
    }
    acq_free(sorted);
    return ACQ_OK;
}

static void count_dirt(acq_bench_dirt *dirt, const acq_bench_instance *instance, bool has_extra)
{
    bool is_positive = instance->type == 'e' || instance->type == 'h';
    dirt->n_extra += has_extra;
    dirt->n_unlisted += is_positive && instance->correct.n == 0;
    dirt->n_denied += instance->type == 'n' && instance->correct.n > 0;
}

acq_status acq_bench_read_instance(const acq_bench_reader *reader, const acq_json *json,
                                   acq_bench_instance *out)
{
    bool is_qac = reader->file->task == ACQ_TASK_QAC;
    acq_bench_instance instance = {.formula = (uint32_t)reader->i_written};
    if (json->kind != ACQ_JSON_ARRAY || json->n != 3)
        return fail_at(reader, "an instance is a list of three members: %s",
                       is_qac ? "[grounding, correct, wrong]" : "[grounding, answers, type]");
    const acq_json *first = json->first, *second = first->next, *third = second->next;
    if (is_qac && third->kind == ACQ_JSON_TEXT)
        return fail_at(reader, "member 3 is a string, as in a qar file; evaluate this file "
                               "with `eval qar`");
    acq_status status = read_grounding(reader, first, &instance);
    if (status == ACQ_OK)
        status = read_tuples(reader, is_qac ? "member 2 (correct)" : "member 2 (answers)", second,
                             &instance.correct);
    if (status == ACQ_OK)
        status = is_qac ? read_tuples(reader, "member 3 (wrong)", third, &instance.wrong)
                        : read_type(reader, third, &instance);
    if (status == ACQ_OK && is_qac)
        status = count_doubles(reader, &instance, &reader->file->n_doubles);
    if (status != ACQ_OK)
        return status;
    count_dirt(&reader->file->dirt, &instance, has_extra_names(reader, first));
    *out = instance;
    return ACQ_OK;
}
