/* edges.h - edges by the node that receives along them, for Bellman-Ford networks: all of a graph,
 * or those around an entity.
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

/* ---- around an entity ----
 *
 * The part of a graph around one entity that can matter for a row, within bounds: for
 * networks on graphs whose every node is too many.
 *
 * Mass spreads from the head: of what an entity gets, a share stays, the rest goes to its relations
 * in equal parts, and of a relation to its tails in equal parts. So what is reached over a relation
 * with a thousand tails counts little, and an entity of a million links costs no more than a sample
 * of them. The entity with the most mass to hand on is next (approximate personalised PageRank by
 * pushes), until as many links were walked as params allow. The entities with the most mass are the
 * nodes of the row, with all links between them.
 *
 *   entities  [ 4 7 9 ]          sorted: node i is entities[i]
 *   edges                        between nodes, as above
 *   outside   node i lacks       counts[begins[i] .. begins[i + 1]) sources of relations[...],
 * which are no nodes
 *
 * With room for all entities these are the nodes, and the edges are those of acq_edges_init. */

/* Which relations an entity is a head of. */

typedef struct acq_around_index {
    uint32_t n_entities, n_relations;
    const acq_links **links; /* by relation; the graph's */
    uint32_t *offsets;       /* entity e has the relations at offsets[e] .. offsets[e + 1] */
    uint16_t *narrow;        /* in ascending order; NULL: there are too many relations */
    acq_rel *wide;           /* used in that case */
    const acq_edges *world;  /* all edges of the same graph, for speed: borrowed; NULL: none */
} acq_around_index;

/* Opens all relations. Memory: 2 bytes for each entity and relation that has links, 4 for each
 * entity. */
acq_status acq_around_index_init(acq_around_index *index, const acq_graph *graph, acq_error *error);
void acq_around_index_deinit(acq_around_index *index); /* a zeroed one is legal */

static inline acq_rel acq_around_index_get(const acq_around_index *index, uint32_t i)
{
    return index->narrow != NULL ? index->narrow[i] : index->wide[i];
}

typedef struct acq_around_params {
    uint32_t most_nodes; /* 0: all entities */
    uint32_t most_edges; /* between them, both directions; 0: any number */
} acq_around_params;

/* All entities, where a row over them takes some tenths of a second at most; else 4,096, which take
 * some ten milliseconds. n_facts 0: by the entities alone, so that a graph and a part of its facts
 * are run alike. */
acq_around_params acq_around_choose(uint64_t n_facts, uint32_t n_entities);

typedef struct acq_around_slot { /* of an entity that got mass */
    acq_ent entity;
    uint32_t queued; /* bucket it waits in; ACQ_NO_ID: none */
    float waiting, total;
} acq_around_slot;

typedef struct acq_around_entry { /* of a bucket */
    uint32_t slot, next;
} acq_around_entry;

/* Links of the head that rows are made without, both ways: a training asks for them. */
typedef struct acq_around_hidden {
    const acq_ent *tails; /* sorted; the caller's */
    size_t n;
    acq_rel relation; /* ACQ_NO_ID: whatever it is */
} acq_around_hidden;

enum { ACQ_AROUND_BUCKETS = 64 }; /* of mass from 2^-b on */

typedef struct acq_around { /* of one thread */
    const acq_around_index *index;
    acq_around_params params;
    acq_around_hidden hidden;
    acq_ent head;
    uint32_t *places; /* by entity: its node + 1; 0: it is none */
    acq_ent *entities;
    uint32_t n;
    acq_edges edges;
    struct {
        uint32_t *begins, *counts;
        acq_rel *relations;
        uint32_t n;
        size_t begins_room, counts_room, relations_room;
    } outside;
    acq_around_slot *slots;
    acq_around_entry *entries;
    uint32_t *order; /* slots, partly sorted */
    uint32_t n_slots, n_entries, walked;
    uint32_t buckets[ACQ_AROUND_BUCKETS];
    size_t entities_room, slots_room, entries_room, order_room;
} acq_around;

acq_status acq_around_init(acq_around *around, const acq_around_index *index,
                           const acq_around_params *params, acq_error *error);
void acq_around_deinit(acq_around *around); /* a zeroed one is legal */

/* The nodes of a head, which is one of them, as are the n_also entities, and their edges. Fewer
 * nodes where there are too many edges. */
acq_status acq_around_find(acq_around *around, acq_ent head, const acq_ent *also, size_t n_also,
                           acq_error *error);

/* The node of an entity; ACQ_NO_ID: it is none. */
static inline uint32_t acq_around_get_node(const acq_around *around, acq_ent entity)
{
    return around->places[entity] - 1;
}

/* The tails that most heads of a relation have, at most `most` of them: of the nodes of a row one
 * in eight is such a one. */
#define ACQ_AROUND_FREQUENT(most_nodes) ((size_t)(most_nodes) / 8 + 1)
acq_status acq_around_list_frequent(const acq_around_index *index, acq_rel relation, size_t most,
                                    acq_ent *out, size_t *n);

#endif
