/* graph.c - what a finished graph answers; see graph.h. Build with build.c or read.c. */
#include "graph/parts.h"

#include <stdlib.h>
#include <string.h>
#include <uninorm.h>

#include "base/memory.h"
#include "graph/build.h"

enum { FORM_ROOM = 1024 }; /* bytes of a name in another normal form, without a malloc */

/* Stands for a name that a stored graph could not read. */
static const char UNREADABLE[] = "(unreadable)";

uint32_t acq_graph_get_n_entities(const acq_graph *graph)
{
    return graph == NULL ? 0 : graph->n_entities;
}

uint32_t acq_graph_get_n_relations(const acq_graph *graph)
{
    return graph == NULL ? 0 : graph->n_relations;
}

uint64_t acq_graph_get_n_facts(const acq_graph *graph)
{
    return graph == NULL ? 0 : graph->n_facts;
}

acq_graph *acq_graph_new_empty(void)
{
    acq_graph *graph = acq_zalloc(1, sizeof *graph);
    if (graph != NULL && pthread_mutex_init(&graph->lock, NULL) != 0) {
        acq_free(graph);
        return NULL;
    }
    return graph;
}

acq_status acq_graph_new_stored(acq_stored_graph *stored, acq_graph **out)
{
    acq_graph *graph = acq_graph_new_empty();
    if (graph == NULL) {
        stored->ops->free(stored->self);
        acq_names_deinit(&stored->relations);
        acq_names_deinit(&stored->relation_labels);
        return ACQ_ERR_MEMORY;
    }
    graph->ops = stored->ops;
    graph->self = stored->self;
    graph->relations = stored->relations;
    graph->relation_labels = stored->relation_labels;
    graph->n_entities = stored->n_entities;
    graph->n_relations = stored->n_relations;
    graph->n_facts = stored->n_facts;
    graph->is_rdf = stored->is_rdf;
    graph->sums = stored->sums;
    *out = graph;
    return ACQ_OK;
}

/* Not part of what a graph means, so a constant graph may remember it. */
void acq_graph_set_failure(const acq_graph *graph, const acq_error *failure)
{
    acq_graph *changed = (acq_graph *)graph;
    pthread_mutex_lock(&changed->lock);
    if (changed->failure.code == ACQ_OK)
        changed->failure = *failure;
    pthread_mutex_unlock(&changed->lock);
}

acq_status acq_graph_get_failure(const acq_graph *graph, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    pthread_mutex_t *lock = &((acq_graph *)graph)->lock;
    pthread_mutex_lock(lock);
    acq_error failure = graph->failure;
    pthread_mutex_unlock(lock);
    if (failure.code == ACQ_OK)
        return ACQ_OK;
    acq_fail_at(error, failure.code, failure.line, failure.column, "%s", failure.message);
    acq_error_set_file(error, failure.file);
    return failure.code;
}

bool acq_graph_is_rdf(const acq_graph *graph)
{
    return graph != NULL && graph->is_rdf;
}

static const char *read_stored_name(const acq_graph *graph, acq_ent entity, bool is_shown)
{
    acq_error error = {0};
    const char *name = NULL;
    if (graph->ops->read_name(graph->self, entity, is_shown, &name, &error) == ACQ_OK)
        return name;
    acq_graph_set_failure(graph, &error);
    return UNREADABLE;
}

/* The label where there is one, else the key; NULL when there is neither. */
static const char *shown_name(const acq_names *labels, const acq_names *keys, uint32_t id)
{
    const char *label = acq_names_get(labels, id);
    return label == NULL ? acq_names_get(keys, id) : label;
}

const char *acq_graph_get_entity_name(const acq_graph *graph, acq_ent entity)
{
    if (graph == NULL || entity >= graph->n_entities)
        return "";
    if (graph->ops != NULL)
        return read_stored_name(graph, entity, true);
    const char *name = shown_name(&graph->entity_labels, &graph->entities, entity);
    return name == NULL ? "" : name;
}

const char *acq_graph_get_entity_key(const acq_graph *graph, acq_ent entity)
{
    if (graph == NULL || entity >= graph->n_entities)
        return "";
    if (graph->ops != NULL)
        return read_stored_name(graph, entity, false);
    const char *name = acq_names_get(&graph->entities, entity);
    return name == NULL ? "" : name;
}

const char *acq_graph_get_relation_name(const acq_graph *graph, acq_rel relation)
{
    if (graph == NULL || relation >= graph->n_relations)
        return "";
    const char *name = shown_name(&graph->relation_labels, &graph->relations, relation);
    if (name == NULL)
        name = shown_name(&graph->relation_labels, &graph->relations, acq_inverse(relation));
    return name == NULL ? "" : name;
}

const char *acq_graph_get_relation_key(const acq_graph *graph, acq_rel relation)
{
    if (graph == NULL || relation >= graph->n_relations)
        return "";
    const char *name = acq_names_get(&graph->relations, relation);
    if (name == NULL)
        name = acq_names_get(&graph->relations, acq_inverse(relation));
    return name == NULL ? "" : name;
}

bool acq_graph_is_named(const acq_graph *graph, acq_rel relation)
{
    return graph != NULL && acq_names_get(&graph->relations, relation) != NULL;
}

/* Looks a name up as it is spelled. */
typedef uint32_t (*find_fn)(const void *where, const char *name, size_t length);

/* Then in the normal forms: composed, as most texts have it, and decomposed, as some systems write
 * it. Names are kept as the files spell them. */
static uint32_t find_any_form(find_fn find, const void *where, const char *name, size_t length)
{
    const uninorm_t forms[] = {UNINORM_NFC, UNINORM_NFD};
    if (where == NULL || name == NULL)
        return ACQ_NO_ID;
    uint32_t found = find(where, name, length);
    size_t n_ascii = 0;
    while (n_ascii < length && (unsigned char)name[n_ascii] < 0x80)
        n_ascii++;
    for (size_t i = 0; found == ACQ_NO_ID && n_ascii < length && i < 2; i++) {
        uint8_t room[FORM_ROOM];
        size_t n = sizeof room;
        uint8_t *form = u8_normalize(forms[i], (const uint8_t *)name, length, room, &n);
        if (form != NULL)
            found = find(where, (const char *)form, n);
        if (form != room)
            free(form);
    }
    return found;
}

static uint32_t find_entity(const void *where, const char *name, size_t length)
{
    const acq_graph *graph = where;
    acq_ent found = ACQ_NO_ID;
    if (graph->ops == NULL) {
        found = acq_names_find(&graph->entities, name, length);
        return found != ACQ_NO_ID ? found : acq_names_find(&graph->entity_labels, name, length);
    }
    acq_error error = {0};
    if (graph->ops->find_entity(graph->self, name, length, &found, &error) == ACQ_OK)
        return found;
    acq_graph_set_failure(graph, &error);
    return ACQ_NO_ID;
}

acq_ent acq_graph_find_entity(const acq_graph *graph, const char *name, size_t length)
{
    return find_any_form(find_entity, graph, name, length);
}

/* The only relation whose IRI ends in /name, #name or :name. */
static acq_rel find_last_part(const acq_names *relations, const char *name, size_t length)
{
    acq_rel found = ACQ_NO_ID;
    for (uint32_t id = 0; id < relations->n_ids; id++) {
        const char *key = acq_names_get(relations, id);
        size_t n = key == NULL ? 0 : relations->entries[id].length;
        if (n <= length || strchr("/#:", key[n - length - 1]) == NULL ||
            memcmp(key + n - length, name, length) != 0)
            continue;
        if (found != ACQ_NO_ID)
            return ACQ_NO_ID;
        found = id;
    }
    return found;
}

typedef struct relation_names {
    const acq_names *keys, *labels;
    bool is_rdf;
} relation_names;

static uint32_t find_relation(const void *where, const char *name, size_t length)
{
    const relation_names *of = where;
    acq_rel found = acq_names_find(of->keys, name, length);
    if (found == ACQ_NO_ID)
        found = acq_names_find(of->labels, name, length);
    if (found == ACQ_NO_ID && of->is_rdf && length > 0)
        found = find_last_part(of->keys, name, length);
    return found;
}

acq_rel acq_relations_find(const acq_names *keys, const acq_names *labels, bool is_rdf,
                           const char *name, size_t length)
{
    relation_names of = {keys, labels, is_rdf};
    return find_any_form(find_relation, &of, name, length);
}

acq_rel acq_graph_find_relation(const acq_graph *graph, const char *name, size_t length)
{
    if (graph == NULL || name == NULL)
        return ACQ_NO_ID;
    return acq_relations_find(&graph->relations, &graph->relation_labels, graph->is_rdf, name,
                              length);
}

typedef struct by_name {
    const char *name;
    size_t length;
    acq_ent entity;
} by_name;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const by_name *)a)->name, ((const by_name *)b)->name);
}

static acq_status visit_names(const acq_names *names, const char *prefix, size_t length,
                              acq_name_fn visit, void *context, bool *goes_on)
{
    by_name *found = NULL;
    size_t n = 0, capacity = 0;
    for (uint32_t id = 0; id < names->n_ids; id++) {
        const char *name = acq_names_get(names, id);
        if (name == NULL || names->entries[id].length < length || memcmp(name, prefix, length) != 0)
            continue;
        if (ACQ_RESERVE(found, capacity, n + 1) != ACQ_OK) {
            acq_free(found);
            return ACQ_ERR_MEMORY;
        }
        found[n++] = (by_name){name, names->entries[id].length, id};
    }
    if (n > 0)
        qsort(found, n, sizeof *found, compare_names);
    for (size_t i = 0; *goes_on && i < n; i++)
        *goes_on = visit(context, found[i].entity, found[i].name, found[i].length);
    acq_free(found);
    return ACQ_OK;
}

acq_status acq_graph_each_name(const acq_graph *graph, const char *prefix, size_t length,
                               acq_name_fn visit, void *context, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(prefix, error);
    ACQ_REQUIRE(visit, error);
    if (graph->ops != NULL)
        return graph->ops->each_name(graph->self, prefix, length, visit, context, error);
    bool goes_on = true;
    acq_status status = visit_names(&graph->entities, prefix, length, visit, context, &goes_on);
    if (status == ACQ_OK && goes_on)
        status = visit_names(&graph->entity_labels, prefix, length, visit, context, &goes_on);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_graph_open_links(const acq_graph *graph, acq_rel relation, const acq_links **out,
                                acq_error *error)
{
    if (relation >= graph->n_relations)
        return acq_fail(error, ACQ_ERR_USAGE, "relation id %u is unknown: the graph has %u",
                        relation, graph->n_relations);
    if (graph->ops != NULL)
        return graph->ops->open_links(graph->self, relation, out, error);
    *out = graph->links[relation];
    return ACQ_OK;
}

bool acq_graph_has_fact(const acq_graph *graph, acq_ent head, acq_rel relation, acq_ent tail)
{
    const acq_links *links = NULL;
    acq_error error = {0};
    if (graph == NULL || head >= graph->n_entities || tail >= graph->n_entities ||
        relation >= graph->n_relations)
        return false;
    if (acq_graph_open_links(graph, relation, &links, &error) != ACQ_OK) {
        acq_graph_set_failure(graph, &error);
        return false;
    }
    acq_row row = acq_links_get_row(links, head);
    return acq_row_find(row, tail) < row.n;
}

uint64_t acq_graph_get_dictionary_fingerprint(const acq_graph *graph)
{
    return graph == NULL ? 0 : acq_sums_hash_dictionary(&graph->sums);
}

/* What came later is taken out of the sums: it is little where the question makes sense. */
uint64_t acq_graph_hash_first_names(const acq_graph *graph, uint32_t n_entities,
                                    uint32_t n_relations)
{
    acq_graph_sums sums = graph->sums;
    for (acq_ent e = n_entities; e < graph->n_entities; e++) {
        const char *key = acq_graph_get_entity_key(graph, e);
        sums.entities -= acq_hash_name(e, key, strlen(key));
    }
    for (acq_rel r = n_relations; r < graph->n_relations; r++) {
        const char *key = acq_names_get(&graph->relations, r);
        if (key != NULL)
            sums.relations -= acq_hash_name(r, key, graph->relations.entries[r].length);
    }
    if (n_entities < sums.n_entities)
        sums.n_entities = n_entities;
    if (n_relations < sums.n_relations) {
        bool is_last_named = n_relations > 0 && acq_graph_is_named(graph, n_relations - 1);
        sums.n_relations = n_relations - (n_relations > 0 && !is_last_named);
    }
    return acq_sums_hash_dictionary(&sums);
}

uint64_t acq_graph_get_fingerprint(const acq_graph *graph)
{
    return graph == NULL ? 0 : acq_sums_hash_graph(&graph->sums);
}

uint64_t acq_graph_hash_links(acq_rel relation, const acq_links *links)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        for (uint32_t j = links->offsets[i]; j < links->offsets[i + 1]; j++)
            sum += acq_hash_fact(relation, links->heads[i], links->tails[j]);
    }
    return sum;
}

void acq_graph_free(acq_graph *graph)
{
    if (graph == NULL)
        return;
    if (graph->ops != NULL)
        graph->ops->free(graph->self);
    for (uint32_t r = 0; graph->links != NULL && r < graph->n_relations; r++)
        acq_links_free(graph->links[r]);
    acq_free(graph->links);
    acq_names_deinit(&graph->entities);
    acq_names_deinit(&graph->entity_labels);
    acq_names_deinit(&graph->relations);
    acq_names_deinit(&graph->relation_labels);
    acq_quads_deinit(&graph->quads);
    pthread_mutex_destroy(&graph->lock);
    acq_free(graph);
}
