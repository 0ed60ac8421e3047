/* query.c - queries: parsed, and their names looked up in a graph. */
#include "library/parts.h"

#include <string.h>

#include "eval/files.h"
#include "query/print.h"
#include "query/query.h"

static bool stop_at_first(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)entity;
    (void)name;
    (void)length;
    *(bool *)context = true;
    return false;
}

acq_status acq_library_check_values(const acq_query *query, const acq_graph *graph,
                                    acq_error *error)
{
    bool has_literals = false;
    if (!query->is_compared || !acq_graph_is_rdf(graph))
        return ACQ_OK;
    acq_status status = acq_graph_each_name(graph, "\"", 1, stop_at_first, &has_literals, error);
    if (status != ACQ_OK || !has_literals)
        return status;
    return acq_fail(error, ACQ_ERR_PARSE,
                    "comparing two variables has no formula where the graph has literals; use "
                    "sameTerm, or ask");
}

acq_status acq_query_new(const acq_graph *graph, const char *text, acq_query **out,
                         acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(text, error);
    ACQ_REQUIRE(out, error);
    acq_query *query;
    acq_status status = acq_query_parse(text, strlen(text), &query, error);
    if (status != ACQ_OK)
        return status;
    char hint[512] = "";
    status = acq_query_bind(query, graph, hint, sizeof hint, error);
    if (status == ACQ_OK)
        status = acq_library_check_values(query, graph, error);
    if (status == ACQ_OK && hint[0] != '\0') {
        query->hint = acq_arena_copy_string(&query->arena, hint, strlen(hint));
        status = query->hint == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    if (status != ACQ_OK) {
        acq_query_free(query);
        return status;
    }
    *out = query;
    return ACQ_OK;
}

size_t acq_query_get_n_variables(const acq_query *query)
{
    return query == NULL ? 0 : query->n_variables;
}

size_t acq_query_get_n_free(const acq_query *query)
{
    return query == NULL ? 0 : query->n_free;
}

const char *acq_query_get_variable(const acq_query *query, size_t i)
{
    return query != NULL && i < query->n_variables ? query->variables[i].text : NULL;
}

uint64_t acq_query_get_limit(const acq_query *query)
{
    return query == NULL ? 0 : query->limit;
}

bool acq_query_needs_solve(const acq_query *query)
{
    return query != NULL && query->may_repeat;
}

const char *acq_query_get_hint(const acq_query *query)
{
    return query == NULL || query->hint == NULL ? "" : query->hint;
}

size_t acq_query_get_n_atoms(const acq_query *query)
{
    return query == NULL ? 0 : query->n_atoms;
}

/* Atoms that are still to be passed before the one that is looked for. */
typedef struct atom_walk {
    size_t n_left;
    const acq_node *atom;
    bool is_negated;
} atom_walk;

static bool walk_to_atom(const acq_node *node, bool is_negated, atom_walk *walk)
{
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL) {
        walk->atom = node;
        walk->is_negated = is_negated;
        return walk->n_left-- == 0;
    }
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (walk_to_atom(node->children[i], is_negated ^ (node->kind == ACQ_NODE_NOT), walk))
            return true;
    }
    return false;
}

static void read_term(const acq_query *query, acq_term term, acq_ent *entity, size_t *variable)
{
    *entity = term.is_variable ? ACQ_NO_ID : query->constants[term.id].id;
    *variable = term.is_variable ? term.id : SIZE_MAX;
}

static acq_query_atom make_atom(const acq_query *query, const acq_node *condition,
                                const atom_walk *walk)
{
    const acq_node *atom = walk->atom;
    bool is_denial = condition->kind == ACQ_NODE_NOT && condition->children[0] == atom;
    acq_query_atom made = {
        .is_alone = condition == atom || is_denial,
        .is_negated = walk->is_negated,
        .relation = atom->kind == ACQ_NODE_EQUAL ? ACQ_NO_ID : query->relations[atom->relation].id};
    read_term(query, atom->left, &made.head, &made.head_variable);
    read_term(query, atom->right, &made.tail, &made.tail_variable);
    return made;
}

bool acq_query_get_atom(const acq_query *query, size_t i, acq_query_atom *out)
{
    if (query == NULL || out == NULL)
        return false;
    atom_walk walk = {.n_left = i};
    bool is_and = query->root->kind == ACQ_NODE_AND;
    acq_node *const *conditions = is_and ? query->root->children : &query->root;
    for (size_t c = 0; c < (is_and ? query->root->n_children : 1); c++) {
        if (!walk_to_atom(conditions[c], false, &walk))
            continue;
        acq_query_atom made = make_atom(query, conditions[c], &walk);
        made.condition = c;
        acq_sized_fill(out, &made, sizeof made);
        return true;
    }
    return false;
}

acq_status acq_library_check_graph(const char *function, const acq_query *query,
                                   const acq_predictor *predictor, acq_error *error)
{
    if (query->graph == predictor->graph)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "%s: the query and the predictor are of different graphs; make both with the "
                    "graph of one acq_graph_open",
                    function);
}

/* ---- sql ----
 *
 * Queries as SQL statements (query/print.h), for programs.
 *
 * No graph is read: names stay names. Instances of a benchmark file are grounded in integer ids, so
 * their statements run on tables of ids. */

typedef struct reader {
    acq_put_fn put;
    void *context;
} reader;

/* One line: line ends, which only names may hold, become spaces. */
static acq_status put_statement(const reader *to, acq_text *statement, acq_error *error)
{
    for (size_t i = 0; i < statement->length; i++)
        if (statement->bytes[i] == '\n')
            statement->bytes[i] = ' ';
    acq_text_add(statement, ";\n");
    acq_status status = acq_text_finish(statement, error);
    return status == ACQ_OK ? to->put(to->context, statement->bytes, statement->length, error)
                            : status;
}

static acq_status put_query(const reader *to, const acq_query *query, bool use_ids,
                            acq_error *error)
{
    acq_sql_params params = ACQ_SQL_DEFAULT;
    params.use_ids = use_ids;
    acq_text statement;
    acq_text_init(&statement);
    acq_status status = acq_query_print_sql(query, &params, &statement, error);
    if (status == ACQ_OK)
        status = put_statement(to, &statement, error);
    acq_text_deinit(&statement);
    return status;
}

acq_status acq_sql_translate(const char *query, acq_put_fn put, void *context, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(put, error);
    acq_query *parsed;
    acq_status status = acq_query_parse(query, strlen(query), &parsed, error);
    if (status != ACQ_OK)
        return status;
    status = put_query(&(reader){put, context}, parsed, false, error);
    acq_query_free(parsed);
    return status;
}

static acq_status put_instance(const reader *to, const acq_bench_file *file,
                               const acq_bench_instance *instance, acq_error *error)
{
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    acq_status status = acq_query_ground_pairs(formula->query, formula->names, instance->ids,
                                               formula->n_names, error);
    return status == ACQ_OK ? put_query(to, formula->query, true, error) : status;
}

/* The two kinds of files differ in what an instance holds: the one that its name promises is
 * tried first, and its error counts when neither fits. */
static acq_status read_benchmark(const char *path, acq_bench_file **out, acq_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    bool is_retrieval = strncmp(name, "qar", 3) == 0;
    acq_bench_limits any = {.n_entities = UINT32_MAX, .n_relations = UINT32_MAX};
    acq_bench_task likely = is_retrieval ? ACQ_TASK_QAR : ACQ_TASK_QAC;
    acq_bench_task other = is_retrieval ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    acq_error first = {0};
    acq_status status = acq_bench_file_read(path, likely, any, out, &first);
    if (status != ACQ_OK && status != ACQ_ERR_IO && status != ACQ_ERR_MEMORY &&
        acq_bench_file_read(path, other, any, out, NULL) == ACQ_OK)
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL && error->code == ACQ_OK)
        *error = first;
    return status;
}

acq_status acq_sql_translate_file(const char *path, uint64_t first, acq_put_fn put, void *context,
                                  acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(put, error);
    acq_bench_file *file;
    acq_status status = read_benchmark(path, &file, error);
    if (status != ACQ_OK)
        return status;
    size_t n = first > 0 && first < file->n_instances ? (size_t)first : file->n_instances;
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        status = put_instance(&(reader){put, context}, file, &file->instances[i], error);
    acq_bench_file_free(file);
    return status;
}
