/* terms.c - see evaluate.h. */
#include "sparql/evaluate.h"

#include <string.h>

#include "base/memory.h"
#include "query/query.h"

acq_status acq_terms_init(acq_terms *terms, const acq_graph *graph)
{
    size_t n = acq_graph_get_n_relations(graph);
    *terms = (acq_terms){.graph = graph,
                         .n_entities = acq_graph_get_n_entities(graph),
                         .is_plain = !acq_graph_is_rdf(graph),
                         .relations = acq_alloc(n, sizeof *terms->relations)};
    acq_names_init(&terms->extra);
    if (terms->relations == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        terms->relations[i] = ACQ_NO_ID;
    return ACQ_OK;
}

void acq_terms_deinit(acq_terms *terms)
{
    acq_names_deinit(&terms->extra);
    acq_free(terms->relations);
    *terms = (acq_terms){0};
}

acq_status acq_terms_add(acq_terms *terms, const char *key, size_t length, bool is_literal,
                         uint32_t *out)
{
    acq_ent entity = ACQ_NO_ID;
    acq_status status = ACQ_OK;
    uint32_t id;
    if (!terms->is_plain || !is_literal)
        entity = acq_query_find_key(terms->graph, key, length);
    if (status == ACQ_OK && entity == ACQ_NO_ID) {
        id = acq_names_find(&terms->extra, key, length);
        if (id == ACQ_NO_ID)
            status = acq_names_add(&terms->extra, key, length, 1, &id);
        if (status == ACQ_OK && id >= ACQ_NO_ID - terms->n_entities)
            status = ACQ_ERR_LIMIT;
        entity = status == ACQ_OK ? terms->n_entities + id : ACQ_NO_ID;
    }
    *out = entity;
    return status;
}

acq_status acq_terms_add_relation(acq_terms *terms, acq_rel relation, uint32_t *out)
{
    acq_status status = ACQ_OK;
    if (terms->relations[relation] == ACQ_NO_ID) {
        const char *key = acq_graph_get_relation_key(terms->graph, relation);
        status = acq_terms_add(terms, key, strlen(key), false, &terms->relations[relation]);
    }
    *out = terms->relations[relation];
    return status;
}

acq_rel acq_terms_get_relation(const acq_terms *terms, uint32_t term)
{
    const char *key = acq_terms_get_key(terms, term);
    acq_rel relation = acq_query_find_relation_key(terms->graph, key, strlen(key));
    return relation != ACQ_NO_ID && acq_graph_is_named(terms->graph, relation) ? relation
                                                                               : ACQ_NO_ID;
}

const char *acq_terms_get_key(const acq_terms *terms, uint32_t term)
{
    if (term < terms->n_entities)
        return acq_graph_get_entity_key(terms->graph, term);
    return acq_names_get(&terms->extra, term - terms->n_entities);
}

acq_value acq_terms_get_value(const acq_terms *terms, acq_value_room *room, uint32_t term)
{
    return acq_value_of_key(room, acq_terms_get_key(terms, term),
                            terms->is_plain && term < terms->n_entities);
}
