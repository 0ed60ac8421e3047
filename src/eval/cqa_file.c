/* cqa_file.c - see cqa.h: queries nested as BetaE does it, from JSON to trees of sets. A query
 * without a meaning is left out alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "eval/eval.h"

enum { UNION = -1, NEGATION = -2 };

typedef struct reader {
    acq_cqa_file *file;
    acq_bench_limits limits;
    acq_set_tree *tree;
    acq_error *error; /* why the present query has no meaning */
} reader;

static acq_status refuse(const reader *r, const char *why)
{
    return acq_fail(r->error, ACQ_ERR_INPUT, "%s", why);
}

static bool is_integers(const acq_json *json)
{
    if (json->kind != ACQ_JSON_ARRAY || json->n == 0)
        return false;
    for (const acq_json *at = json->first; at != NULL; at = at->next)
        if (at->kind != ACQ_JSON_INTEGER)
            return false;
    return true;
}

static const acq_json *get_last(const acq_json *json)
{
    const acq_json *last = json->first;
    while (last->next != NULL)
        last = last->next;
    return last;
}

static acq_status read_set(reader *r, const acq_json *json, acq_set_node **out);

/* [r, ...] from a set: a projection for each relation, a negation for -2. */
static acq_status read_path(reader *r, const acq_json *json, const acq_json *path,
                            acq_set_node **out)
{
    acq_status status = read_set(r, json->first, out);
    for (const acq_json *at = path->first; at != NULL && status == ACQ_OK; at = at->next) {
        bool is_not = at->integer == NEGATION;
        if (!is_not && (at->integer < 0 || at->integer >= (int64_t)r->limits.n_relations))
            return refuse(r, "a relation id that the graph lacks");
        acq_set_node *node = acq_set_tree_add(r->tree, is_not ? ACQ_SET_NOT : ACQ_SET_PROJECT,
                                              is_not ? 0 : (uint32_t)at->integer, 1);
        if (node == NULL)
            return acq_fail_memory(r->error);
        node->children[0] = *out;
        *out = node;
    }
    return status;
}

static acq_status read_list(reader *r, const acq_json *json, bool is_union, acq_set_node **out)
{
    uint32_t n = (uint32_t)(json->n - is_union), i = 0;
    acq_set_node *node = acq_set_tree_add(r->tree, is_union ? ACQ_SET_OR : ACQ_SET_AND, 0, n);
    acq_status status = node == NULL ? acq_fail_memory(r->error) : ACQ_OK;
    for (const acq_json *at = json->first; i < n && status == ACQ_OK; at = at->next)
        status = read_set(r, at, &node->children[i++]);
    *out = node;
    return status;
}

static acq_status read_set(reader *r, const acq_json *json, acq_set_node **out)
{
    if (json->kind == ACQ_JSON_INTEGER) {
        if (json->integer < 0 || json->integer >= (int64_t)r->limits.n_entities)
            return refuse(r, "an entity id that the graph lacks");
        *out = acq_set_tree_add(r->tree, ACQ_SET_ENTITY, (uint32_t)json->integer, 0);
        return *out == NULL ? acq_fail_memory(r->error) : ACQ_OK;
    }
    if (json->kind != ACQ_JSON_ARRAY || json->n < 2)
        return refuse(r, "a query is [anchor, [relation, ...]] or a list of these");
    const acq_json *last = get_last(json);
    bool has_numbers = is_integers(last);
    bool is_union = has_numbers && last->n == 1 && last->first->integer == UNION;
    if (has_numbers && !is_union && json->n == 2 &&
        (json->first->kind != ACQ_JSON_ARRAY || !is_integers(json->first)))
        return read_path(r, json, last, out);
    return read_list(r, json, is_union, out);
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent left = *(const acq_ent *)a, right = *(const acq_ent *)b;
    return (left > right) - (left < right);
}

static acq_status read_answers(reader *r, const acq_json *list, acq_ent **out, size_t *n)
{
    if (list == NULL || list->kind != ACQ_JSON_ARRAY)
        return refuse(r, "\"easy\" and \"hard\" must be lists of ids");
    *out = acq_arena_alloc(&r->file->arena, list->n, sizeof **out);
    if (*out == NULL)
        return acq_fail_memory(r->error);
    for (const acq_json *at = list->first; at != NULL; at = at->next) {
        if (at->kind != ACQ_JSON_INTEGER || at->integer < 0 ||
            at->integer >= (int64_t)r->limits.n_entities)
            return refuse(r, "an answer that is no entity of the graph");
        (*out)[(*n)++] = (acq_ent)at->integer;
    }
    if (*n > 0)
        qsort(*out, *n, sizeof **out, compare_entities);
    return ACQ_OK;
}

static acq_status read_query(reader *r, const acq_json *json, acq_cqa_query *out)
{
    const acq_json *query = acq_json_get(json, "query");
    acq_set_node *root = NULL;
    acq_cqa_query one = {0};
    if (query == NULL)
        return refuse(r, "it has no member \"query\"");
    acq_status status = read_answers(r, acq_json_get(json, "easy"), &one.easy, &one.n_easy);
    if (status == ACQ_OK)
        status = read_answers(r, acq_json_get(json, "hard"), &one.hard, &one.n_hard);
    if (status == ACQ_OK && one.n_hard == 0)
        status = refuse(r, "it has no hard answer");
    if (status == ACQ_OK)
        status = acq_set_tree_new_empty(&r->tree, r->error);
    if (status != ACQ_OK)
        return status;
    status = read_set(r, query, &root);
    if (status == ACQ_OK && root->kind == ACQ_SET_ENTITY)
        status = refuse(r, "it asks for its own anchor");
    if (status != ACQ_OK) {
        acq_set_tree_free(r->tree);
        return status;
    }
    acq_set_tree_finish(r->tree, root);
    one.tree = r->tree;
    *out = one;
    return ACQ_OK;
}

static acq_status leave_out(reader *r, const char *type, size_t number)
{
    acq_cqa_file *file = r->file;
    char text[256];
    file->n_left_out++;
    if (file->why_out == NULL) {
        int n = snprintf(text, sizeof text, "%.40s, query %zu: %.150s", type, number,
                         r->error->message);
        file->why_out = acq_arena_copy_string(&file->arena, text, (size_t)n);
    }
    *r->error = (acq_error){0};
    return file->why_out == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status read_type(reader *r, const acq_json *list)
{
    acq_cqa_file *file = r->file;
    acq_cqa_type *type = &file->types[file->n_types];
    acq_status status = ACQ_OK;
    size_t number = 1;
    *type = (acq_cqa_type){.first = file->n_queries};
    type->name = acq_arena_copy_string(&file->arena, list->name, strlen(list->name));
    if (type->name == NULL)
        return ACQ_ERR_MEMORY;
    for (const acq_json *at = list->first; at != NULL && status == ACQ_OK; at = at->next) {
        status = read_query(r, at, &file->queries[file->n_queries]);
        file->n_queries += status == ACQ_OK;
        if (status == ACQ_ERR_INPUT)
            status = leave_out(r, type->name, number);
        number++;
    }
    type->n = file->n_queries - type->first;
    file->n_types += type->n > 0;
    return status;
}

static acq_status read_root(reader *r, const acq_json *root, acq_error *error)
{
    acq_cqa_file *file = r->file;
    acq_status status = ACQ_OK;
    size_t n = 0;
    if (root->kind != ACQ_JSON_OBJECT)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "a file of queries is one object that maps types to lists of queries");
    for (const acq_json *at = root->first; at != NULL; at = at->next)
        n += at->kind == ACQ_JSON_ARRAY ? at->n : 0;
    file->types = acq_arena_zalloc(&file->arena, root->n, sizeof *file->types);
    file->queries = acq_arena_zalloc(&file->arena, n, sizeof *file->queries);
    if (file->types == NULL || file->queries == NULL)
        return acq_fail_memory(error);
    for (const acq_json *at = root->first; at != NULL && status == ACQ_OK; at = at->next)
        if (at->kind == ACQ_JSON_ARRAY)
            status = read_type(r, at);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    if (file->n_queries > 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT, "no query to rank: %s",
                    file->why_out == NULL ? "the file has none" : file->why_out);
}

acq_status acq_cqa_file_parse(const char *bytes, size_t length, acq_bench_limits limits,
                              acq_cqa_file **out, acq_error *error)
{
    acq_cqa_file *file = acq_zalloc(1, sizeof *file);
    const acq_json *root;
    acq_error why = {0};
    acq_arena tree;
    size_t n_repeated;
    if (file == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&file->arena);
    acq_arena_init(&tree);
    acq_status status = acq_json_parse_loose(bytes, length, &tree, &root, &n_repeated, error);
    reader r = {.file = file, .limits = limits, .error = &why};
    if (status == ACQ_OK)
        status = read_root(&r, root, error);
    acq_arena_deinit(&tree);
    if (status == ACQ_OK)
        *out = file;
    else
        acq_cqa_file_free(file);
    return status;
}

acq_status acq_cqa_file_read(const char *path, acq_bench_limits limits, acq_cqa_file **out,
                             acq_error *error)
{
    char *bytes = NULL;
    size_t n = 0;
    acq_status status = acq_file_read(path, &bytes, &n, error);
    if (status == ACQ_OK)
        status = acq_cqa_file_parse(bytes, n, limits, out, error);
    if (status != ACQ_OK)
        acq_error_set_file(error, path);
    acq_free(bytes);
    return status;
}

void acq_cqa_file_free(acq_cqa_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < file->n_queries; i++)
        acq_set_tree_free(file->queries[i].tree);
    acq_arena_deinit(&file->arena);
    acq_free(file);
}
