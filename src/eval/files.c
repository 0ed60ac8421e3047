/* files.c - a query file as a whole: reading, the list of formulas, their instances. */
#include "eval/files.h"

#include <string.h>

#include "base/memory.h"
#include "eval/instances.h"
#include "base/file.h"
#include "query/benchmark/parse.h"

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
static acq_status fail_formula(const acq_bench_reader *reader, acq_status status,
                               const acq_error *why)
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

static acq_status parse_formula(acq_bench_reader *reader, const char *text,
                                acq_bench_formula *formula)
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

static acq_status read_formula(acq_bench_reader *reader, const char *text, const json_t *list)
{
    acq_bench_file *file = reader->file;
    acq_bench_formula *formula = &file->formulas[file->n_formulas];
    if (!json_is_array(list))
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "formula %zu: its value must be a list of instances",
                        reader->i_formula + 1);
    acq_status status = parse_formula(reader, text, formula);
    if (formula->query != NULL)
        file->n_formulas++;
    formula->first = file->n_instances;
    formula->n = json_array_size(list);
    for (size_t i = 0; i < formula->n && status == ACQ_OK; i++) {
        reader->i_instance = i;
        status = acq_bench_read_instance(reader, json_array_get(list, i),
                                         &file->instances[file->n_instances++]);
    }
    return status;
}

static acq_status read_atoms(acq_bench_reader *reader, const json_t *value)
{
    const char *name = json_string_value(value);
    acq_atoms_reading atoms = name == NULL ? ACQ_N_ATOMS_READINGS : acq_atoms_reading_find(name);
    if (atoms == ACQ_N_ATOMS_READINGS)
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "member \"atoms\" must be \"written\", \"pair\" or \"ordered-pair\"");
    reader->file->atoms = atoms;
    reader->file->has_atoms = true;
    return ACQ_OK;
}

static acq_status make_room(acq_bench_reader *reader, const json_t *root)
{
    acq_bench_file *file = reader->file;
    size_t n_instances = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)root, key, value) n_instances += json_array_size(value);
    file->formulas = acq_arena_zalloc(&file->arena, json_object_size(root), sizeof *file->formulas);
    file->instances = acq_arena_zalloc(&file->arena, n_instances, sizeof *file->instances);
    if (file->formulas == NULL || file->instances == NULL)
        return acq_fail_memory(reader->error);
    return ACQ_OK;
}

static acq_status read_root(acq_bench_reader *reader, const json_t *root)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return acq_fail(reader->error, ACQ_ERR_INPUT,
                        "a query file is one object that maps formulas to lists of instances; this "
                        "one is something else");
    acq_status status = make_room(reader, root);
    if (status != ACQ_OK)
        return status;
    json_object_foreach((json_t *)root, key, value)
    {
        bool is_atoms = strcmp(key, atoms_key) == 0;
        status = is_atoms ? read_atoms(reader, value) : read_formula(reader, key, value);
        if (status != ACQ_OK)
            return status;
        reader->i_formula += !is_atoms;
    }
    if (reader->file->n_instances == 0)
        return acq_fail(reader->error, ACQ_ERR_INPUT, "the file holds no instance to evaluate");
    return ACQ_OK;
}

static acq_status load_json(const char *bytes, size_t length, json_t **out, acq_error *error)
{
    json_error_t why;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL && json_error_code(&why) == json_error_out_of_memory)
        return acq_fail_memory(error);
    if (root == NULL)
        return acq_fail_at(error, ACQ_ERR_INPUT, (size_t)(why.line > 0 ? why.line : 0),
                           (size_t)(why.column > 0 ? why.column : 0), "not valid JSON: %.200s",
                           why.text);
    *out = root;
    return ACQ_OK;
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
    json_t *root = NULL;
    acq_bench_file *file = NULL;
    acq_status status = new_file(path, task, &file, error);
    if (status == ACQ_OK)
        status = load_json(bytes, length, &root, error);
    if (status == ACQ_OK) {
        acq_bench_reader reader = {.file = file, .limits = limits, .error = error};
        status = read_root(&reader, root);
    }
    json_decref(root);
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
