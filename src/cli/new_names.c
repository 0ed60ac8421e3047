/* new_names.c - see new_names.h. */
#include "cli/new_names.h"

#include <string.h>

#include "cli/options.h"

static bool is_listed(const acq_new_names *names, const char *name, bool is_relation)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->items[i].is_relation == is_relation && strcmp(names->items[i].name, name) == 0)
            return true;
    }
    return false;
}

/* A suggestion answers "what else could it be"; here the question is whether it is a slip, so
 * what is only the least far away does not count. */
static const char *find_near(const acq_graph *graph, const char *name, size_t length,
                             bool is_relation)
{
    acq_nearest nearest;
    const char *known = is_relation ? acq_graph_suggest_relation(graph, name, length)
                                    : acq_graph_suggest_entity(graph, name, length);
    acq_nearest_init(&nearest, name);
    if (known != NULL)
        acq_nearest_offer(&nearest, known);
    return nearest.best;
}

static void look_at(acq_new_names *names, const acq_graph *graph, const char *name,
                    bool is_relation)
{
    size_t length = strlen(name);
    uint32_t id = is_relation ? acq_graph_find_relation(graph, name, length)
                              : acq_graph_find_entity(graph, name, length);
    if (id != ACQ_NO_ID || names->n == ACQ_MOST_NEW_NAMES || is_listed(names, name, is_relation))
        return;
    const char *near = NULL;
    if (names->n < ACQ_MOST_NEAR_NAMES)
        near = find_near(graph, name, length, is_relation);
    names->items[names->n++] = (acq_new_name){name, near, is_relation};
}

void acq_new_names_find(acq_new_names *names, const acq_graph *graph, const acq_store_fact *facts,
                        size_t n)
{
    names->n = 0;
    for (size_t i = 0; i < n && names->n < ACQ_MOST_NEW_NAMES; i++) {
        look_at(names, graph, facts[i].head, false);
        look_at(names, graph, facts[i].relation, true);
        look_at(names, graph, facts[i].tail, false);
    }
    if (acq_graph_get_failure(graph, NULL) != ACQ_OK)
        names->n = 0;
}
