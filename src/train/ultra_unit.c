/* ultra_unit.c - see ultra_unit.h.
 *
 * A fact is drawn from all facts of all graphs, both directions; its relation and graph are the
 * unit's. The other queries are facts of the same relation. Of a query's tails, some more are
 * asked for in the same pass: up to params->tails, and at most a quarter of those known, so that
 * what is left still looks like a head that has tails. Subgraphs have from an eighth of
 * most_entities to all of them, evenly on a logarithmic scale: small ones are cheap, large ones are
 * more like the whole graph, and the network meets sums of many sizes. */
#include "train/ultra_unit.h"

#include <math.h>

#include "base/memory.h"

static const double SIZE_SPREAD = 8;

acq_status acq_ultra_world_init(acq_ultra_world *world, const acq_graph *graph, acq_error *error)
{
    *world = (acq_ultra_world){.graph = graph};
    acq_status status = acq_edges_init(&world->edges, graph, error);
    if (status == ACQ_OK)
        status = acq_ultra_relation_edges_init(&world->relation_edges, graph, error);
    if (status != ACQ_OK)
        acq_ultra_world_deinit(world);
    return status;
}

void acq_ultra_world_deinit(acq_ultra_world *world)
{
    acq_edges_deinit(&world->edges);
    acq_edges_deinit(&world->relation_edges);
}

struct acq_ultra_room {
    const acq_ultra_world *worlds;
    size_t n_worlds;
    const acq_train_ultra_params *params;
    acq_ultra_relations relations;
    acq_ultra_judge judge;
    acq_subgraph *subgraphs; /* one per world */
    acq_query_link *links;   /* group * tails */
    size_t *n_tails;         /* of each query */
    uint32_t *candidates;    /* tails + negatives */
};

static acq_status init_subgraphs(acq_ultra_room *room, acq_error *error)
{
    acq_subgraph_params params = {.most_entities = room->params->most_entities,
                                  .most_edges = room->params->most_edges,
                                  .most_near = room->params->most_near};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < room->n_worlds && status == ACQ_OK; i++)
        status = acq_subgraph_init(&room->subgraphs[i], &room->worlds[i].edges, &params, error);
    return status;
}

static uint32_t count_relations(const acq_ultra_room *room)
{
    uint32_t most = 0;
    for (size_t i = 0; i < room->n_worlds; i++)
        if (room->worlds[i].relation_edges.n_nodes > most)
            most = room->worlds[i].relation_edges.n_nodes;
    return most;
}

static acq_status fill_room(acq_ultra_room *room, const acq_ultra *model,
                            const acq_ultra_packed *packed, acq_error *error)
{
    const acq_train_ultra_params *params = room->params;
    room->subgraphs = acq_zalloc(room->n_worlds, sizeof *room->subgraphs);
    room->links = acq_alloc((size_t)params->group * params->tails, sizeof *room->links);
    room->n_tails = acq_alloc(params->group, sizeof *room->n_tails);
    room->candidates =
        acq_alloc((size_t)params->tails + params->negatives, sizeof *room->candidates);
    if (room->subgraphs == NULL || room->links == NULL || room->n_tails == NULL ||
        room->candidates == NULL)
        return acq_fail_memory(error);
    acq_ultra_judge_init(&room->judge, model, packed);
    acq_status status =
        acq_ultra_relations_init(&room->relations, model, packed, count_relations(room), error);
    return status == ACQ_OK ? init_subgraphs(room, error) : status;
}

acq_status acq_ultra_room_new(const acq_ultra_world *worlds, size_t n_worlds,
                              const acq_train_ultra_params *params, const acq_ultra *model,
                              const acq_ultra_packed *packed, acq_ultra_room **out,
                              acq_error *error)
{
    acq_ultra_room *room = acq_zalloc(1, sizeof *room);
    if (room == NULL)
        return acq_fail_memory(error);
    room->worlds = worlds;
    room->n_worlds = n_worlds;
    room->params = params;
    acq_status status = fill_room(room, model, packed, error);
    if (status == ACQ_OK)
        *out = room;
    else
        acq_ultra_room_free(room);
    return status;
}

void acq_ultra_room_free(acq_ultra_room *room)
{
    if (room == NULL)
        return;
    for (size_t i = 0; room->subgraphs != NULL && i < room->n_worlds; i++)
        acq_subgraph_deinit(&room->subgraphs[i]);
    acq_free(room->subgraphs);
    acq_free(room->links);
    acq_free(room->n_tails);
    acq_free(room->candidates);
    acq_ultra_judge_deinit(&room->judge);
    acq_ultra_relations_deinit(&room->relations);
    acq_free(room);
}

/* The last i with offsets[i] <= at. */
static uint32_t find_row(const uint32_t *offsets, uint32_t n, uint32_t at)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (offsets[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A fact of any graph: its world and its relation. */
static size_t draw_relation(const acq_ultra_room *room, acq_random *random, acq_rel *relation)
{
    uint64_t n = 0;
    for (size_t i = 0; i < room->n_worlds; i++)
        n += room->worlds[i].edges.n_edges;
    uint64_t at = acq_random_below(random, n);
    size_t world = 0;
    while (at >= room->worlds[world].edges.n_edges)
        at -= room->worlds[world++].edges.n_edges;
    const acq_edges *edges = &room->worlds[world].edges;
    *relation = edges->relations[find_row(edges->begins, edges->n_groups, (uint32_t)at)];
    return world;
}

/* Tails of one drawn head, neighbours in its row; returns how many. */
static size_t draw_query(const acq_links *links, acq_rel relation, size_t most, acq_random *random,
                         acq_query_link *out)
{
    uint32_t at = (uint32_t)acq_random_below(random, links->n_links);
    uint32_t i = find_row(links->offsets, links->n_heads, at);
    acq_row row = acq_links_get_row_at(links, i);
    size_t n = row.n / 4 < most ? row.n / 4 : most;
    for (size_t k = 0; k < n || k == 0; k++)
        out[k] = (acq_query_link){.head = links->heads[i],
                                  .relation = relation,
                                  .tail = row.tails[(at - links->offsets[i] + k) % row.n]};
    return n > 0 ? n : 1;
}

static uint32_t draw_size(uint32_t most, acq_random *random)
{
    return (uint32_t)ceil(most * pow(SIZE_SPREAD, -acq_random_unit(random)));
}

static double run_query(acq_ultra_room *room, const acq_subgraph *subgraph,
                        const acq_query_link *links, size_t n, acq_random *random, float *gradient)
{
    const acq_train_ultra_params *params = room->params;
    acq_ultra_query query = {.edges = &subgraph->edges,
                             .head = subgraph->local[links->head],
                             .relation = links->relation,
                             .candidates = room->candidates,
                             .n_positives = n,
                             .temperature = params->temperature,
                             .weight = 1.0 / params->batch};
    for (size_t i = 0; i < n; i++)
        room->candidates[i] = subgraph->local[links[i].tail];
    query.n_candidates =
        n + acq_subgraph_draw_negatives(subgraph, links->head, links->relation, params->negatives,
                                        random, room->candidates + n);
    acq_ultra_query_forward(&room->judge, &query, &room->relations);
    return acq_ultra_query_backward(&room->judge, &query, &room->relations, gradient);
}

acq_status acq_ultra_room_run(acq_ultra_room *room, uint64_t key, float *gradient, double *loss,
                              acq_error *error)
{
    const acq_train_ultra_params *params = room->params;
    acq_random random = acq_random_start(key, 0);
    acq_rel relation;
    size_t i_world = draw_relation(room, &random, &relation), n_links = 0;
    const acq_ultra_world *world = &room->worlds[i_world];
    acq_subgraph *subgraph = &room->subgraphs[i_world];
    const acq_links *links;
    acq_status status = acq_graph_open_links(world->graph, relation, &links, error);
    for (uint32_t i = 0; i < params->group && status == ACQ_OK; i++)
        n_links += room->n_tails[i] =
            draw_query(links, relation, params->tails, &random, room->links + n_links);
    subgraph->params.most_entities = draw_size(params->most_entities, &random);
    if (status == ACQ_OK) /* strangers that could be tails by what they are */
        status = acq_graph_open_links(world->graph, acq_inverse(relation), &subgraph->kin, error);
    if (status == ACQ_OK)
        status = acq_subgraph_draw(subgraph, room->links, n_links, &random, error);
    if (status == ACQ_OK)
        status = acq_ultra_judge_reserve(&room->judge, subgraph->n,
                                         (size_t)params->tails + params->negatives, error);
    if (status != ACQ_OK)
        return status;
    acq_ultra_relations_forward(&room->relations, &world->relation_edges, relation);
    *loss = 0;
    const acq_query_link *at = room->links;
    for (uint32_t i = 0; i < params->group; at += room->n_tails[i++])
        *loss += run_query(room, subgraph, at, room->n_tails[i], &random, gradient);
    acq_ultra_relations_backward(&room->relations, &world->relation_edges, relation, gradient);
    return ACQ_OK;
}
