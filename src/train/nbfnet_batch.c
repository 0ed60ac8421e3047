/* nbfnet_batch.c - see nbfnet_batch.h. */
#include "train/nbfnet_batch.h"

#include "base/memory.h"

acq_status acq_nbfnet_batch_init(acq_nbfnet_batch *batch, const acq_train_nbfnet_params *params,
                                 const acq_edges *world, const float *scales, acq_error *error)
{
    acq_subgraph_params of_subgraph = {.most_entities = params->most_entities,
                                       .most_edges = params->most_edges,
                                       .most_near = params->most_near};
    size_t room = (size_t)params->negatives + ACQ_NBFNET_MOST_POSITIVES;
    *batch = (acq_nbfnet_batch){.params = params, .world = world, .world_scales = scales};
    acq_status status = acq_subgraph_init(&batch->subgraph, world, &of_subgraph, error);
    if (status != ACQ_OK)
        return status;
    batch->scales = acq_alloc(world->n_nodes, sizeof *batch->scales);
    batch->queries = acq_zalloc(params->batch, sizeof *batch->queries);
    batch->targets = acq_alloc(params->batch, room * sizeof *batch->targets);
    if (batch->scales == NULL || batch->queries == NULL || batch->targets == NULL) {
        acq_nbfnet_batch_deinit(batch);
        return acq_fail_memory(error);
    }
    for (uint32_t i = 0; i < params->batch; i++)
        batch->queries[i].targets = batch->targets + i * room;
    return ACQ_OK;
}

void acq_nbfnet_batch_deinit(acq_nbfnet_batch *batch)
{
    acq_subgraph_deinit(&batch->subgraph);
    acq_free(batch->scales);
    acq_free(batch->queries);
    acq_free(batch->targets);
    acq_free(batch->links);
    *batch = (acq_nbfnet_batch){0};
}

/* The last i of values[0..n) with values[i] <= key, where values[0] <= key. */
static uint32_t find_last(const uint32_t *values, uint32_t n, uint32_t key)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (values[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static acq_status add_link(acq_nbfnet_batch *batch, acq_ent head, acq_rel relation, acq_ent tail)
{
    if (ACQ_RESERVE(batch->links, batch->links_room, batch->n_links + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    batch->links[batch->n_links++] = (acq_query_link){head, relation, tail};
    return ACQ_OK;
}

/* The link of edge number `own` and others of its group. A group that may give too many is entered
 * at a random place, so that none of its links is favoured. */
static acq_status hide_links(acq_nbfnet_batch *batch, acq_nbfnet_query *query, uint32_t group,
                             uint32_t own, acq_random *random)
{
    const acq_edges *world = batch->world;
    uint32_t begin = world->begins[group], n = world->begins[group + 1] - begin;
    uint32_t offset = (uint32_t)acq_random_below(random, n);
    query->first_link = batch->n_links;
    if (add_link(batch, query->head, query->relation, world->sources[own]) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t edge = begin + (offset + i) % n;
        if (batch->n_links - query->first_link == ACQ_NBFNET_MOST_POSITIVES)
            break;
        if (edge == own || acq_random_unit(random) >= batch->params->edge_dropout)
            continue;
        if (add_link(batch, query->head, query->relation, world->sources[edge]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    query->n_positives = batch->n_links - query->first_link;
    return ACQ_OK;
}

static acq_status draw_query(acq_nbfnet_batch *batch, acq_nbfnet_query *query, acq_random *random)
{
    const acq_edges *world = batch->world;
    uint32_t edge = (uint32_t)acq_random_below(random, world->n_edges);
    uint32_t group = find_last(world->begins, world->n_groups, edge);
    query->head = find_last(world->rows, world->n_nodes, group);
    query->relation = world->relations[group];
    return hide_links(batch, query, group, edge, random);
}

/* All links between the head and one of its positives. */
static acq_status hide_pair(acq_nbfnet_batch *batch, acq_ent head, acq_ent tail)
{
    const acq_edges *world = batch->world;
    for (uint32_t g = world->rows[head]; g < world->rows[head + 1]; g++)
        if (acq_edges_has(world, head, world->relations[g], tail) &&
            add_link(batch, head, world->relations[g], tail) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

static acq_status draw_links(acq_nbfnet_batch *batch, acq_random *random)
{
    batch->n_links = 0;
    for (uint32_t i = 0; i < batch->params->batch; i++)
        if (draw_query(batch, &batch->queries[i], random) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    size_t n = batch->params->drops_pairs ? batch->n_links : 0;
    for (size_t i = 0; i < n; i++)
        if (hide_pair(batch, batch->links[i].head, batch->links[i].tail) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

static void draw_targets(acq_nbfnet_batch *batch, acq_nbfnet_query *query, acq_random *random)
{
    const acq_subgraph *subgraph = &batch->subgraph;
    for (size_t i = 0; i < query->n_positives; i++)
        query->targets[i] = subgraph->local[batch->links[query->first_link + i].tail];
    query->n_targets =
        query->n_positives + acq_subgraph_draw_negatives(subgraph, query->head, query->relation,
                                                         batch->params->negatives, random,
                                                         query->targets + query->n_positives);
}

acq_status acq_nbfnet_batch_draw(acq_nbfnet_batch *batch, uint64_t number, acq_error *error)
{
    acq_random random = acq_random_start(batch->params->seed, number);
    acq_subgraph *subgraph = &batch->subgraph;
    if (draw_links(batch, &random) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = acq_subgraph_draw(subgraph, batch->links, batch->n_links, &random, error);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; i < subgraph->n; i++)
        batch->scales[i] = batch->world_scales[subgraph->entities[i]];
    for (uint32_t i = 0; i < batch->params->batch; i++)
        draw_targets(batch, &batch->queries[i], &random);
    return ACQ_OK;
}
