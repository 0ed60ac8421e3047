/* subgraph.c - see batch.h. */
#include "train/batch.h"

#include <string.h>

#include "base/memory.h"

enum { STRANGERS_PART = 4, STRANGERS_NEAR = 8 };

acq_status acq_subgraph_init(acq_subgraph *subgraph, const acq_edges *world,
                             const acq_subgraph_params *params, acq_error *error)
{
    uint32_t n = world->n_nodes;
    *subgraph = (acq_subgraph){.world = world, .params = *params};
    subgraph->entities = acq_alloc(n, sizeof *subgraph->entities);
    subgraph->local = acq_alloc(n, sizeof *subgraph->local);
    subgraph->is_end = acq_zalloc(n, sizeof *subgraph->is_end);
    if (subgraph->entities == NULL || subgraph->local == NULL || subgraph->is_end == NULL) {
        acq_subgraph_deinit(subgraph);
        return acq_fail_memory(error);
    }
    memset(subgraph->local, 0xff, n * sizeof *subgraph->local);
    return ACQ_OK;
}

void acq_subgraph_deinit(acq_subgraph *subgraph)
{
    acq_edges_deinit(&subgraph->edges);
    acq_free(subgraph->entities);
    acq_free(subgraph->local);
    acq_free(subgraph->is_end);
    *subgraph = (acq_subgraph){0};
}

static void forget(acq_subgraph *subgraph)
{
    for (uint32_t i = 0; i < subgraph->n; i++) {
        subgraph->local[subgraph->entities[i]] = ACQ_NO_ID;
        subgraph->is_end[i] = 0;
    }
    subgraph->n = 0;
}

static void add_entity(acq_subgraph *subgraph, acq_ent entity)
{
    if (subgraph->local[entity] != ACQ_NO_ID)
        return;
    subgraph->local[entity] = subgraph->n;
    subgraph->entities[subgraph->n++] = entity;
}

static void add_ends(acq_subgraph *subgraph)
{
    for (size_t i = 0; i < subgraph->n_links; i++) {
        add_entity(subgraph, subgraph->links[i].head);
        add_entity(subgraph, subgraph->links[i].tail);
    }
    for (uint32_t i = 0; i < subgraph->n; i++)
        subgraph->is_end[i] = 1;
}

/* The neighbours of one entity, or `most` of them drawn with repetition; most 0: all. */
static void add_near(acq_subgraph *subgraph, acq_ent entity, uint32_t most, uint32_t limit,
                     acq_random *random)
{
    const acq_edges *world = subgraph->world;
    uint32_t begin = world->begins[world->rows[entity]];
    uint32_t n = world->begins[world->rows[entity + 1]] - begin;
    bool draws = most > 0 && n > most;
    for (uint32_t i = 0; i < (draws ? most : n) && subgraph->n < limit; i++)
        add_entity(subgraph,
                   world->sources[begin + (draws ? (uint32_t)acq_random_below(random, n) : i)]);
}

static acq_ent draw_stranger(const acq_subgraph *subgraph, bool is_kin, acq_random *random)
{
    const acq_links *kin = subgraph->kin;
    if (is_kin && kin != NULL && kin->n_heads > 0)
        return kin->heads[acq_random_below(random, kin->n_heads)];
    return (acq_ent)acq_random_below(random, subgraph->world->n_nodes);
}

static void add_strangers(acq_subgraph *subgraph, uint32_t limit, acq_random *random)
{
    for (uint32_t tries = 0; tries < limit && subgraph->n < limit; tries++) {
        acq_ent stranger = draw_stranger(subgraph, tries % 2 == 0, random);
        add_entity(subgraph, stranger);
        add_near(subgraph, stranger, STRANGERS_NEAR, limit, random);
    }
}

static void find_entities(acq_subgraph *subgraph, acq_random *random)
{
    uint32_t limit = subgraph->params.most_entities, near = limit - limit / STRANGERS_PART;
    add_ends(subgraph);
    for (uint32_t i = 0; i < subgraph->n && subgraph->n < near; i++)
        add_near(subgraph, subgraph->entities[i], subgraph->params.most_near, near, random);
    subgraph->n_near = subgraph->n;
    subgraph->is_cut = acq_random_below(random, 2) == 0;
    add_strangers(subgraph, limit, random);
}

static void take_all(acq_subgraph *subgraph)
{
    for (acq_ent e = 0; e < subgraph->world->n_nodes; e++)
        add_entity(subgraph, e);
    subgraph->n_near = subgraph->n;
    subgraph->is_cut = false;
    for (size_t i = 0; i < subgraph->n_links; i++)
        subgraph->is_end[subgraph->links[i].head] = subgraph->is_end[subgraph->links[i].tail] = 1;
}

static bool is_own_link(const acq_subgraph *subgraph, acq_ent head, acq_rel relation, acq_ent tail)
{
    for (size_t i = 0; i < subgraph->n_links; i++) {
        const acq_query_link *link = &subgraph->links[i];
        if ((link->relation == relation && link->head == head && link->tail == tail) ||
            (link->relation == acq_inverse(relation) && link->head == tail && link->tail == head))
            return true;
    }
    return false;
}

/* One number for both directions of a link. */
static uint64_t hash_link(const acq_subgraph *subgraph, acq_ent head, acq_rel relation,
                          acq_ent tail)
{
    bool forward = (relation & 1) == 0;
    uint64_t ends = (uint64_t)(forward ? head : tail) << 32 | (forward ? tail : head);
    return acq_random_mix(acq_random_mix(subgraph->key ^ (relation >> 1)) ^ ends);
}

/* Edges among the entities, own links included: at least as many as are kept. */
static uint64_t count_edges(const acq_subgraph *subgraph)
{
    const acq_edges *world = subgraph->world;
    uint64_t n = 0;
    for (uint32_t v = 0; v < subgraph->n; v++) {
        acq_ent entity = subgraph->entities[v];
        uint32_t end = world->begins[world->rows[entity + 1]];
        for (uint32_t i = world->begins[world->rows[entity]]; i < end; i++)
            n += subgraph->local[world->sources[i]] != ACQ_NO_ID;
    }
    return n;
}

/* Links whose hash is above this are left out. */
static uint64_t get_last_hash(const acq_subgraph *subgraph)
{
    uint64_t n = subgraph->params.most_edges == 0 ? 0 : count_edges(subgraph);
    if (n <= subgraph->params.most_edges)
        return UINT64_MAX;
    return (uint64_t)((double)subgraph->params.most_edges / (double)n * 0x1.0p63) * 2;
}

static bool is_cut(const acq_subgraph *subgraph, uint32_t a, uint32_t b)
{
    return subgraph->is_cut && (a < subgraph->n_near) != (b < subgraph->n_near);
}

static acq_status add_group(acq_subgraph *subgraph, uint32_t node, uint32_t group, uint64_t last)
{
    const acq_edges *world = subgraph->world;
    acq_ent entity = subgraph->entities[node];
    acq_rel relation = world->relations[group];
    uint32_t begin = world->begins[group], end = world->begins[group + 1];
    if (acq_edges_add_group(&subgraph->edges, relation, world->reversed[group], end - begin) !=
        ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = begin; i < end; i++) {
        acq_ent source = world->sources[i];
        uint32_t local = subgraph->local[source];
        if (local == ACQ_NO_ID || is_cut(subgraph, node, local) ||
            (last != UINT64_MAX && hash_link(subgraph, entity, relation, source) > last) ||
            (subgraph->is_end[node] && is_own_link(subgraph, entity, relation, source)))
            continue;
        acq_edges_add_source(&subgraph->edges, local);
    }
    return ACQ_OK;
}

static acq_status add_edges(acq_subgraph *subgraph)
{
    const acq_edges *world = subgraph->world;
    uint64_t last = get_last_hash(subgraph);
    if (acq_edges_start(&subgraph->edges, subgraph->n, world->n_relations) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < subgraph->n; v++) {
        acq_ent entity = subgraph->entities[v];
        for (uint32_t g = world->rows[entity]; g < world->rows[entity + 1]; g++)
            if (add_group(subgraph, v, g, last) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        acq_edges_finish_node(&subgraph->edges, v);
    }
    return ACQ_OK;
}

acq_status acq_subgraph_draw(acq_subgraph *subgraph, const acq_query_link *links, size_t n,
                             acq_random *random, acq_error *error)
{
    forget(subgraph);
    subgraph->links = links;
    subgraph->n_links = n;
    subgraph->key = acq_random_next(random);
    if (subgraph->params.most_entities == 0)
        take_all(subgraph);
    else
        find_entities(subgraph, random);
    acq_status status = add_edges(subgraph);
    subgraph->links = NULL;
    subgraph->n_links = 0;
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

/* Floyd's way to distinct numbers would need a set: a walk with a random start and an odd stride
 * over the next power of two meets every local id once. */
size_t acq_subgraph_draw_negatives(const acq_subgraph *subgraph, acq_ent head, acq_rel relation,
                                   size_t n, acq_random *random, uint32_t *out)
{
    uint64_t size = 1;
    while (size < subgraph->n)
        size *= 2;
    uint64_t at = acq_random_next(random), stride = acq_random_next(random) | 1;
    size_t found = 0;
    for (uint64_t i = 0; i < size && found < n; i++, at += stride) {
        uint64_t local = at & (size - 1);
        if (local >= subgraph->n ||
            acq_edges_has(subgraph->world, head, relation, subgraph->entities[local]))
            continue;
        out[found++] = (uint32_t)local;
    }
    return found;
}
