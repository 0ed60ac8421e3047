/* files.c - a query file as a whole: reading, the list of formulas, their instances.
 *
 * What has no meaning costs itself: an instance, or a formula with its instances. Only a file
 * that is no JSON object, names a reading that does not exist, or has no instance left is refused. */
#include "eval/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "query/query.h"

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
static acq_status fail_formula(const acq_bench_reader *reader, acq_status status, const acq_error *why)
{
    return acq_fail_at(reader->error, status, 0, 0, "formula %zu, character %zu: %.400s",
                       reader->i_formula + 1, why->column, why->message);
}

static acq_status list_names(const acq_bench_reader *reader, acq_bench_formula *formula)
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

static acq_status parse_formula(acq_bench_reader *reader, const char *text, acq_bench_formula *formula)
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

/* What has no meaning is left out: n instances, for the reason in reader->error. Any other failure
 * stays one. */
static acq_status leave_out(acq_bench_reader *reader, acq_status status, size_t n)
{
    acq_bench_dirt *dirt = &reader->file->dirt;
    if (status == ACQ_OK || status == ACQ_ERR_MEMORY)
        return status;
    dirt->n_left_out += n;
    const char *why = reader->error->message;
    if (dirt->why_out == NULL && n > 0)
        dirt->why_out = acq_arena_copy_string(&reader->file->arena, why, strlen(why));
    *reader->error = (acq_error){0};
    return dirt->why_out == NULL && n > 0 ? acq_fail_memory(reader->error) : ACQ_OK;
}

static acq_status read_instances(acq_bench_reader *reader, acq_bench_formula *formula,
                                 const acq_json *list)
{
    acq_bench_file *file = reader->file;
    acq_status status = ACQ_OK;
    formula->first = file->n_instances;
    reader->i_instance = 0;
    for (const acq_json *at = list->first; at != NULL && status == ACQ_OK; at = at->next) {
        status = acq_bench_read_instance(reader, at, &file->instances[file->n_instances]);
        file->n_instances += status == ACQ_OK;
        status = leave_out(reader, status, 1);
        reader->i_instance++;
    }
    formula->n = file->n_instances - formula->first;
    return status;
}

static acq_status read_formula(acq_bench_reader *reader, const acq_json *list)
{
    acq_bench_file *file = reader->file;
    acq_bench_formula *formula = &file->formulas[file->n_formulas];
    bool is_list = list->kind == ACQ_JSON_ARRAY;
    reader->i_written = file->n_formulas;
    acq_status status = is_list
                            ? parse_formula(reader, list->name, formula)
                            : acq_fail(reader->error, ACQ_ERR_INPUT,
                                       "formula %zu: its value must be a list of instances",
                                       reader->i_formula + 1);
    if (status == ACQ_OK) {
        formula->number = reader->i_formula + 1;
        file->n_formulas++;
        return read_instances(reader, formula, list);
    }
    acq_query_free(formula->query);
    *formula = (acq_bench_formula){0};
    return leave_out(reader, status, is_list ? list->n : 1);
}

static acq_status read_atoms(acq_bench_reader *reader, const acq_json *value)
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

static acq_status make_room(acq_bench_reader *reader, const acq_json *root)
{
    acq_bench_file *file = reader->file;
    size_t n_instances = 0;
    for (const acq_json *at = root->first; at != NULL; at = at->next)
        n_instances += at->kind == ACQ_JSON_ARRAY ? at->n : 0; /* at most */
    file->formulas = acq_arena_zalloc(&file->arena, root->n, sizeof *file->formulas);
    file->instances = acq_arena_zalloc(&file->arena, n_instances, sizeof *file->instances);
    if (file->formulas == NULL || file->instances == NULL)
        return acq_fail_memory(reader->error);
    return ACQ_OK;
}

static uint64_t hash_tuples(const acq_bench_tuples *tuples, uint32_t n_free, uint64_t seed)
{
    return acq_hash_bytes(tuples->values, tuples->n * n_free * sizeof(acq_ent), seed);
}

static uint64_t hash_instance(const acq_bench_file *file, const acq_bench_instance *instance)
{
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    uint32_t n_free = formula->query->n_free;
    uint64_t hash = acq_random_mix(((uint64_t)instance->formula << 8) + (uint8_t)instance->type);
    hash = acq_hash_bytes(instance->ids, formula->n_names * sizeof *instance->ids, hash);
    return hash_tuples(&instance->wrong, n_free, hash_tuples(&instance->correct, n_free, hash));
}

static int compare_hashes(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static acq_status count_repeated(acq_bench_file *file, acq_error *error)
{
    uint64_t *hashes = acq_alloc(file->n_instances, sizeof *hashes);
    if (hashes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < file->n_instances; i++)
        hashes[i] = hash_instance(file, &file->instances[i]);
    qsort(hashes, file->n_instances, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < file->n_instances; i++)
        file->dirt.n_repeated += hashes[i - 1] == hashes[i];
    acq_free(hashes);
    return ACQ_OK;
}

static acq_status check_left(const acq_bench_file *file, acq_error *error)
{
    const acq_bench_dirt *dirt = &file->dirt;
    if (file->n_instances > 0)
        return ACQ_OK;
    if (dirt->why_out != NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "%s%s", dirt->why_out,
                        dirt->n_left_out > 1 ? "; no other instance can be read either" : "");
    return acq_fail(error, ACQ_ERR_INPUT, "the file holds no instance to evaluate");
}

static acq_status read_root(acq_bench_reader *reader, const acq_json *root)
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
    status = check_left(reader->file, reader->error);
    return status == ACQ_OK ? count_repeated(reader->file, reader->error) : status;
}

/* The instances of a formula leave the list; those behind it move up. */
static void drop_instances(acq_bench_file *file, size_t i_formula)
{
    acq_bench_formula *formula = &file->formulas[i_formula];
    size_t end = formula->first + formula->n;
    memmove(file->instances + formula->first, file->instances + end,
            (file->n_instances - end) * sizeof *file->instances);
    file->n_instances -= formula->n;
    for (size_t i = i_formula + 1; i < file->n_formulas; i++)
        file->formulas[i].first -= formula->n;
    formula->n = 0;
}

acq_status acq_bench_file_keep_readable(acq_bench_file *file, acq_atoms_reading reading,
                                        acq_error *error)
{
    acq_error why = {0};
    acq_bench_reader reader = {.file = file, .error = &why};
    for (size_t i = 0; i < file->n_formulas; i++) {
        acq_error here = {0};
        acq_bench_formula *formula = &file->formulas[i];
        acq_status status = acq_query_check_reading(formula->query, reading, &here);
        if (status == ACQ_OK)
            continue;
        reader.i_formula = formula->number - 1;
        fail_formula(&reader, status, &here);
        if (leave_out(&reader, status, formula->n) != ACQ_OK)
            return acq_fail_memory(error);
        drop_instances(file, i);
    }
    acq_status status = check_left(file, error);
    acq_error_set_file(error, file->path);
    return status;
}

static acq_status load_json(const char *bytes, size_t length, acq_arena *arena,
                            const acq_json **out, size_t *n_replaced, acq_error *error)
{
    acq_error why = {0};
    acq_status status = acq_json_parse_loose(bytes, length, arena, out, n_replaced, &why);
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
        status = load_json(bytes, length, &tree, &root, &file->dirt.n_replaced, error);
    if (status == ACQ_OK) {
        acq_error why = {0};
        acq_bench_reader reader = {.file = file, .limits = limits, .error = &why};
        status = read_root(&reader, root);
        if (status != ACQ_OK)
            acq_fail_at(error, status, why.line, why.column, "%s", why.message);
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
