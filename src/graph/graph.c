/* graph.c - what a finished graph answers; see graph.h. Build with build.c or read.c. */
#include "graph/parts.h"

#include "base/memory.h"
#include "graph/build.h"
#include "graph/hash.h"

uint32_t acq_graph_get_n_entities(const acq_graph *graph)
{
    return graph->n_entities;
}

uint32_t acq_graph_get_n_relations(const acq_graph *graph)
{
    return graph->n_relations;
}

uint64_t acq_graph_get_n_facts(const acq_graph *graph)
{
    return graph->n_facts;
}

const char *acq_graph_get_entity_name(const acq_graph *graph, acq_ent entity)
{
    const char *name = acq_names_get(&graph->entities, entity);
    return name == NULL ? "" : name;
}

const char *acq_graph_get_relation_name(const acq_graph *graph, acq_rel relation)
{
    const char *name = acq_names_get(&graph->relations, relation);
    if (name == NULL)
        name = acq_names_get(&graph->relations, acq_inverse(relation));
    return name == NULL ? "" : name;
}

bool acq_graph_is_named(const acq_graph *graph, acq_rel relation)
{
    return acq_names_get(&graph->relations, relation) != NULL;
}

acq_ent acq_graph_find_entity(const acq_graph *graph, const char *name, size_t length)
{
    return acq_names_find(&graph->entities, name, length);
}

acq_rel acq_graph_find_relation(const acq_graph *graph, const char *name, size_t length)
{
    return acq_names_find(&graph->relations, name, length);
}

acq_status acq_graph_open_links(const acq_graph *graph, acq_rel relation, const acq_links **out,
                                acq_error *error)
{
    if (relation >= graph->n_relations)
        return acq_fail(error, ACQ_ERR_USAGE, "relation id %u is unknown: the graph has %u",
                        relation, graph->n_relations);
    *out = graph->links[relation];
    return ACQ_OK;
}

bool acq_graph_has_fact(const acq_graph *graph, acq_ent head, acq_rel relation, acq_ent tail)
{
    const acq_links *links = NULL;
    if (head >= graph->n_entities || tail >= graph->n_entities)
        return false;
    if (acq_graph_open_links(graph, relation, &links, NULL) != ACQ_OK)
        return false;
    acq_row row = acq_links_get_row(links, head);
    return acq_row_find(row, tail) < row.n;
}

uint64_t acq_graph_get_dictionary_fingerprint(const acq_graph *graph)
{
    return graph->dictionary_fingerprint;
}

uint64_t acq_graph_get_fingerprint(const acq_graph *graph)
{
    return graph->fingerprint;
}

uint64_t acq_graph_hash_links(acq_rel relation, const acq_links *links)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        uint64_t seed = acq_hash_word((uint64_t)relation + 1, links->heads[i]);
        for (uint32_t j = links->offsets[i]; j < links->offsets[i + 1]; j++)
            sum += acq_random_mix(acq_hash_word(seed, links->tails[j]));
    }
    return sum;
}

void acq_graph_free(acq_graph *graph)
{
    if (graph == NULL)
        return;
    for (uint32_t r = 0; graph->links != NULL && r < graph->n_relations; r++)
        acq_links_free(graph->links[r]);
    acq_free(graph->links);
    acq_names_deinit(&graph->entities);
    acq_names_deinit(&graph->relations);
    acq_free(graph);
}
