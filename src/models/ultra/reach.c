/* reach.c - see reach.h. */
#include "models/ultra/reach.h"

#include <string.h>

#include "base/memory.h"

acq_status acq_reach_init(acq_reach *reach, uint32_t n_nodes)
{
    *reach = (acq_reach){.n_nodes = n_nodes,
                         .distances = acq_alloc(n_nodes, sizeof *reach->distances),
                         .order = acq_alloc(n_nodes, sizeof *reach->order)};
    if (reach->distances != NULL && reach->order != NULL)
        return ACQ_OK;
    acq_reach_deinit(reach);
    return ACQ_ERR_MEMORY;
}

void acq_reach_deinit(acq_reach *reach)
{
    acq_free(reach->distances);
    acq_free(reach->order);
    *reach = (acq_reach){0};
}

static uint32_t start(acq_reach *reach, const uint32_t *sources, size_t n)
{
    memset(reach->distances, sources == NULL ? 0 : ACQ_REACH_NEVER, reach->n_nodes);
    for (uint32_t i = 0; i < n; i++) {
        reach->order[i] = sources == NULL ? i : sources[i];
        reach->distances[reach->order[i]] = 0;
    }
    return (uint32_t)n;
}

/* Adds the neighbours of order[begin .. end) that are new; returns the new end. */
static uint32_t extend(acq_reach *reach, const acq_edges *edges, uint32_t begin, uint32_t end,
                       uint8_t distance)
{
    uint32_t n = end;
    for (uint32_t i = begin; i < end && n < reach->n_nodes; i++) {
        uint32_t node = reach->order[i];
        uint32_t last = edges->begins[edges->rows[node + 1]];
        for (uint32_t s = edges->begins[edges->rows[node]]; s < last; s++) {
            uint32_t next = edges->sources[s];
            if (reach->distances[next] != ACQ_REACH_NEVER)
                continue;
            reach->distances[next] = distance;
            reach->order[n++] = next;
        }
    }
    return n;
}

static bool has_nearer(const acq_reach *reach, const acq_edges *edges, uint32_t node,
                       uint8_t distance)
{
    uint32_t last = edges->begins[edges->rows[node + 1]];
    for (uint32_t s = edges->begins[edges->rows[node]]; s < last; s++)
        if (reach->distances[edges->sources[s]] < distance)
            return true;
    return false;
}

/* The same from the other side, for few new nodes and many edges: a new node's first neighbour
 * that is nearer will do. */
static uint32_t extend_back(acq_reach *reach, const acq_edges *edges, uint32_t end,
                            uint8_t distance)
{
    uint32_t n = end;
    for (uint32_t node = 0; node < reach->n_nodes && n < reach->n_nodes; node++)
        if (reach->distances[node] == ACQ_REACH_NEVER && has_nearer(reach, edges, node, distance)) {
            reach->distances[node] = distance;
            reach->order[n++] = node;
        }
    return n;
}

static uint64_t count_edges(const acq_reach *reach, const acq_edges *edges, uint32_t begin,
                            uint32_t end)
{
    uint64_t n = 0;
    for (uint32_t i = begin; i < end; i++)
        n += acq_edges_get_degree(edges, reach->order[i]);
    return n;
}

void acq_reach_run(acq_reach *reach, const acq_edges *edges, const uint32_t *sources,
                   size_t n_sources)
{
    uint32_t begin = 0, end = start(reach, sources, sources == NULL ? reach->n_nodes : n_sources);
    uint64_t n_edges = 0, n_last = 0;
    for (unsigned distance = 0; distance <= ACQ_REACH_MOST; distance++) {
        if (distance > 0) {
            uint32_t next = n_last < reach->n_nodes
                                ? extend(reach, edges, begin, end, (uint8_t)distance)
                                : extend_back(reach, edges, end, (uint8_t)distance);
            begin = end;
            end = next;
        }
        n_last = count_edges(reach, edges, begin, end);
        n_edges += n_last;
        reach->ends[distance] = end;
        reach->edges[distance] = n_edges;
    }
}
