/* query.c - queries: parsed, and their names looked up in a graph. */
#include "library/parts.h"

#include <string.h>

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
    acq_status status =
        acq_graph_each_name(graph, "\"", 1, stop_at_first, &has_literals, error);
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
