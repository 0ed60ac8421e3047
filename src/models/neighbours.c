/* neighbours.c - see neighbours.h.
 *
 * A row walks from the head over its facts to all entities that share one, then over those that
 * have the relation to their tails. Facts that very many share say little and cost most: past
 * MOST_SHARED they are left out. */
#include "models/neighbours.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "models/edges.h"

enum { MOST_SHARED = 2000, BATCH = 64 };

static const float LEAST = 1e-4F;

typedef struct neighbour_rows {
    acq_row_model base;
    acq_edges edges;
    float *lengths; /* by entity, 1 where it has no facts that count */
} neighbour_rows;

typedef struct scratch {
    float *likes;     /* by entity; 0 between rows */
    acq_ent *touched; /* where likes is not 0 */
    size_t n_touched;
    float *sums;    /* by tail; 0 between rows */
    acq_ent *tails; /* where sums is not 0 */
    size_t n_tails;
    acq_ent head; /* that likes are of */
} scratch;

static void free_scratch(const acq_row_model *self, void *memory)
{
    scratch *mine = memory;
    (void)self;
    if (mine == NULL)
        return;
    acq_free(mine->likes);
    acq_free(mine->touched);
    acq_free(mine->sums);
    acq_free(mine->tails);
    acq_free(mine);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const neighbour_rows *rows = (const neighbour_rows *)self;
    scratch *mine = acq_zalloc(1, sizeof *mine);
    if (mine == NULL)
        return acq_fail_memory(error);
    mine->likes = acq_zalloc(rows->edges.n_nodes, sizeof *mine->likes);
    mine->sums = acq_zalloc(rows->edges.n_nodes, sizeof *mine->sums);
    mine->touched = acq_alloc(rows->edges.n_nodes, sizeof *mine->touched);
    mine->tails = acq_alloc(rows->edges.n_nodes, sizeof *mine->tails);
    mine->head = ACQ_NO_ID;
    if (mine->likes == NULL || mine->sums == NULL || mine->touched == NULL || mine->tails == NULL) {
        free_scratch(self, mine);
        return acq_fail_memory(error);
    }
    *out = mine;
    return ACQ_OK;
}

/* Squared; 0: too many share the fact. */
static float get_weight(const neighbour_rows *rows, size_t n_sharing)
{
    if (n_sharing > MOST_SHARED)
        return 0;
    float weight = logf((float)rows->edges.n_nodes / (float)n_sharing);
    return weight * weight;
}

/* ---- likes of a head ---- */

static void add_like(scratch *mine, acq_ent entity, float weight)
{
    if (mine->likes[entity] == 0)
        mine->touched[mine->n_touched++] = entity;
    mine->likes[entity] += weight;
}

static void forget_likes(scratch *mine)
{
    for (size_t i = 0; i < mine->n_touched; i++)
        mine->likes[mine->touched[i]] = 0;
    mine->n_touched = 0;
}

/* like^2 of every entity that shares a fact with the head, which itself is left out. */
static void find_likes(const neighbour_rows *rows, scratch *mine, acq_ent head)
{
    const acq_edges *edges = &rows->edges;
    if (mine->head == head)
        return;
    forget_likes(mine);
    mine->head = head;
    for (uint32_t g = edges->rows[head]; g < edges->rows[head + 1]; g++)
        for (uint32_t s = edges->begins[g]; s < edges->begins[g + 1]; s++) {
            size_t n;
            const uint32_t *sharing =
                acq_edges_find(edges, edges->sources[s], edges->reversed[g], &n);
            float weight = get_weight(rows, n);
            for (size_t i = 0; i < n && weight > 0; i++)
                add_like(mine, sharing[i], weight);
        }
    for (size_t i = 0; i < mine->n_touched; i++) {
        acq_ent entity = mine->touched[i];
        float like = mine->likes[entity] / (rows->lengths[head] * rows->lengths[entity]);
        mine->likes[entity] = like * like;
    }
    mine->likes[head] = 0;
}

/* ---- rows ---- */

/* Adds to its tails what one entity is like; returns it, 0 for one that lacks the relation. */
static float add_tails(const neighbour_rows *rows, scratch *mine, acq_rel relation, acq_ent entity)
{
    size_t n;
    const uint32_t *tails = acq_edges_find(&rows->edges, entity, relation, &n);
    float like = mine->likes[entity];
    for (size_t i = 0; i < n; i++) {
        if (mine->sums[tails[i]] == 0)
            mine->tails[mine->n_tails++] = tails[i];
        mine->sums[tails[i]] += like;
    }
    return n == 0 ? 0 : like;
}

/* Over the shorter list: entities that are like the head, or heads of the relation. */
static double sum_tails(const neighbour_rows *rows, scratch *mine, acq_rel relation,
                        const acq_links *links)
{
    bool by_heads = links->n_heads < mine->n_touched;
    const acq_ent *list = by_heads ? links->heads : mine->touched;
    size_t n = by_heads ? links->n_heads : mine->n_touched;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (mine->likes[list[i]] > 0)
            sum += (double)add_tails(rows, mine, relation, list[i]);
    return sum;
}

/* Most tails have the least score: only the others are computed. */
static void write_row(scratch *mine, double sum, const acq_row_request *request, float *out)
{
    float least = logf(LEAST), scale = sum > 0 ? (float)(1 / sum) : 0.0F;
    for (size_t j = 0; j < request->n_tails; j++) {
        float share = request->tails == NULL ? 0.0F : mine->sums[request->tails[j]];
        out[j] = share == 0 ? least : logf(LEAST + scale * share);
    }
    for (size_t i = 0; i < mine->n_tails; i++) {
        float *share = &mine->sums[mine->tails[i]];
        if (request->tails == NULL)
            out[mine->tails[i]] = logf(LEAST + scale * *share);
        *share = 0;
    }
    mine->n_tails = 0;
}

static acq_status score(const acq_row_model *self, void *memory, const acq_row_request *request,
                        acq_error *error)
{
    const neighbour_rows *rows = (const neighbour_rows *)self;
    scratch *mine = memory;
    const acq_links *links;
    acq_status status = acq_graph_open_links(self->graph, request->relation, &links, error);
    for (size_t i = 0; i < request->n_heads && status == ACQ_OK; i++) {
        find_likes(rows, mine, request->heads[i]);
        double sum = sum_tails(rows, mine, request->relation, links);
        write_row(mine, sum, request, request->out + i * request->n_tails);
    }
    return status;
}

static acq_status score_few(const acq_row_model *self, void *memory, acq_rel relation, acq_ent head,
                            float *scores, const acq_ent **tails, size_t *n, acq_error *error)
{
    const neighbour_rows *rows = (const neighbour_rows *)self;
    scratch *mine = memory;
    const acq_links *links;
    acq_status status = acq_graph_open_links(self->graph, relation, &links, error);
    if (status != ACQ_OK)
        return status;
    find_likes(rows, mine, head);
    double sum = sum_tails(rows, mine, relation, links);
    float scale = sum > 0 ? (float)(1 / sum) : 0.0F;
    *tails = mine->tails;
    *n = mine->n_tails;
    for (size_t i = 0; i < mine->n_tails; i++) {
        float *share = &mine->sums[mine->tails[i]];
        scores[mine->tails[i]] = logf(LEAST + scale * *share);
        *share = 0;
    }
    mine->n_tails = 0;
    return ACQ_OK;
}

/* ---- the nearest ---- */

static bool is_nearer(const acq_neighbour *a, const acq_neighbour *b)
{
    return a->like > b->like || (a->like == b->like && a->entity < b->entity);
}

/* Puts one into its place among the best so far. */
static void offer(acq_neighbour one, acq_neighbour *out, size_t most, size_t *n)
{
    size_t i = *n < most ? (*n)++ : most;
    for (; i > 0 && is_nearer(&one, &out[i - 1]); i--)
        if (i < most)
            out[i] = out[i - 1];
    if (i < most)
        out[i] = one;
}

acq_status acq_neighbours_find(const acq_row_model *model, acq_ent head, acq_rel relation,
                               acq_ent tail, acq_neighbour *out, size_t most, size_t *n,
                               acq_error *error)
{
    const neighbour_rows *rows = (const neighbour_rows *)model;
    void *memory = NULL;
    acq_status status = open_scratch(model, &memory, error);
    if (status != ACQ_OK)
        return status;
    scratch *mine = memory;
    *n = 0;
    find_likes(rows, mine, head);
    for (size_t i = 0; i < mine->n_touched; i++) {
        acq_ent entity = mine->touched[i];
        size_t n_tails;
        acq_edges_find(&rows->edges, entity, relation, &n_tails);
        if (mine->likes[entity] > 0 && n_tails > 0)
            offer((acq_neighbour){.entity = entity, .like = mine->likes[entity]}, out, most, n);
    }
    for (size_t i = 0; i < *n; i++)
        out[i].has_tail = acq_edges_has(&rows->edges, out[i].entity, relation, tail);
    free_scratch(model, memory);
    return ACQ_OK;
}

static void add_likes(scratch *mine)
{
    for (size_t i = 0; i < mine->n_touched; i++) {
        acq_ent entity = mine->touched[i];
        if (mine->likes[entity] <= 0)
            continue;
        if (mine->sums[entity] == 0)
            mine->tails[mine->n_tails++] = entity;
        mine->sums[entity] += mine->likes[entity];
    }
}

acq_status acq_neighbours_find_like_any(const acq_row_model *model, void *memory,
                                        const acq_ent *heads, size_t n_heads, acq_neighbour **out,
                                        size_t *n, acq_error *error)
{
    const neighbour_rows *rows = (const neighbour_rows *)model;
    scratch *mine = memory;
    for (size_t i = 0; i < n_heads; i++) {
        find_likes(rows, mine, heads[i]);
        add_likes(mine);
    }
    acq_neighbour *list = acq_alloc(mine->n_tails + 1, sizeof *list);
    *n = mine->n_tails;
    for (size_t i = 0; i < mine->n_tails; i++) {
        float *sum = &mine->sums[mine->tails[i]];
        if (list != NULL)
            list[i] = (acq_neighbour){.entity = mine->tails[i], .like = *sum};
        *sum = 0;
    }
    mine->n_tails = 0;
    if (list == NULL)
        return acq_fail_memory(error);
    *out = list;
    return ACQ_OK;
}

static void measure_lengths(neighbour_rows *rows)
{
    const acq_edges *edges = &rows->edges;
    for (uint32_t v = 0; v < edges->n_nodes; v++) {
        double sum = 0;
        for (uint32_t g = edges->rows[v]; g < edges->rows[v + 1]; g++)
            for (uint32_t s = edges->begins[g]; s < edges->begins[g + 1]; s++) {
                size_t n;
                acq_edges_find(edges, edges->sources[s], edges->reversed[g], &n);
                sum += (double)get_weight(rows, n);
            }
        rows->lengths[v] = sum > 0 ? (float)sqrt(sum) : 1.0F;
    }
}

static void free_rows(acq_row_model *self)
{
    neighbour_rows *rows = (neighbour_rows *)self;
    acq_edges_deinit(&rows->edges);
    acq_free(rows->lengths);
    acq_free(rows);
}

static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                      .free_scratch = free_scratch,
                                      .score = score,
                                      .free = free_rows,
                                      .score_few = score_few};

acq_status acq_neighbours_new_row_model(const acq_graph *graph, acq_row_model **out,
                                        acq_error *error)
{
    neighbour_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){.ops = &ops,
                                 .graph = graph,
                                 .kind = "neighbours",
                                 .batch = BATCH,
                                 .is_sparse = true,
                                 .nothing = logf(LEAST)};
    rows->lengths = acq_alloc(acq_graph_get_n_entities(graph), sizeof *rows->lengths);
    acq_status status =
        rows->lengths == NULL ? acq_fail_memory(error) : acq_edges_init(&rows->edges, graph, error);
    if (status != ACQ_OK) {
        free_rows(&rows->base);
        return status;
    }
    measure_lengths(rows);
    *out = &rows->base;
    return ACQ_OK;
}
