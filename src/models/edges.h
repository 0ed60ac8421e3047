/* edges.h - all edges of a graph by the node that receives along them, for Bellman-Ford networks.
 *
 * For a stored (h, r, t) the message goes from t to h: out[h] += vector[r] * in[t]. Edges of one
 * node and one relation are a group:
 *
 *   rows      [ 0 | 2 | 3 ]         node v has the groups rows[v] .. rows[v + 1]
 *   relations [ r5 r7 | r2 ]        sorted within a node
 *   reversed  [ r4 r6 | r3 ]        the relation of the same edges walked the other way
 *   begins    [ 0 2 3 4 ]           group g has the sources begins[g] .. begins[g + 1]
 *   sources   [ 1 4 | 2 | 0 ]       sorted within a group where the edges are a graph's
 *
 * A graph is closed under inverses, so what a node receives from is also what it sends to, under
 * the reversed relations: the same arrays serve forward and backward. */
#ifndef ACQ_MODELS_EDGES_H
#define ACQ_MODELS_EDGES_H

#include "graph/graph.h"
#include "tensor/kernels.h"

typedef struct acq_edges {
    uint32_t n_nodes, n_relations, n_groups, n_edges;
    uint32_t *rows; /* n_nodes + 1 */
    acq_rel *relations, *reversed;
    uint32_t *begins; /* n_groups + 1 */
    uint32_t *sources;
    size_t rows_room, relations_room, reversed_room, begins_room, sources_room;
} acq_edges;

/* All facts of a graph, both directions; nodes are its entities. Opens all relations. */
acq_status acq_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error);
void acq_edges_deinit(acq_edges *edges); /* a zeroed one is legal */

/* Edges made one by one, nodes in order: start; then for each node its groups by relation, of each
 * group its sources; finish_node after each. An empty group leaves nothing. A second start makes
 * use of the memory of the first. */
acq_status acq_edges_start(acq_edges *edges, uint32_t n_nodes, uint32_t n_relations);
acq_status acq_edges_add_group(acq_edges *edges, acq_rel relation, acq_rel reversed,
                               size_t most_sources);
static inline void acq_edges_add_source(acq_edges *edges, uint32_t source)
{
    edges->sources[edges->n_edges++] = source;
}
void acq_edges_finish_node(acq_edges *edges, uint32_t node);

/* The sources of one node and relation: for a node h the tails of (h, relation). `has` wants them
 * sorted. */
const uint32_t *acq_edges_find(const acq_edges *edges, uint32_t node, acq_rel relation, size_t *n);
bool acq_edges_has(const acq_edges *edges, uint32_t node, acq_rel relation, uint32_t source);

/* The part of acq_messages that edges fill in; the rest is the caller's. */
acq_messages acq_edges_get_messages(const acq_edges *edges);
acq_messages acq_edges_get_reversed(const acq_edges *edges);

#endif
