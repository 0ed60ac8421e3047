/* values.c - see values.h. */
#include "engine/values.h"

#include <stdio.h>
#include <string.h>

/* "x, y, z", cut with an ellipsis when the buffer is too small. */
static void list_free_variables(const acq_query *query, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < query->n_free; i++) {
        const acq_query_name *name = &query->variables[i];
        if (used + name->length + 8 > size) {
            snprintf(buffer + used, size - used, ", ...");
            return;
        }
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", i == 0 ? "" : ", ", name->text);
    }
}

static acq_status fail_count(const acq_query *query, size_t n_names, acq_error *error)
{
    char list[256];
    list_free_variables(query, list, sizeof list);
    if (query->n_free == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the query has no free variable and takes no value, but %zu %s given",
                        n_names, n_names == 1 ? "was" : "were");
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the query has %u free variable%s (%s), but %zu value%s %s given",
                    query->n_free, query->n_free == 1 ? "" : "s", list, n_names,
                    n_names == 1 ? "" : "s", n_names == 1 ? "was" : "were");
}

static acq_status fail_unknown(const acq_query *query, uint32_t i, const acq_graph *graph,
                               const char *name, acq_error *error)
{
    const char *near = acq_graph_suggest_entity(graph, name, strlen(name));
    acq_status failed = acq_graph_get_failure(graph, error);
    if (failed != ACQ_OK)
        return failed;
    if (near == NULL)
        return acq_fail(error, ACQ_ERR_NAME, "no entity \"%.160s\" for %.60s in this graph", name,
                        query->variables[i].text);
    return acq_fail(error, ACQ_ERR_NAME,
                    "no entity \"%.160s\" for %.60s in this graph; did you mean \"%.160s\"?", name,
                    query->variables[i].text, near);
}

/* A value is a name as it stands, or in brackets as queries have it. */
static acq_ent find_value(const acq_graph *graph, const char *name)
{
    size_t length = strlen(name);
    acq_ent found = acq_graph_find_entity(graph, name, length);
    bool has_brackets = length > 2 && name[0] == '<' && name[length - 1] == '>';
    return found == ACQ_NO_ID && has_brackets ? acq_graph_find_entity(graph, name + 1, length - 2)
                                              : found;
}

acq_status acq_values_find(const acq_query *query, const acq_graph *graph, const char *const *names,
                           size_t n_names, acq_ent *out, acq_error *error)
{
    if (n_names != query->n_free)
        return fail_count(query, n_names, error);
    for (uint32_t i = 0; i < query->n_free; i++) {
        out[i] = find_value(graph, names[i]);
        if (out[i] == ACQ_NO_ID)
            return fail_unknown(query, i, graph, names[i], error);
    }
    return ACQ_OK;
}
