/* edges.c - see edges.h. */
#include "models/edges.h"

#include "base/memory.h"
#include "base/search.h"

void acq_edges_deinit(acq_edges *edges)
{
    acq_free(edges->rows);
    acq_free(edges->relations);
    acq_free(edges->reversed);
    acq_free(edges->begins);
    acq_free(edges->sources);
    *edges = (acq_edges){0};
}

acq_status acq_edges_start(acq_edges *edges, uint32_t n_nodes, uint32_t n_relations)
{
    if (ACQ_RESERVE(edges->rows, edges->rows_room, (size_t)n_nodes + 1) != ACQ_OK ||
        ACQ_RESERVE(edges->begins, edges->begins_room, 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    edges->n_nodes = n_nodes;
    edges->n_relations = n_relations;
    edges->n_groups = edges->n_edges = 0;
    edges->rows[0] = edges->begins[0] = 0;
    return ACQ_OK;
}

/* The last group ends where the edges do; without any it is taken back. */
static void close_group(acq_edges *edges)
{
    if (edges->n_groups > 0 && edges->begins[edges->n_groups - 1] == edges->n_edges)
        edges->n_groups--;
    edges->begins[edges->n_groups] = edges->n_edges;
}

acq_status acq_edges_add_group(acq_edges *edges, acq_rel relation, acq_rel reversed,
                               size_t most_sources)
{
    close_group(edges);
    size_t g = edges->n_groups, need = edges->n_edges + most_sources;
    if (need > UINT32_MAX || ACQ_RESERVE(edges->sources, edges->sources_room, need) != ACQ_OK ||
        ACQ_RESERVE(edges->relations, edges->relations_room, g + 1) != ACQ_OK ||
        ACQ_RESERVE(edges->reversed, edges->reversed_room, g + 1) != ACQ_OK ||
        ACQ_RESERVE(edges->begins, edges->begins_room, g + 2) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    edges->relations[g] = relation;
    edges->reversed[g] = reversed;
    edges->n_groups++;
    return ACQ_OK;
}

void acq_edges_finish_node(acq_edges *edges, uint32_t node)
{
    close_group(edges);
    edges->rows[node + 1] = edges->n_groups;
}

/* Where each relation's next row is: relations are walked side by side, heads in order. */
typedef struct walk {
    const acq_links **links;
    uint32_t *next;
} walk;

static acq_status open_all(walk *at, const acq_graph *graph, acq_error *error)
{
    uint32_t n = acq_graph_get_n_relations(graph);
    at->links = acq_zalloc(n, sizeof *at->links);
    at->next = acq_zalloc(n, sizeof *at->next);
    if (at->links == NULL || at->next == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < n; r++) {
        acq_status status = acq_graph_open_links(graph, r, &at->links[r], error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status add_node(acq_edges *edges, walk *at, acq_ent node)
{
    for (acq_rel r = 0; r < edges->n_relations; r++) {
        const acq_links *links = at->links[r];
        if (at->next[r] == links->n_heads || links->heads[at->next[r]] != node)
            continue;
        acq_row row = acq_links_get_row_at(links, at->next[r]++);
        if (acq_edges_add_group(edges, r, acq_inverse(r), row.n) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (size_t i = 0; i < row.n; i++)
            acq_edges_add_source(edges, row.tails[i]);
    }
    acq_edges_finish_node(edges, node);
    return ACQ_OK;
}

acq_status acq_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error)
{
    uint32_t n = acq_graph_get_n_entities(graph);
    walk at = {0};
    *edges = (acq_edges){0};
    acq_status status = open_all(&at, graph, error);
    if (status == ACQ_OK && acq_edges_start(edges, n, acq_graph_get_n_relations(graph)) != ACQ_OK)
        status = acq_fail_memory(error);
    for (acq_ent e = 0; e < n && status == ACQ_OK; e++)
        if (add_node(edges, &at, e) != ACQ_OK)
            status = acq_fail_memory(error);
    if (status != ACQ_OK)
        acq_edges_deinit(edges);
    acq_free(at.links);
    acq_free(at.next);
    return status;
}

const uint32_t *acq_edges_find(const acq_edges *edges, uint32_t node, acq_rel relation, size_t *n)
{
    uint32_t end = edges->rows[node + 1], i;
    ACQ_SEARCH(i, edges->rows[node], end, edges->relations[i] < relation);
    bool found = i < end && edges->relations[i] == relation;
    *n = found ? edges->begins[i + 1] - edges->begins[i] : 0;
    return found ? edges->sources + edges->begins[i] : NULL;
}

bool acq_edges_has(const acq_edges *edges, uint32_t node, acq_rel relation, uint32_t source)
{
    acq_row row = {0};
    row.tails = acq_edges_find(edges, node, relation, &row.n);
    return acq_row_find(row, source) < row.n;
}

static acq_messages get_messages(const acq_edges *edges, const acq_rel *relations)
{
    return (acq_messages){.rows = edges->rows,
                          .relations = relations,
                          .begins = edges->begins,
                          .sources = edges->sources};
}

acq_messages acq_edges_get_messages(const acq_edges *edges)
{
    return get_messages(edges, edges->relations);
}

acq_messages acq_edges_get_reversed(const acq_edges *edges)
{
    return get_messages(edges, edges->reversed);
}
