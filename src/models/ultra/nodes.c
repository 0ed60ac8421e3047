/* nodes.c - what ULTRA runs over; see pass.h and ultra.h. Entities are sorted by a hash of their
 * links; equal ones are compared. */
#include "models/ultra/pass.h"

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

static bool are_equal(const acq_edges *edges, acq_ent a, acq_ent b)
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

/* first[e] = the first of the entities equal to e; entities whose hash is that of others by chance
 * are left alone. */
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
        first[e] = are_equal(edges, order[start].entity, e) ? order[start].entity : e;
    }
    acq_free(order);
    return ACQ_OK;
}

/* Nodes in the order of their entities. The second of several equal ones gets the node of all but
 * the first. */
static void number_nodes(acq_ultra_nodes *self, const acq_ent *first)
{
    for (acq_ent e = 0; e < self->n_entities; e++) {
        bool is_first = first[e] == e;
        uint32_t node = is_first ? self->n_nodes : self->partners[self->nodes[first[e]]];
        if (is_first || self->nodes[first[e]] == node) {
            self->partners[self->n_nodes] = node;
            self->partners[node] = self->n_nodes;
            node = self->n_nodes++;
            self->counts[node] = 0;
        }
        self->nodes[e] = node;
        self->counts[node]++;
    }
}

static acq_status add_node(acq_ultra_nodes *self, const acq_edges *edges, acq_ent entity)
{
    for (uint32_t g = edges->rows[entity]; g < edges->rows[entity + 1]; g++) {
        uint32_t begin = edges->begins[g], end = edges->begins[g + 1];
        if (acq_edges_add_group(&self->edges, edges->relations[g], edges->reversed[g],
                                end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t s = begin; s < end; s++)
            acq_edges_add_source(&self->edges, self->nodes[edges->sources[s]]);
    }
    acq_edges_finish_node(&self->edges, self->nodes[entity]);
    return ACQ_OK;
}

static acq_status make_edges(acq_ultra_nodes *self, const acq_edges *edges)
{
    uint32_t n_made = 0;
    acq_status status = acq_edges_start(&self->edges, self->n_nodes, edges->n_relations);
    for (acq_ent e = 0; e < self->n_entities && status == ACQ_OK; e++)
        if (self->nodes[e] == n_made) {
            status = add_node(self, edges, e);
            n_made++;
        }
    return status;
}

static acq_status make(acq_ultra_nodes *self, const acq_edges *edges)
{
    uint32_t n = edges->n_nodes;
    acq_ent *first = acq_alloc(n, sizeof *first);
    self->n_entities = n;
    self->nodes = acq_alloc(n, sizeof *self->nodes);
    self->partners = acq_alloc(n, sizeof *self->partners);
    self->counts = acq_alloc(n, sizeof *self->counts);
    acq_status status = ACQ_ERR_MEMORY;
    if (first != NULL && self->nodes != NULL && self->partners != NULL && self->counts != NULL)
        status = find_first(edges, first);
    if (status == ACQ_OK) {
        number_nodes(self, first);
        status = make_edges(self, edges);
    }
    acq_free(first);
    return status;
}

acq_status acq_ultra_nodes_init(acq_ultra_nodes *self, const acq_graph *graph, acq_error *error)
{
    acq_edges edges;
    *self = (acq_ultra_nodes){0};
    acq_status status = acq_edges_init(&edges, graph, error);
    if (status != ACQ_OK)
        return status;
    status = make(self, &edges);
    acq_edges_deinit(&edges);
    if (status == ACQ_OK)
        return ACQ_OK;
    acq_ultra_nodes_deinit(self);
    return acq_fail_memory(error);
}

void acq_ultra_nodes_deinit(acq_ultra_nodes *self)
{
    acq_free(self->nodes);
    acq_free(self->partners);
    acq_free(self->counts);
    acq_edges_deinit(&self->edges);
    *self = (acq_ultra_nodes){0};
}

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

/* ---- relation graph ----
 *
 * Which relations share entities.
 *
 * Since relations come in pairs, a tail of r is a head of inverse(r), so one square bit matrix
 * says everything: shares[a][b], some entity is a head of a and of b.
 *
 *   head-head (a, b)   shares[a][b]             head-tail (a, b)   shares[a][inverse(b)]
 *   tail-tail (a, b)   shares[inverse(a)][inverse(b)]
 *                                               tail-head (a, b)   shares[inverse(a)][b]
 *
 * It is gathered entity by entity: the relations an entity is a head of, all with all. Cost:
 * sum over entities of their relations times the words of a row of the matrix. */

typedef struct bit_matrix {
    size_t words; /* of a row */
    uint64_t *bits;
} bit_matrix;

static bool has_bit(const bit_matrix *matrix, acq_rel row, acq_rel column)
{
    return matrix->bits[row * matrix->words + column / 64] >> (column % 64) & 1;
}

/* own is a row of bits for the relations of one entity at a time. */
static void gather_shares(const acq_around_index *index, bit_matrix *shares, uint64_t *own)
{
    for (size_t e = 0; e < index->n_entities; e++) {
        uint32_t begin = index->offsets[e], end = index->offsets[e + 1];
        memset(own, 0, shares->words * sizeof *own);
        for (uint32_t i = begin; i < end; i++) {
            acq_rel r = acq_around_index_get(index, i);
            own[r / 64] |= 1ULL << (r % 64);
        }
        for (uint32_t i = begin; i < end; i++) {
            uint64_t *row = shares->bits + acq_around_index_get(index, i) * shares->words;
            for (size_t w = 0; w < shares->words; w++)
                row[w] |= own[w];
        }
    }
}

static acq_status init_shares(bit_matrix *shares, const acq_around_index *index, acq_error *error)
{
    size_t n = index->n_relations;
    shares->words = (n + 63) / 64;
    shares->bits = acq_zalloc(n * shares->words, sizeof *shares->bits);
    uint64_t *own = acq_alloc(shares->words, sizeof *own);
    acq_status status = ACQ_OK;
    if (shares->bits == NULL || own == NULL) {
        acq_free(shares->bits);
        status = acq_fail_memory(error);
    } else {
        gather_shares(index, shares, own);
    }
    acq_free(own);
    return status;
}

static bool is_edge(const bit_matrix *shares, unsigned kind, acq_rel row, acq_rel column)
{
    bool row_tail = kind == ACQ_TAIL_TAIL || kind == ACQ_TAIL_HEAD;
    bool column_tail = kind == ACQ_TAIL_TAIL || kind == ACQ_HEAD_TAIL;
    return has_bit(shares, row_tail ? acq_inverse(row) : row,
                   column_tail ? acq_inverse(column) : column);
}

static size_t count_bits(const bit_matrix *matrix, size_t rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows * matrix->words; i++)
        n += acq_count_bits(matrix->bits[i]);
    return n;
}

static void fill_kind(acq_relation_graph *graph, unsigned kind, const bit_matrix *shares)
{
    uint32_t n = 0;
    for (acq_rel row = 0; row < graph->n_relations; row++) {
        for (acq_rel column = 0; column < graph->n_relations; column++)
            if (is_edge(shares, kind, row, column))
                graph->columns[kind][n++] = column;
        graph->offsets[kind][row + 1] = n;
    }
}

/* Every kind has as many edges as the matrix has bits. */
static acq_status fill_relations(acq_relation_graph *graph, const bit_matrix *shares,
                                 acq_error *error)
{
    size_t n_edges = count_bits(shares, graph->n_relations);
    if (n_edges > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "relations have more than %u edges", UINT32_MAX);
    for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        graph->offsets[kind] = acq_zalloc((size_t)graph->n_relations + 1, sizeof(uint32_t));
        graph->columns[kind] = acq_alloc(n_edges, sizeof(acq_rel));
        if (graph->offsets[kind] == NULL || graph->columns[kind] == NULL)
            return acq_fail_memory(error);
        fill_kind(graph, kind, shares);
    }
    return ACQ_OK;
}

static acq_status init_relations(acq_relation_graph *out, const acq_around_index *index,
                                 acq_error *error)
{
    acq_relation_graph built = {.n_relations = index->n_relations};
    bit_matrix shares;
    acq_status status = init_shares(&shares, index, error);
    if (status != ACQ_OK)
        return status;
    status = fill_relations(&built, &shares, error);
    acq_free(shares.bits);
    if (status != ACQ_OK)
        acq_relation_graph_deinit(&built);
    else
        *out = built;
    return status;
}

acq_status acq_relation_graph_init(acq_relation_graph *out, const acq_graph *graph,
                                   acq_error *error)
{
    acq_around_index index;
    acq_status status = acq_around_index_init(&index, graph, error);
    if (status != ACQ_OK)
        return status;
    status = init_relations(out, &index, error);
    acq_around_index_deinit(&index);
    return status;
}

void acq_relation_graph_deinit(acq_relation_graph *graph)
{
    for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        acq_free(graph->offsets[kind]);
        acq_free(graph->columns[kind]);
    }
    *graph = (acq_relation_graph){0};
}

static acq_status add_relation_row(acq_edges *edges, const acq_relation_graph *graph, acq_rel row)
{
    static const acq_rel reversed[ACQ_ULTRA_KINDS] = {
        [ACQ_HEAD_HEAD] = ACQ_HEAD_HEAD,
        [ACQ_TAIL_TAIL] = ACQ_TAIL_TAIL,
        [ACQ_HEAD_TAIL] = ACQ_TAIL_HEAD,
        [ACQ_TAIL_HEAD] = ACQ_HEAD_TAIL,
    };
    for (acq_rel kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        uint32_t begin = graph->offsets[kind][row], end = graph->offsets[kind][row + 1];
        if (acq_edges_add_group(edges, kind, reversed[kind], end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t i = begin; i < end; i++)
            acq_edges_add_source(edges, graph->columns[kind][i]);
    }
    acq_edges_finish_node(edges, row);
    return ACQ_OK;
}

acq_status acq_ultra_relation_edges_init_of(acq_edges *edges, const acq_around_index *index,
                                            acq_error *error)
{
    acq_relation_graph relations;
    *edges = (acq_edges){0};
    acq_status status = init_relations(&relations, index, error);
    if (status != ACQ_OK)
        return status;
    bool made = acq_edges_start(edges, relations.n_relations, ACQ_ULTRA_KINDS) == ACQ_OK;
    for (acq_rel r = 0; r < relations.n_relations && made; r++)
        made = add_relation_row(edges, &relations, r) == ACQ_OK;
    acq_relation_graph_deinit(&relations);
    if (made)
        return ACQ_OK;
    acq_edges_deinit(edges);
    return acq_fail_memory(error);
}

acq_status acq_ultra_relation_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error)
{
    acq_around_index index;
    *edges = (acq_edges){0};
    acq_status status = acq_around_index_init(&index, graph, error);
    if (status != ACQ_OK)
        return status;
    status = acq_ultra_relation_edges_init_of(edges, &index, error);
    acq_around_index_deinit(&index);
    return status;
}
