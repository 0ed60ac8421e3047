/* twins.c - see twins.h. Entities are sorted by a hash of their links; equal ones are compared. */
#include "models/ultra/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct hashed {
    uint64_t hash;
    acq_ent entity;
} hashed;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash + value + 1) * 0x9e3779b97f4a7c15ULL; /* 1: nothing is not a zero */
    return hash ^ hash >> 32;
}

static uint64_t hash_links(const acq_edges *edges, acq_ent entity)
{
    uint64_t hash = 0;
    for (uint32_t g = edges->rows[entity]; g < edges->rows[entity + 1]; g++) {
        hash = mix(hash, (uint64_t)edges->relations[g] << 32);
        for (uint32_t s = edges->begins[g]; s < edges->begins[g + 1]; s++)
            hash = mix(hash, edges->sources[s]);
    }
    return hash;
}

static bool has_itself(const acq_edges *edges, acq_ent entity)
{
    for (uint32_t g = edges->rows[entity]; g < edges->rows[entity + 1]; g++)
        for (uint32_t s = edges->begins[g]; s < edges->begins[g + 1]; s++)
            if (edges->sources[s] == entity)
                return true;
    return false;
}

static bool is_same_group(const acq_edges *edges, uint32_t a, uint32_t b)
{
    uint32_t from = edges->begins[a], n = edges->begins[a + 1] - from, other = edges->begins[b];
    return edges->relations[a] == edges->relations[b] && edges->begins[b + 1] - other == n &&
           memcmp(edges->sources + from, edges->sources + other, n * sizeof *edges->sources) == 0;
}

static bool are_twins(const acq_edges *edges, acq_ent a, acq_ent b)
{
    uint32_t from = edges->rows[a], n = edges->rows[a + 1] - from, other = edges->rows[b];
    if (edges->rows[b + 1] - other != n || has_itself(edges, a))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is_same_group(edges, from + i, other + i))
            return false;
    return true;
}

static int compare_hashed(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

/* first[e] = the first of the twins of e; entities whose hash is that of others by chance are
 * left alone. */
static acq_status find_first(const acq_edges *edges, acq_ent *first)
{
    uint32_t n = edges->n_nodes, start = 0;
    hashed *order = acq_alloc(n, sizeof *order);
    if (order == NULL)
        return ACQ_ERR_MEMORY;
    for (acq_ent e = 0; e < n; e++)
        order[e] = (hashed){hash_links(edges, e), e};
    qsort(order, n, sizeof *order, compare_hashed);
    for (uint32_t i = 0; i < n; i++) {
        acq_ent e = order[i].entity;
        if (order[i].hash != order[start].hash)
            start = i;
        first[e] = are_twins(edges, order[start].entity, e) ? order[start].entity : e;
    }
    acq_free(order);
    return ACQ_OK;
}

/* Nodes in the order of their entities. The second of several twins gets the node of all but the
 * first. */
static void number_nodes(acq_twins *twins, const acq_ent *first)
{
    for (acq_ent e = 0; e < twins->n_entities; e++) {
        bool is_first = first[e] == e;
        uint32_t node = is_first ? twins->n_nodes : twins->partners[twins->nodes[first[e]]];
        if (is_first || twins->nodes[first[e]] == node) {
            twins->partners[twins->n_nodes] = node;
            twins->partners[node] = twins->n_nodes;
            node = twins->n_nodes++;
            twins->counts[node] = 0;
        }
        twins->nodes[e] = node;
        twins->counts[node]++;
    }
}

static acq_status add_node(acq_twins *twins, const acq_edges *edges, acq_ent entity)
{
    for (uint32_t g = edges->rows[entity]; g < edges->rows[entity + 1]; g++) {
        uint32_t begin = edges->begins[g], end = edges->begins[g + 1];
        if (acq_edges_add_group(&twins->edges, edges->relations[g], edges->reversed[g],
                                end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t s = begin; s < end; s++)
            acq_edges_add_source(&twins->edges, twins->nodes[edges->sources[s]]);
    }
    acq_edges_finish_node(&twins->edges, twins->nodes[entity]);
    return ACQ_OK;
}

static acq_status make_edges(acq_twins *twins, const acq_edges *edges)
{
    uint32_t n_made = 0;
    acq_status status = acq_edges_start(&twins->edges, twins->n_nodes, edges->n_relations);
    for (acq_ent e = 0; e < twins->n_entities && status == ACQ_OK; e++)
        if (twins->nodes[e] == n_made) {
            status = add_node(twins, edges, e);
            n_made++;
        }
    return status;
}

static acq_status make(acq_twins *twins, const acq_edges *edges)
{
    uint32_t n = edges->n_nodes;
    acq_ent *first = acq_alloc(n, sizeof *first);
    twins->n_entities = n;
    twins->nodes = acq_alloc(n, sizeof *twins->nodes);
    twins->partners = acq_alloc(n, sizeof *twins->partners);
    twins->counts = acq_alloc(n, sizeof *twins->counts);
    acq_status status = ACQ_ERR_MEMORY;
    if (first != NULL && twins->nodes != NULL && twins->partners != NULL && twins->counts != NULL)
        status = find_first(edges, first);
    if (status == ACQ_OK) {
        number_nodes(twins, first);
        status = make_edges(twins, edges);
    }
    acq_free(first);
    return status;
}

acq_status acq_twins_init(acq_twins *twins, const acq_graph *graph, acq_error *error)
{
    acq_edges edges;
    *twins = (acq_twins){0};
    acq_status status = acq_edges_init(&edges, graph, error);
    if (status != ACQ_OK)
        return status;
    status = make(twins, &edges);
    acq_edges_deinit(&edges);
    if (status == ACQ_OK)
        return ACQ_OK;
    acq_twins_deinit(twins);
    return acq_fail_memory(error);
}

void acq_twins_deinit(acq_twins *twins)
{
    acq_free(twins->nodes);
    acq_free(twins->partners);
    acq_free(twins->counts);
    acq_edges_deinit(&twins->edges);
    *twins = (acq_twins){0};
}
