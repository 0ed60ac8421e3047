/* files.c - a query file as a whole: reading, the list of formulas, their instances. */
#include "eval/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "query/benchmark/formula.h"

/* ---- one instance, from JSON to ids ---- */

/* What is being read, for the checks and for the place that an error names. */
typedef struct bench_reader {
    acq_bench_file *file;
    acq_bench_limits limits;
    size_t i_formula, i_instance; /* counted from 0; i_instance within the formula */
    const acq_bench_formula *formula;
    const acq_query *query; /* of this formula */
    acq_error *error;
} bench_reader;

ACQ_PRINTF(2, 3)
static acq_status fail_at(const bench_reader *reader, const char *format, ...)
{
    char text[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
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
static acq_status fail_id(const bench_reader *reader, const char *member, const char *name,
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

static acq_status read_name(const bench_reader *reader, const acq_json *grounding, size_t i,
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

/* A name too many means a formula and a grounding that do not belong together. */
static acq_status check_extra_names(const bench_reader *reader, const acq_json *grounding)
{
    if (grounding->n == reader->formula->n_names)
        return ACQ_OK;
    for (const acq_json *member = grounding->first; member != NULL; member = member->next)
        if (!has_name(reader->formula, member->name))
            return fail_at(reader,
                           "member 1 (grounding) names \"%.60s\", which the formula does "
                           "not have; leave it out",
                           member->name);
    return ACQ_OK;
}

static acq_status read_grounding(const bench_reader *reader, const acq_json *json,
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
    return check_extra_names(reader, json);
}

/* "f1&f2" -> the query's variable number at each position of the file's tuples. */
static acq_status read_key(const bench_reader *reader, const char *member, const char *key,
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

static acq_status read_tuple(const bench_reader *reader, const char *member, size_t i,
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
static acq_status check_widths(const bench_reader *reader, const char *member, const acq_json *list)
{
    uint32_t n_free = reader->query->n_free;
    size_t i = 1;
    for (const acq_json *tuple = list->first; tuple != NULL; tuple = tuple->next, i++)
        if (tuple->kind != ACQ_JSON_ARRAY || tuple->n != n_free)
            return fail_at(reader, "%s: tuple %zu must be a list of %u entity ids", member, i,
                           n_free);
    return ACQ_OK;
}

static acq_status read_list(const bench_reader *reader, const char *member, const acq_json *list,
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
static acq_status read_tuples(const bench_reader *reader, const char *member, const acq_json *json,
                              acq_bench_tuples *out)
{
    const acq_json *list = json->kind == ACQ_JSON_OBJECT ? json->first : NULL;
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

/* type = "e" | "h" | "n"; only "n" queries have no answers. */
static acq_status read_type(const bench_reader *reader, const acq_json *json,
                            acq_bench_instance *out)
{
    const char *text = json->text;
    if (json->kind == ACQ_JSON_OBJECT)
        return fail_at(reader, "member 3 is an object, as in a qac file; evaluate this file "
                               "with `eval qac`");
    if (text == NULL || strlen(text) != 1 || strchr("ehn", text[0]) == NULL)
        return fail_at(reader, "member 3 must be the type, \"e\", \"h\" or \"n\"");
    out->type = text[0];
    if (out->type == 'n' && out->correct.n > 0)
        return fail_at(reader,
                       "type \"n\" says there is no answer, but member 2 lists %zu; "
                       "correct one of the two",
                       out->correct.n);
    if (out->type != 'n' && out->correct.n == 0)
        return fail_at(reader,
                       "type \"%c\" says there are answers, but member 2 lists "
                       "none; correct one of the two",
                       out->type);
    return ACQ_OK;
}

static int compare_tuples(const void *left, const void *right, void *n_free)
{
    return memcmp(left, right, *(const uint32_t *)n_free * sizeof(acq_ent));
}

/* How many wrong tuples are listed as correct too. Sorts a copy of the correct ones. */
static acq_status count_doubles(const bench_reader *reader, const acq_bench_instance *instance,
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
        size_t low = 0, high = n;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            int order = compare_tuples(sorted + middle * n_free, tuple, &n_free);
            low = order < 0 ? middle + 1 : low;
            high = order < 0 ? high : middle;
        }
        *out += low < n && compare_tuples(sorted + low * n_free, tuple, &n_free) == 0;
    }
    acq_free(sorted);
    return ACQ_OK;
}

static acq_status read_instance(const bench_reader *reader, const acq_json *json,
                                acq_bench_instance *out)
{
    bool is_qac = reader->file->task == ACQ_TASK_QAC;
    acq_bench_instance instance = {.formula = (uint32_t)reader->i_formula};
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
    if (status == ACQ_OK)
        *out = instance;
    return status;
}

/* ---- the file ---- */

static const char *const atoms_key = "atoms";

const char *acq_bench_task_get_name(acq_bench_task task)
{
    return task == ACQ_TASK_QAC ? "qac" : "qar";
}

const char *acq_bench_file_get_name(const acq_bench_file *file)
{
    const char *slash = strrchr(file->path, '/');
    return slash == NULL ? file->path : slash + 1;
}

acq_atoms_reading acq_bench_file_get_atoms(const acq_bench_file *file)
{
    if (file->has_atoms)
        return file->atoms;
    bool is_hub = strstr(acq_bench_file_get_name(file), "hub") != NULL;
    return file->task == ACQ_TASK_QAC && is_hub ? ACQ_ATOMS_PAIR : ACQ_ATOMS_WRITTEN;
}

bool acq_bench_tuples_contain(const acq_bench_tuples *tuples, const acq_ent *tuple, uint32_t n_free)
{
    for (size_t i = 0; i < tuples->n; i++)
        if (memcmp(tuples->values + i * n_free, tuple, n_free * sizeof *tuple) == 0)
            return true;
    return false;
}

void acq_bench_file_free(acq_bench_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < file->n_formulas; i++)
        acq_query_free(file->formulas[i].query);
    acq_arena_deinit(&file->arena);
    acq_free(file);
}

/* A formula that does not parse keeps the parser's message and place within the formula. */
static acq_status fail_formula(const bench_reader *reader, acq_status status, const acq_error *why)
{
    return acq_fail_at(reader->error, status, 0, 0, "formula %zu, character %zu: %.400s",
                       reader->i_formula + 1, why->column, why->message);
}

static acq_status list_names(const bench_reader *reader, acq_bench_formula *formula)
{
    const acq_query *query = formula->query;
    acq_arena *arena = &reader->file->arena;
    formula->n_names = (size_t)query->n_relations + query->n_constants;
    formula->names = acq_arena_alloc(arena, formula->n_names, sizeof *formula->names);
    if (formula->names == NULL)
        return acq_fail_memory(reader->error);
    for (size_t i = 0; i < formula->n_names; i++) {
        const acq_query_name *name = i < query->n_relations
                                         ? &query->relations[i]
                                         : &query->constants[i - query->n_relations];
        formula->names[i] = acq_arena_copy_string(arena, name->text, name->length);
        if (formula->names[i] == NULL)
            return acq_fail_memory(reader->error);
    }
    return ACQ_OK;
}

static acq_status parse_formula(bench_reader *reader, const char *text, acq_bench_formula *formula)
{
    acq_error why = {0};
    size_t length = strlen(text);
    formula->text = acq_arena_copy_string(&reader->file->arena, text, length);
    formula->length = length;
    if (formula->text == NULL)
        return acq_fail_memory(reader->error);
    acq_status status = acq_query_parse_benchmark(formula->text, length, &formula->query, &why);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(reader->error);
    if (status != ACQ_OK)
        return fail_formula(reader, status, &why);
    reader->formula = formula;
    reader->query = formula->query;
    if (formula->query->n_free == 0)
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "formula %zu has no free variable; name one f1", reader->i_formula + 1);
    return list_names(reader, formula);
}

static acq_status read_formula(bench_reader *reader, const acq_json *list)
{
    acq_bench_file *file = reader->file;
    acq_bench_formula *formula = &file->formulas[file->n_formulas];
    if (list->kind != ACQ_JSON_ARRAY)
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "formula %zu: its value must be a list of instances",
                        reader->i_formula + 1);
    acq_status status = parse_formula(reader, list->name, formula);
    if (formula->query != NULL)
        file->n_formulas++;
    formula->first = file->n_instances;
    formula->n = list->n;
    reader->i_instance = 0;
    for (const acq_json *at = list->first; at != NULL && status == ACQ_OK; at = at->next) {
        status = read_instance(reader, at, &file->instances[file->n_instances++]);
        reader->i_instance++;
    }
    return status;
}

static acq_status read_atoms(bench_reader *reader, const acq_json *value)
{
    acq_atoms_reading atoms =
        value->text == NULL ? ACQ_N_ATOMS_READINGS : acq_atoms_reading_find(value->text);
    if (atoms == ACQ_N_ATOMS_READINGS)
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "member \"atoms\" must be \"written\", \"pair\" or \"ordered-pair\"");
    reader->file->atoms = atoms;
    reader->file->has_atoms = true;
    return ACQ_OK;
}

static acq_status make_room(bench_reader *reader, const acq_json *root)
{
    acq_bench_file *file = reader->file;
    size_t n_instances = 0;
    for (const acq_json *at = root->first; at != NULL; at = at->next)
        n_instances += at->kind == ACQ_JSON_ARRAY ? at->n : 0;
    file->formulas = acq_arena_zalloc(&file->arena, root->n, sizeof *file->formulas);
    file->instances = acq_arena_zalloc(&file->arena, n_instances, sizeof *file->instances);
    if (file->formulas == NULL || file->instances == NULL)
        return acq_fail_memory(reader->error);
    return ACQ_OK;
}

static acq_status read_root(bench_reader *reader, const acq_json *root)
{
    if (root->kind != ACQ_JSON_OBJECT)
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "a query file is one object that maps formulas to lists of instances; this "
                        "one is something else");
    acq_status status = make_room(reader, root);
    if (status != ACQ_OK)
        return status;
    for (const acq_json *at = root->first; at != NULL; at = at->next) {
        bool is_atoms = strcmp(at->name, atoms_key) == 0;
        status = is_atoms ? read_atoms(reader, at) : read_formula(reader, at);
        if (status != ACQ_OK)
            return status;
        reader->i_formula += !is_atoms;
    }
    if (reader->file->n_instances == 0)
        return acq_fail(reader->error, ACQ_ERR_INPUT, "the file holds no instance to evaluate");
    return ACQ_OK;
}

static acq_status load_json(const char *bytes, size_t length, acq_arena *arena,
                            const acq_json **out, acq_error *error)
{
    acq_error why = {0};
    acq_status status = acq_json_parse(bytes, length, arena, out, &why);
    if (status == ACQ_ERR_INPUT)
        return acq_fail_at(error, status, why.line, why.column, "not valid JSON: %.200s",
                           why.message);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status new_file(const char *path, acq_bench_task task, acq_bench_file **out,
                           acq_error *error)
{
    acq_bench_file *file = acq_zalloc(1, sizeof *file);
    if (file == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&file->arena);
    file->task = task;
    file->path = acq_arena_copy_string(&file->arena, path, strlen(path));
    if (file->path == NULL) {
        acq_bench_file_free(file);
        return acq_fail_memory(error);
    }
    *out = file;
    return ACQ_OK;
}

acq_status acq_bench_file_parse(const char *bytes, size_t length, const char *path,
                                acq_bench_task task, acq_bench_limits limits, acq_bench_file **out,
                                acq_error *error)
{
    const acq_json *root = NULL;
    acq_bench_file *file = NULL;
    acq_arena tree;
    acq_arena_init(&tree);
    acq_status status = new_file(path, task, &file, error);
    if (status == ACQ_OK)
        status = load_json(bytes, length, &tree, &root, error);
    if (status == ACQ_OK) {
        bench_reader reader = {.file = file, .limits = limits, .error = error};
        status = read_root(&reader, root);
    }
    acq_arena_deinit(&tree);
    if (status == ACQ_OK) {
        *out = file;
        return ACQ_OK;
    }
    acq_error_set_file(error, path);
    acq_bench_file_free(file);
    return status;
}

acq_status acq_bench_file_read(const char *path, acq_bench_task task, acq_bench_limits limits,
                               acq_bench_file **out, acq_error *error)
{
    char *bytes = NULL;
    size_t n = 0;
    acq_status status = acq_file_read(path, &bytes, &n, error);
    if (status == ACQ_OK)
        status = acq_bench_file_parse(bytes, n, path, task, limits, out, error);
    acq_free(bytes);
    return status;
}
