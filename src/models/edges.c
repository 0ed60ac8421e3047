/* edges.c - see edges.h. */
#include "models/edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- around an entity ---- */

static const uint64_t WHOLE_MOST_FACTS = 400000;
static const uint32_t WHOLE_MOST_ENTITIES = 100000;

acq_around_params acq_around_choose(uint64_t n_facts, uint32_t n_entities)
{
    return n_facts <= WHOLE_MOST_FACTS && n_entities <= WHOLE_MOST_ENTITIES
               ? (acq_around_params){0}
               : (acq_around_params){.most_nodes = 4096, .most_edges = 262144};
}

static const float KEPT = 0.15F; /* of the mass that an entity gets */

enum {
    WALKED_PER_NODE = 24, /* links that are walked for each node there is room for */
    SLOTS_PER_NODE = 8,   /* entities that may get mass */
    MOST_OF_A_ROW = 512,  /* tails that get mass from one entity and relation */
    FEW_PER_NODE = 4,     /* tails of a row for each node, from which on nodes are looked up */
    LEAST_NODES = 16
};

static acq_status count_relations(acq_around_index *index, const acq_graph *graph, uint64_t *n,
                                  acq_error *error)
{
    for (acq_rel r = 0; r < index->n_relations; r++) {
        acq_status status = acq_graph_open_links(graph, r, &index->links[r], error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < index->links[r]->n_heads; i++)
            index->offsets[index->links[r]->heads[i] + 2]++;
        *n += index->links[r]->n_heads;
    }
    return *n < UINT32_MAX ? ACQ_OK
                           : acq_fail(error, ACQ_ERR_LIMIT,
                                      "the entities of the graph have more "
                                      "than 4 billion relations");
}

static acq_status fill_relations(acq_around_index *index, uint64_t n, acq_error *error)
{
    bool is_narrow = index->n_relations <= UINT16_MAX + 1U;
    if (is_narrow)
        index->narrow = acq_alloc(n, sizeof *index->narrow);
    else
        index->wide = acq_alloc(n, sizeof *index->wide);
    if (index->narrow == NULL && index->wide == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < index->n_relations; r++)
        for (uint32_t i = 0; i < index->links[r]->n_heads; i++) {
            uint32_t at = index->offsets[index->links[r]->heads[i] + 1]++;
            if (is_narrow)
                index->narrow[at] = (uint16_t)r;
            else
                index->wide[at] = r;
        }
    return ACQ_OK;
}

/* offsets[e + 1] is where e's next relation goes, and its end when all are there. */
acq_status acq_around_index_init(acq_around_index *index, const acq_graph *graph, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(graph);
    uint32_t n_relations = acq_graph_get_n_relations(graph);
    uint64_t n = 0;
    *index =
        (acq_around_index){.n_entities = n_entities,
                           .n_relations = n_relations,
                           .links = acq_zalloc(n_relations, sizeof *index->links),
                           .offsets = acq_zalloc((size_t)n_entities + 2, sizeof *index->offsets)};
    acq_status status = index->links == NULL || index->offsets == NULL
                            ? acq_fail_memory(error)
                            : count_relations(index, graph, &n, error);
    for (uint32_t e = 0; e < n_entities && status == ACQ_OK; e++)
        index->offsets[e + 2] += index->offsets[e + 1];
    if (status == ACQ_OK)
        status = fill_relations(index, n, error);
    if (status != ACQ_OK)
        acq_around_index_deinit(index);
    return status;
}

void acq_around_index_deinit(acq_around_index *index)
{
    acq_free(index->links);
    acq_free(index->offsets);
    acq_free(index->narrow);
    acq_free(index->wide);
    *index = (acq_around_index){0};
}

/* ---- mass ---- */

acq_status acq_around_init(acq_around *around, const acq_around_index *index,
                           const acq_around_params *params, acq_error *error)
{
    *around = (acq_around){.index = index, .params = *params};
    around->places = acq_zalloc(index->n_entities, sizeof *around->places);
    if (params->most_nodes == 0 || params->most_nodes > index->n_entities)
        around->params.most_nodes = index->n_entities;
    if (params->most_edges == 0)
        around->params.most_edges = UINT32_MAX;
    return around->places == NULL ? acq_fail_memory(error) : ACQ_OK;
}

void acq_around_deinit(acq_around *around)
{
    acq_free(around->places);
    acq_free(around->entities);
    acq_edges_deinit(&around->edges);
    acq_free(around->outside.begins);
    acq_free(around->outside.counts);
    acq_free(around->outside.relations);
    acq_free(around->slots);
    acq_free(around->entries);
    acq_free(around->order);
    *around = (acq_around){0};
}

/* Places of the row before, which may have failed half way. */
static void forget(acq_around *around)
{
    for (uint32_t i = 0; i < around->n_slots; i++)
        around->places[around->slots[i].entity] = 0;
    for (uint32_t i = 0; i < around->n; i++)
        around->places[around->entities[i]] = 0;
    around->n = around->n_slots = around->n_entries = around->walked = 0;
    memset(around->buckets, 0xff, sizeof around->buckets);
}

static uint32_t find_bucket(float mass)
{
    int exponent;
    (void)frexpf(mass, &exponent);
    if (exponent > 0)
        return 0;
    return exponent <= -(int)ACQ_AROUND_BUCKETS ? ACQ_AROUND_BUCKETS - 1 : (uint32_t)-exponent;
}

static acq_status enqueue(acq_around *around, uint32_t i)
{
    acq_around_slot *slot = &around->slots[i];
    uint32_t bucket = find_bucket(slot->waiting);
    if (bucket >= slot->queued)
        return ACQ_OK;
    if (ACQ_RESERVE(around->entries, around->entries_room, around->n_entries + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    slot->queued = bucket;
    around->entries[around->n_entries] = (acq_around_entry){i, around->buckets[bucket]};
    around->buckets[bucket] = around->n_entries++;
    return ACQ_OK;
}

static acq_status add_mass(acq_around *around, acq_ent entity, float mass)
{
    uint32_t most = around->params.most_nodes;
    uint32_t place = around->places[entity];
    if (place == 0) {
        if (around->n_slots / SLOTS_PER_NODE >= most)
            return ACQ_OK;
        if (ACQ_RESERVE(around->slots, around->slots_room, around->n_slots + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        around->slots[around->n_slots++] = (acq_around_slot){entity, ACQ_NO_ID, 0, 0};
        place = around->places[entity] = around->n_slots;
    }
    around->slots[place - 1].waiting += mass;
    around->slots[place - 1].total += mass;
    return enqueue(around, place - 1);
}

static bool is_hidden_one_way(const acq_around *around, acq_ent head, acq_rel relation,
                              acq_ent tail)
{
    const acq_around_hidden *hidden = &around->hidden;
    acq_row row = {.tails = hidden->tails, .n = hidden->n};
    return head == around->head &&
           (hidden->relation == ACQ_NO_ID || hidden->relation == relation) &&
           acq_row_find(row, tail) < row.n;
}

static bool is_hidden(const acq_around *around, acq_ent head, acq_rel relation, acq_ent tail)
{
    return around->hidden.n > 0 && (is_hidden_one_way(around, head, relation, tail) ||
                                    is_hidden_one_way(around, tail, acq_inverse(relation), head));
}

/* Relation number i of all entities', which is one of the entity. */
static acq_row get_row(const acq_around_index *index, uint32_t i, acq_ent entity)
{
    const acq_edges *world = index->world;
    if (world == NULL)
        return acq_links_get_row(index->links[acq_around_index_get(index, i)], entity);
    return (acq_row){.tails = world->sources + world->begins[i],
                     .n = world->begins[i + 1] - world->begins[i]};
}

/* Evenly spaced where there are very many tails. */
static acq_status spread_row(acq_around *around, acq_ent entity, uint32_t i_relation, float mass)
{
    acq_row row = get_row(around->index, i_relation, entity);
    acq_rel relation = acq_around_index_get(around->index, i_relation);
    size_t n = row.n < MOST_OF_A_ROW ? row.n : MOST_OF_A_ROW;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_ent tail = row.tails[i * row.n / n];
        if (!is_hidden(around, entity, relation, tail))
            status = add_mass(around, tail, mass / (float)row.n);
    }
    around->walked += (uint32_t)n;
    return status;
}

static acq_status spread(acq_around *around, uint32_t i)
{
    const acq_around_index *index = around->index;
    acq_ent entity = around->slots[i].entity;
    uint32_t begin = index->offsets[entity], end = index->offsets[entity + 1];
    float mass = (1 - KEPT) * around->slots[i].waiting / (float)(end - begin);
    acq_status status = ACQ_OK;
    around->slots[i].waiting = 0;
    around->slots[i].queued = ACQ_NO_ID;
    for (uint32_t g = begin; g < end && status == ACQ_OK; g++)
        status = spread_row(around, entity, g, mass);
    return status;
}

/* The slot with about the most waiting; ACQ_NO_ID: none. An entry is out of date where the slot has
 * been taken, or waits in a better bucket. */
static uint32_t take_next(acq_around *around)
{
    for (uint32_t b = 0; b < ACQ_AROUND_BUCKETS; b++)
        while (around->buckets[b] != ACQ_NO_ID) {
            acq_around_entry entry = around->entries[around->buckets[b]];
            around->buckets[b] = entry.next;
            if (around->slots[entry.slot].queued == b)
                return entry.slot;
        }
    return ACQ_NO_ID;
}

static acq_status push(acq_around *around, acq_ent head)
{
    acq_status status = add_mass(around, head, 1);
    uint32_t i;
    while (status == ACQ_OK && around->walked / WALKED_PER_NODE < around->params.most_nodes &&
           (i = take_next(around)) != ACQ_NO_ID)
        status = spread(around, i);
    return status;
}

/* ---- nodes ---- */

static bool has_more(const acq_around_slot *a, const acq_around_slot *b)
{
    return a->total > b->total || (a->total == b->total && a->entity < b->entity);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the k slots with the most mass first: Hoare's selection, ties by entity. */
static void select_most(const acq_around_slot *slots, uint32_t *order, size_t n, size_t k)
{
    size_t low = 0, high = n;
    while (high - low > 1 && low < k && k < high) {
        const acq_around_slot *pivot = &slots[order[low + (high - low - 1) / 2]];
        size_t i = low, j = high - 1;
        for (;; swap(&order[i++], &order[j--])) {
            while (has_more(&slots[order[i]], pivot))
                i++;
            while (has_more(pivot, &slots[order[j]]))
                j--;
            if (i >= j)
                break;
        }
        if (k <= j + 1)
            high = j + 1;
        else
            low = j + 1;
    }
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent x = *(const acq_ent *)a, y = *(const acq_ent *)b;
    return (x > y) - (x < y);
}

static void add_entity(acq_around *around, acq_ent entity)
{
    if (around->places[entity] != 0)
        return;
    around->places[entity] = 1;
    around->entities[around->n++] = entity;
}

static acq_status take_all(acq_around *around)
{
    uint32_t n = around->index->n_entities;
    if (ACQ_RESERVE(around->entities, around->entities_room, n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (acq_ent e = 0; e < n; e++)
        add_entity(around, e);
    return ACQ_OK;
}

/* The head is the first slot. */
static acq_status take_most(acq_around *around, size_t most, const acq_ent *also, size_t n_also)
{
    size_t n = around->n_slots, taken = n < most ? n : most;
    if (ACQ_RESERVE(around->order, around->order_room, n) != ACQ_OK ||
        ACQ_RESERVE(around->entities, around->entities_room, taken + n_also + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        around->order[i] = i;
        around->places[around->slots[i].entity] = 0;
    }
    select_most(around->slots, around->order, n, taken);
    around->n = 0;
    add_entity(around, around->slots[0].entity);
    for (size_t i = 0; i < taken; i++)
        add_entity(around, around->slots[around->order[i]].entity);
    for (size_t i = 0; i < n_also; i++)
        add_entity(around, also[i]);
    qsort(around->entities, around->n, sizeof *around->entities, compare_entities);
    return ACQ_OK;
}

/* ---- edges ---- */

static void add_tail(acq_around *around, acq_ent entity, acq_rel relation, acq_ent tail)
{
    if (around->places[tail] != 0 && !is_hidden(around, entity, relation, tail))
        acq_edges_add_source(&around->edges, around->places[tail] - 1);
}

/* Is any tail of the entity hidden? */
static bool may_hide(const acq_around *around, acq_ent entity)
{
    acq_row hidden = {.tails = around->hidden.tails, .n = around->hidden.n};
    return hidden.n > 0 && (entity == around->head || acq_row_find(hidden, entity) < hidden.n);
}

/* Whether a tail is a node is as good as random, so no branch asks for it: room for all tails of
 * the row is there, and what is no node is written over. */
static void add_tails(acq_around *around, acq_row row)
{
    uint32_t *out = around->edges.sources + around->edges.n_edges;
    for (size_t i = 0; i < row.n; i++) {
        uint32_t place = around->places[row.tails[i]];
        *out = place - 1;
        out += place != 0;
    }
    around->edges.n_edges = (uint32_t)(out - around->edges.sources);
}

/* The nodes among the tails of a row: either are looked up in the other. */
static uint32_t add_sources(acq_around *around, acq_ent entity, acq_rel relation, acq_row row)
{
    uint32_t before = around->edges.n_edges;
    bool is_short = row.n <= (size_t)FEW_PER_NODE * around->n;
    bool is_plain = is_short && !may_hide(around, entity);
    if (is_plain)
        add_tails(around, row);
    for (size_t i = 0; i < row.n && is_short && !is_plain; i++)
        add_tail(around, entity, relation, row.tails[i]);
    for (uint32_t node = 0; node < around->n && !is_short; node++)
        if (acq_row_find(row, around->entities[node]) < row.n)
            add_tail(around, entity, relation, around->entities[node]);
    return around->edges.n_edges - before;
}

static acq_status add_outside(acq_around *around, acq_rel relation, uint32_t count)
{
    uint32_t n = around->outside.n;
    if (ACQ_RESERVE(around->outside.counts, around->outside.counts_room, n + 1) != ACQ_OK ||
        ACQ_RESERVE(around->outside.relations, around->outside.relations_room, n + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    around->outside.counts[n] = count;
    around->outside.relations[n] = relation;
    around->outside.n++;
    return ACQ_OK;
}

static acq_status add_around_node(acq_around *around, uint32_t node)
{
    const acq_around_index *index = around->index;
    acq_ent entity = around->entities[node];
    for (uint32_t g = index->offsets[entity]; g < index->offsets[entity + 1]; g++) {
        acq_rel relation = acq_around_index_get(index, g);
        acq_row row = get_row(index, g, entity);
        size_t most = row.n <= (size_t)FEW_PER_NODE * around->n ? row.n + 1 : around->n;
        if (acq_edges_add_group(&around->edges, relation, acq_inverse(relation), most) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        uint32_t outside = (uint32_t)row.n - add_sources(around, entity, relation, row);
        if (outside > 0 && add_outside(around, relation, outside) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    acq_edges_finish_node(&around->edges, node);
    around->outside.begins[node + 1] = around->outside.n;
    return ACQ_OK;
}

/* *fits: there are not too many. */
static acq_status make_edges(acq_around *around, bool *fits)
{
    for (uint32_t i = 0; i < around->n; i++)
        around->places[around->entities[i]] = i + 1;
    around->outside.n = 0;
    *fits = true;
    acq_status status = acq_edges_start(&around->edges, around->n, around->index->n_relations);
    if (status == ACQ_OK)
        status =
            ACQ_RESERVE(around->outside.begins, around->outside.begins_room, (size_t)around->n + 1);
    if (status == ACQ_OK)
        around->outside.begins[0] = 0;
    for (uint32_t node = 0; node < around->n && status == ACQ_OK && *fits; node++) {
        status = add_around_node(around, node);
        *fits = around->edges.n_edges <= around->params.most_edges || around->n <= LEAST_NODES;
    }
    return status;
}

/* Fewer and fewer nodes, until their edges fit. */
static acq_status find_some(acq_around *around, acq_ent head, const acq_ent *also, size_t n_also)
{
    size_t most = around->params.most_nodes;
    bool fits = false;
    acq_status status = push(around, head);
    while (status == ACQ_OK && !fits) {
        for (uint32_t i = 0; i < around->n; i++)
            around->places[around->entities[i]] = 0;
        status = take_most(around, most, also, n_also);
        if (status == ACQ_OK)
            status = make_edges(around, &fits);
        most = most * 3 / 4;
        n_also = n_also * 3 / 4;
    }
    return status;
}

acq_status acq_around_find(acq_around *around, acq_ent head, const acq_ent *also, size_t n_also,
                           acq_error *error)
{
    bool fits = false;
    forget(around);
    around->head = head;
    acq_status status = ACQ_OK;
    if (around->params.most_nodes == around->index->n_entities)
        status = take_all(around);
    else
        status = find_some(around, head, also, n_also);
    if (status == ACQ_OK && around->params.most_nodes == around->index->n_entities)
        status = make_edges(around, &fits);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

/* ---- frequent tails ---- */

typedef struct frequent {
    acq_ent entity;
    uint32_t n;
} frequent;

static int compare_frequent(const void *a, const void *b)
{
    const frequent *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->entity > y->entity) - (x->entity < y->entity);
}

/* The list has room for twice as many as are wanted, and is cut when it is full. */
static size_t cut_frequent(frequent *list, size_t n, size_t most)
{
    if (n > 0)
        qsort(list, n, sizeof *list, compare_frequent);
    return n < most ? n : most;
}

acq_status acq_around_list_frequent(const acq_around_index *index, acq_rel relation, size_t most,
                                    acq_ent *out, size_t *n)
{
    const acq_links *links = index->links[acq_inverse(relation)];
    frequent *list = acq_alloc(2 * most, sizeof *list);
    if (list == NULL)
        return ACQ_ERR_MEMORY;
    *n = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        uint32_t count = links->offsets[i + 1] - links->offsets[i];
        if (*n == 2 * most)
            *n = cut_frequent(list, *n, most);
        if (*n < most || count > 1)
            list[(*n)++] = (frequent){links->heads[i], count};
    }
    *n = cut_frequent(list, *n, most);
    for (size_t i = 0; i < *n; i++)
        out[i] = list[i].entity;
    acq_free(list);
    return ACQ_OK;
}
