/* near.c - see ultra.h. Rows on the entities around a head.
 *
 * A node's message sums over all its edges, so those that lead outside matter: they are most of a
 * hub's. A state there is about what it would be without the head, and that is much the same for
 * all that are reached by a relation. So for every query relation a few entities at the far end of
 * each relation are run through the layers, with all their relations and what is usual for these:
 *
 *   usual_1(r) = v_1[r] h_1              h_1: the state of all but the head after the first layer
 *   h_{l+1}(u) = layer_l(h_l(u), sum over relations r of u of count(u, r) usual_l(r))
 *   usual_l(r) = v_l[r] mean of h_l(u) over the entities u drawn for r
 *
 * A node then gets count * usual_l(r) from the sources of r that are no nodes, and what the others
 * really send. The tails that most heads have are nodes of every row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/ultra/pass.h"

enum {
    D = ACQ_ULTRA_WIDTH,
    LAYERS = ACQ_ULTRA_LAYERS,
    BLOCK = ACQ_ULTRA_BLOCK,
    DRAWN = 4096,          /* entities, of all relations together */
    MOST_OF_RELATION = 16, /* of one */
    LEAST_OF_RELATION = 2,
    SMALL = 65536, /* entities: rows may be asked for together */
    BATCH = 16
};

static const float NOTHING = -30; /* the score of what is no node */

/* Sources that are no nodes, counted: row i has those at begins[i] .. begins[i + 1]. */
typedef struct counted {
    const uint32_t *begins, *counts;
    const acq_rel *relations;
} counted;

typedef struct near_rows {
    acq_row_model base;
    acq_ultra_network network;
    acq_around_params params;
    acq_around_index index;
    acq_edges relations;
    uint32_t n_drawn, *of_relation; /* relations + 1: relation r has drawn ones of_relation[r].. */
    uint32_t *begins, *counts;      /* their relations and how many tails of each */
    acq_rel *with;
    size_t begins_room, counts_room, with_room;
} near_rows;

typedef struct near_scratch {
    acq_rel relation;                         /* that all is prepared for; ACQ_NO_ID: none */
    acq_ultra_pass vectors;                   /* its out: [relations x 64] */
    float *projected[LAYERS], *usual[LAYERS]; /* [relations x 64] */
    float *score_bias;                        /* [128] */
    float *states, *next, *messages;          /* [drawn x 64] */
    void *block;
    acq_ent *popular;
    size_t n_popular, popular_room;
    acq_around around;
    acq_ultra_pass pass;
    float *outside[LAYERS]; /* [nodes x 64] */
    float *scores;          /* [nodes] */
    void *row_block;
    size_t most; /* nodes there is room for */
} near_scratch;

/* ---- what is usual ---- */

static acq_status draw_one(near_rows *rows, acq_ent entity)
{
    const acq_around_index *index = &rows->index;
    uint32_t begin = index->offsets[entity], n = index->offsets[entity + 1] - begin;
    uint32_t i = rows->n_drawn, at = rows->begins[i];
    if (ACQ_RESERVE(rows->begins, rows->begins_room, (size_t)i + 2) != ACQ_OK ||
        ACQ_RESERVE(rows->counts, rows->counts_room, (size_t)at + n) != ACQ_OK ||
        ACQ_RESERVE(rows->with, rows->with_room, (size_t)at + n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t g = 0; g < n; g++, at++) {
        rows->with[at] = acq_around_index_get(index, begin + g);
        rows->counts[at] = (uint32_t)acq_links_get_row(index->links[rows->with[at]], entity).n;
    }
    rows->begins[i + 1] = at;
    rows->n_drawn++;
    return ACQ_OK;
}

/* Evenly spaced over the links of each relation: who has more is drawn more often. */
static acq_status draw(near_rows *rows)
{
    uint32_t n_relations = rows->index.n_relations, most = DRAWN / n_relations;
    most = most > MOST_OF_RELATION ? MOST_OF_RELATION : most;
    most = most < LEAST_OF_RELATION ? LEAST_OF_RELATION : most;
    rows->of_relation = acq_zalloc((size_t)n_relations + 1, sizeof *rows->of_relation);
    if (rows->of_relation == NULL || ACQ_RESERVE(rows->begins, rows->begins_room, 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    rows->begins[0] = 0;
    for (acq_rel r = 0; r < n_relations; r++) {
        const acq_links *links = rows->index.links[r];
        uint64_t n = links->n_links < most ? links->n_links : most;
        for (uint64_t i = 0; i < n; i++)
            if (draw_one(rows, links->tails[(2 * i + 1) * links->n_links / (2 * n)]) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        rows->of_relation[r + 1] = rows->n_drawn;
    }
    return ACQ_OK;
}

/* out[n x 64] = messages from the counted sources. */
static void sum_usual(const acq_kernels *kernels, const counted *from, const float *usual, size_t n,
                      float *out)
{
    memset(out, 0, n * D * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (uint32_t g = from->begins[i]; g < from->begins[i + 1]; g++)
            kernels->add_scaled(D, (float)from->counts[g], usual + (size_t)from->relations[g] * D,
                                out + i * D);
}

/* usual of a layer, from the states before it. */
static void average(const near_rows *rows, near_scratch *s, size_t layer)
{
    const acq_kernels *kernels = rows->network.kernels;
    for (acq_rel r = 0; r < rows->index.n_relations; r++) {
        uint32_t begin = rows->of_relation[r], end = rows->of_relation[r + 1];
        float *usual = s->usual[layer] + (size_t)r * D;
        const float *vector = s->projected[layer] + (size_t)r * D;
        memset(usual, 0, D * sizeof *usual);
        for (uint32_t i = begin; i < end; i++)
            kernels->add(D, s->states + (size_t)i * D, usual);
        for (size_t j = 0; j < D && end > begin; j++)
            usual[j] *= vector[j] / (float)(end - begin);
    }
}

static void find_usual(const near_rows *rows, near_scratch *s)
{
    const acq_ultra_network *network = &rows->network;
    counted from = {rows->begins, rows->counts, rows->with};
    size_t n = rows->n_drawn;
    memset(s->states, 0, n * D * sizeof *s->states);
    memset(s->messages, 0, n * D * sizeof *s->messages);
    for (size_t l = 0; l + 1 < LAYERS; l++) {
        if (l > 0)
            sum_usual(network->kernels, &from, s->usual[l], n, s->messages);
        acq_ultra_apply(network, &network->layers[ACQ_ENTITY_NET][l], n, s->states, s->messages,
                        s->next);
        float *next = s->next;
        s->next = s->states;
        s->states = next;
        average(rows, s, l + 1);
    }
}

/* ---- what rows of a relation share ---- */

static acq_status prepare(const near_rows *rows, near_scratch *s, acq_rel relation, acq_stop stop,
                          acq_error *error)
{
    const acq_ultra_network *network = &rows->network;
    uint32_t n = rows->index.n_relations;
    if (s->relation == relation)
        return ACQ_OK;
    s->relation = ACQ_NO_ID;
    acq_ultra_run run = acq_ultra_start_relations(network->model, &rows->relations,
                                                  acq_ultra_get_query(network->model, relation));
    run.stop = stop;
    acq_ultra_pass_forward(&s->vectors, &run);
    acq_status status = acq_stop_check(stop, error);
    if (status != ACQ_OK)
        return status;
    for (size_t l = 0; l < LAYERS; l++)
        acq_ultra_project(network, l, n, s->vectors.out, NULL, s->projected[l]);
    acq_ultra_start_score(network, s->vectors.out + (size_t)relation * D, s->score_bias);
    find_usual(rows, s);
    size_t most = ACQ_AROUND_FREQUENT(rows->params.most_nodes);
    if (ACQ_RESERVE(s->popular, s->popular_room, most) != ACQ_OK ||
        acq_around_list_frequent(&rows->index, relation, most, s->popular, &s->n_popular) != ACQ_OK)
        return acq_fail_memory(error);
    s->relation = relation;
    return ACQ_OK;
}

/* ---- rows ---- */

static acq_status reserve_row(near_scratch *s, acq_error *error)
{
    size_t n = s->around.n;
    acq_ultra_array arrays[LAYERS];
    void *block;
    if (acq_ultra_pass_reserve(&s->pass, n, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (n <= s->most)
        return ACQ_OK;
    n += n / 4;
    arrays[0] = (acq_ultra_array){&s->scores, n};
    for (size_t l = 1; l < LAYERS; l++)
        arrays[l] = (acq_ultra_array){&s->outside[l], n * D};
    if (acq_ultra_allocate(arrays, LAYERS, &block) != ACQ_OK)
        return acq_fail_memory(error);
    acq_free(s->row_block);
    s->row_block = block;
    s->most = n;
    return ACQ_OK;
}

static acq_status score_nodes(const near_rows *rows, near_scratch *s, acq_error *error)
{
    for (size_t i = 0; i < s->around.n; i += BLOCK) {
        size_t n = s->around.n - i < BLOCK ? s->around.n - i : BLOCK;
        acq_ultra_score(&rows->network, s->score_bias, n, s->pass.out + i * D, s->scores + i);
    }
    for (size_t i = 0; i < s->around.n; i++) {
        if (!isfinite(s->scores[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "these ULTRA weights give scores that are not finite; use other ones");
        s->scores[i] = fmaxf(s->scores[i], nextafterf(NOTHING, 0));
    }
    return ACQ_OK;
}

/* The scores of the nodes around the head. */
static acq_status run_row(const near_rows *rows, near_scratch *s, acq_ent head, acq_stop stop,
                          acq_error *error)
{
    acq_status status = acq_around_find(&s->around, head, s->popular, s->n_popular, error);
    if (status == ACQ_OK)
        status = reserve_row(s, error);
    if (status != ACQ_OK)
        return status;
    acq_ultra_run run = {.edges = &s->around.edges,
                         .start = acq_around_get_node(&s->around, head),
                         .boundary = s->vectors.out + (size_t)s->relation * D,
                         .gathers_first = true,
                         .n_wanted = s->around.n,
                         .stop = stop};
    counted from = {s->around.outside.begins, s->around.outside.counts,
                    s->around.outside.relations};
    for (size_t l = 0; l < LAYERS; l++)
        run.vectors[l] = s->projected[l];
    for (size_t l = 1; l < LAYERS && s->around.outside.n > 0; l++) {
        sum_usual(rows->network.kernels, &from, s->usual[l], s->around.n, s->outside[l]);
        run.outside[l] = s->outside[l];
    }
    acq_ultra_pass_forward(&s->pass, &run);
    status = acq_stop_check(stop, error);
    return status == ACQ_OK ? score_nodes(rows, s, error) : status;
}

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    const near_rows *rows = (const near_rows *)self;
    near_scratch *s = scratch;
    acq_status status = prepare(rows, s, request->relation, request->stop, error);
    for (size_t i = 0; i < request->n_heads && status == ACQ_OK; i++) {
        float *out = request->out + i * request->n_tails;
        status = run_row(rows, s, request->heads[i], request->stop, error);
        for (size_t t = 0; t < request->n_tails && status == ACQ_OK; t++) {
            acq_ent tail = request->tails == NULL ? (acq_ent)t : request->tails[t];
            uint32_t node = acq_around_get_node(&s->around, tail);
            out[t] = node == ACQ_NO_ID ? NOTHING : s->scores[node];
        }
    }
    return status;
}

static acq_status score_few(const acq_row_model *self, void *scratch, acq_rel relation,
                            acq_ent head, float *scores, const acq_ent **tails, size_t *n,
                            acq_error *error)
{
    const near_rows *rows = (const near_rows *)self;
    near_scratch *s = scratch;
    acq_status status = prepare(rows, s, relation, (acq_stop){0}, error);
    if (status == ACQ_OK)
        status = run_row(rows, s, head, (acq_stop){0}, error);
    for (size_t i = 0; i < s->around.n && status == ACQ_OK; i++)
        scores[s->around.entities[i]] = s->scores[i];
    *tails = s->around.entities;
    *n = status == ACQ_OK ? s->around.n : 0;
    return status;
}

/* ---- memory ---- */

static void free_scratch(const acq_row_model *self, void *scratch)
{
    near_scratch *s = scratch;
    (void)self;
    if (s == NULL)
        return;
    acq_ultra_pass_deinit(&s->vectors);
    acq_ultra_pass_deinit(&s->pass);
    acq_around_deinit(&s->around);
    acq_free(s->block);
    acq_free(s->row_block);
    acq_free(s->popular);
    acq_free(s);
}

static acq_status init_scratch(near_scratch *s, const near_rows *rows, acq_error *error)
{
    size_t n = (size_t)rows->index.n_relations * D, drawn = (size_t)rows->n_drawn * D, k = 4;
    acq_ultra_array arrays[4 + 2 * LAYERS] = {
        {&s->score_bias, 2 * D}, {&s->states, drawn}, {&s->next, drawn}, {&s->messages, drawn}};
    for (size_t l = 0; l < LAYERS; l++) {
        arrays[k++] = (acq_ultra_array){&s->projected[l], n};
        arrays[k++] = (acq_ultra_array){&s->usual[l], n};
    }
    s->relation = ACQ_NO_ID;
    s->vectors = (acq_ultra_pass){.network = &rows->network, .net = ACQ_RELATION_NET};
    s->pass = (acq_ultra_pass){.network = &rows->network, .net = ACQ_ENTITY_NET};
    if (acq_ultra_allocate(arrays, k, &s->block) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = acq_ultra_pass_reserve(&s->vectors, rows->index.n_relations, error);
    return status == ACQ_OK ? acq_around_init(&s->around, &rows->index, &rows->params, error)
                            : status;
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    near_scratch *s = acq_zalloc(1, sizeof *s);
    if (s == NULL)
        return acq_fail_memory(error);
    acq_status status = init_scratch(s, (const near_rows *)self, error);
    if (status == ACQ_OK)
        *out = s;
    else
        free_scratch(self, s);
    return status;
}

static void free_rows(acq_row_model *self)
{
    near_rows *rows = (near_rows *)self;
    acq_ultra_network_deinit(&rows->network);
    acq_around_index_deinit(&rows->index);
    acq_edges_deinit(&rows->relations);
    acq_free(rows->of_relation);
    acq_free(rows->begins);
    acq_free(rows->counts);
    acq_free(rows->with);
    acq_free(rows);
}

static acq_status fill_rows(near_rows *rows, const acq_ultra *model, acq_error *error)
{
    acq_status status = acq_ultra_network_init(&rows->network, model, false, error);
    if (status == ACQ_OK)
        status = acq_around_index_init(&rows->index, rows->base.graph, error);
    if (status == ACQ_OK)
        status = acq_ultra_relation_edges_init_of(&rows->relations, &rows->index, error);
    return status == ACQ_OK && draw(rows) != ACQ_OK ? acq_fail_memory(error) : status;
}

acq_status acq_ultra_new_near_row_model(const acq_ultra *model, const acq_graph *graph,
                                        const acq_around_params *params, acq_row_model **out,
                                        acq_error *error)
{
    static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                          .free_scratch = free_scratch,
                                          .score = score,
                                          .free = free_rows,
                                          .score_few = score_few};
    uint32_t n = acq_graph_get_n_entities(graph);
    if (params->most_nodes == 0 || params->most_nodes >= n)
        return acq_ultra_new_row_model(model, graph, out, error);
    near_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){.ops = &ops,
                                 .graph = graph,
                                 .kind = "ultra",
                                 .batch = n <= SMALL ? BATCH : 1,
                                 .is_costly = true,
                                 .is_sparse = true,
                                 .nothing = NOTHING};
    rows->params = *params;
    acq_status status = fill_rows(rows, model, error);
    if (status == ACQ_OK)
        *out = &rows->base;
    else
        free_rows(&rows->base);
    return status;
}
