/* rows.c - see ultra.h. Rows of raw scores, one head after the other.
 *
 * Nodes stand for entities, one or two of them for many that are equal (nodes.c). A node that the
 * head has not reached yet has the state that it would have without any head: its background, which
 * depends on the node and the query relation only. It is computed once per relation for every layer
 * (pass.h). Layer l is run only for nodes that the head reaches in l steps and that reach an asked
 * tail in the layers that are left; elsewhere states are the background. While
 * few nodes differ from their background, messages are the background's plus those of the
 * differences, sent out from the nodes that differ; once these have a quarter of all edges, the
 * states of the others are filled in and messages are gathered anew:
 *
 *   layer     1         2           3          4 5            6
 *   nodes     head's    within 2    within 3   near tails     asked tails only
 *   messages  differences ......... gathered .................................
 *
 * Which way a layer takes depends on the head alone, so a score has the same bits whatever other
 * tails and heads are asked for. Per row: products of 2 x 64 x 128 for each node that is
 * run, 64 additions for each edge into one. */
#include "models/ultra/ultra.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "models/ultra/pass.h"

enum {
    D = ACQ_ULTRA_WIDTH,
    PAIR = ACQ_ULTRA_PAIR,
    LAYERS = ACQ_ULTRA_LAYERS,
    BLOCK = ACQ_ULTRA_BLOCK,
    BATCH = 16
};

/* What all rows of one relation share. */
typedef struct prepared {
    acq_rel relation;          /* ACQ_NO_ID: none yet */
    acq_ultra_pass vectors;    /* its out: [relations x 64] */
    acq_ultra_pass background; /* its x[l]: [nodes x 128] states before layer l from 1 on, and the
                                * messages it gets; all are 0 for the first */
    float *projected[LAYERS];  /* [relations x 64]: as layer l uses them */
    float *scores;             /* [nodes] of the background */
    float *score_bias;         /* [128] */
} prepared;

typedef struct ultra_rows {
    acq_row_model base;
    acq_ultra_network network;
    acq_edges relations;
    acq_ultra_nodes entities;
    pthread_mutex_t lock; /* of what follows */
    bool has_all;
    acq_edges all; /* of every entity by itself, for sets; made when first asked for */
} ultra_rows;

typedef struct row_scratch {
    prepared prepared;
    acq_reach from_head, to_tails;
    float *states, *next, *messages; /* [nodes x 64] */
    uint32_t *nodes;                 /* that a layer is run for */
    uint32_t *changed;               /* that differ from their background */
    uint32_t *asked;                 /* nodes of the tails, none of them twice */
    float *scores;                   /* [nodes] of those */
    void *block;
    acq_ultra_set set; /* zeroed until a set is asked for */
} row_scratch;

typedef struct row_run { /* one row in the making */
    const ultra_rows *rows;
    row_scratch *scratch;
    uint32_t head;  /* its node */
    size_t layer;   /* that is run, from 0 */
    size_t n_nodes; /* in scratch->nodes */
} row_run;

static void free_scratch(const acq_row_model *self, void *scratch)
{
    row_scratch *s = scratch;
    (void)self;
    if (s == NULL)
        return;
    acq_ultra_pass_deinit(&s->prepared.vectors);
    acq_ultra_pass_deinit(&s->prepared.background);
    acq_reach_deinit(&s->from_head);
    acq_reach_deinit(&s->to_tails);
    acq_free(s->nodes);
    acq_free(s->changed);
    acq_free(s->asked);
    acq_free(s->block);
    acq_ultra_set_deinit(&s->set);
    acq_free(s);
}

static acq_status init_scratch(row_scratch *s, const acq_ultra_network *network, uint32_t n_nodes,
                               uint32_t n_relations)
{
    size_t n = (size_t)n_nodes * D, k = 6;
    prepared *p = &s->prepared;
    acq_ultra_array arrays[6 + LAYERS] = {{&s->states, n},       {&s->next, n},
                                          {&s->messages, n},     {&s->scores, n_nodes},
                                          {&p->scores, n_nodes}, {&p->score_bias, 2 * D}};
    for (size_t l = 0; l < LAYERS; l++)
        arrays[k++] = (acq_ultra_array){&p->projected[l], (size_t)n_relations * D};
    p->relation = ACQ_NO_ID;
    p->vectors = (acq_ultra_pass){.network = network, .net = ACQ_RELATION_NET};
    p->background =
        (acq_ultra_pass){.network = network, .net = ACQ_ENTITY_NET, .keep = ACQ_KEEP_STATES};
    s->nodes = acq_alloc(n_nodes, sizeof *s->nodes);
    s->changed = acq_alloc(n_nodes, sizeof *s->changed);
    s->asked = acq_alloc(n_nodes, sizeof *s->asked);
    if (s->nodes == NULL || s->changed == NULL || s->asked == NULL ||
        acq_ultra_allocate(arrays, k, &s->block) != ACQ_OK ||
        acq_reach_init(&s->from_head, n_nodes) != ACQ_OK ||
        acq_reach_init(&s->to_tails, n_nodes) != ACQ_OK ||
        acq_ultra_pass_reserve(&p->vectors, n_relations, NULL) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return acq_ultra_pass_reserve(&p->background, n_nodes, NULL);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const ultra_rows *rows = (const ultra_rows *)self;
    row_scratch *s = acq_zalloc(1, sizeof *s);
    if (s == NULL)
        return acq_fail_memory(error);
    if (init_scratch(s, &rows->network, rows->entities.n_nodes, rows->relations.n_nodes) !=
        ACQ_OK) {
        free_scratch(self, s);
        return acq_fail_memory(error);
    }
    *out = s;
    return ACQ_OK;
}

static void copy_row(float *to, const float *from)
{
    memcpy(to, from, D * sizeof *to);
}

static void score_background(prepared *p, size_t n_nodes)
{
    const acq_ultra_network *network = p->background.network;
    float last[BLOCK * D];
    for (size_t v = 0; v < n_nodes; v += BLOCK) {
        size_t n = n_nodes - v < BLOCK ? n_nodes - v : BLOCK;
        acq_ultra_apply_to_pairs(network, &network->layers[ACQ_ENTITY_NET][LAYERS - 1], n,
                                 p->background.x[LAYERS - 1] + v * PAIR, NULL, last);
        acq_ultra_score(network, p->score_bias, n, last, p->scores + v);
    }
}

/* The vectors of all relations for one query relation. */
static void prepare_vectors(const ultra_rows *rows, prepared *p, acq_rel relation)
{
    const acq_ultra_network *network = &rows->network;
    p->relation = ACQ_NO_ID;
    acq_ultra_run relations = acq_ultra_start_relations(
        network->model, &rows->relations, acq_ultra_get_query(network->model, relation));
    acq_ultra_pass_forward(&p->vectors, &relations);
    for (size_t l = 0; l < LAYERS; l++)
        acq_ultra_project(network, l, rows->relations.n_nodes, p->vectors.out, NULL,
                          p->projected[l]);
    acq_ultra_start_score(network, p->vectors.out + (size_t)relation * D, p->score_bias);
}

/* Stopped, nothing is prepared. */
static acq_status prepare(const ultra_rows *rows, prepared *p, acq_rel relation, acq_stop stop,
                          acq_error *error)
{
    acq_ultra_run entities = {.edges = &rows->entities.edges, .start = ACQ_NO_ID, .stop = stop};
    prepare_vectors(rows, p, relation);
    for (size_t l = 0; l < LAYERS; l++)
        entities.vectors[l] = p->projected[l];
    acq_ultra_pass_forward(&p->background, &entities);
    acq_status status = acq_stop_check(stop, error);
    if (status != ACQ_OK)
        return status;
    score_background(p, rows->entities.edges.n_nodes);
    p->relation = relation;
    return ACQ_OK;
}

/* State and message of a node without a head, from layer 1 on. */
static const float *get_background(const row_scratch *s, size_t layer, uint32_t node)
{
    return s->prepared.background.x[layer] + (size_t)node * PAIR;
}

/* The state of a node before this layer. */
static const float *get_state(const row_run *run, uint32_t node)
{
    static const float zeros[D];
    const row_scratch *s = run->scratch;
    if (s->from_head.distances[node] <= run->layer)
        return s->states + (size_t)node * D;
    return run->layer == 0 ? zeros : get_background(s, run->layer, node);
}

/* Nodes that the head reaches with this layer and that tails need after it, in the order of their
 * numbers, so that memory is walked forwards. A short list is found by the order of the reach. */
static void list_nodes(row_run *run)
{
    const acq_reach *head = &run->scratch->from_head, *tails = &run->scratch->to_tails;
    size_t most_head = run->layer + 1, most_tails = LAYERS - 1 - run->layer;
    bool by_head = head->ends[most_head] < tails->ends[most_tails];
    const acq_reach *list = by_head ? head : tails;
    size_t end = list->ends[by_head ? most_head : most_tails];
    bool all = end > head->n_nodes / 8;
    size_t n = all ? head->n_nodes : end, n_nodes = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t node = all ? (uint32_t)i : list->order[i];
        run->scratch->nodes[n_nodes] = node;
        n_nodes += head->distances[node] <= most_head && tails->distances[node] <= most_tails;
    }
    run->n_nodes = n_nodes;
}

static acq_messages start_messages(const row_run *run, acq_messages pass)
{
    pass.width = pass.ld_in = pass.ld_out = D;
    pass.vectors = run->scratch->prepared.projected[run->layer];
    return pass;
}

/* Nodes that differ from their background and that tails need, in the order of the head's reach. */
static size_t list_changed(const row_run *run, uint32_t *out)
{
    const acq_reach *head = &run->scratch->from_head, *tails = &run->scratch->to_tails;
    size_t n = 0;
    for (size_t i = 0; i < head->ends[run->layer]; i++)
        if (tails->distances[head->order[i]] <= LAYERS - run->layer)
            out[n++] = head->order[i];
    return n;
}

/* As many times the difference from the background as entities have it; kept where the next states
 * will be. */
static void keep_difference(const row_run *run, uint32_t node)
{
    const row_scratch *s = run->scratch;
    const float *background = run->layer == 0 ? NULL : get_background(s, run->layer, node);
    float count = (float)run->rows->entities.counts[node];
    size_t at = (size_t)node * D;
    for (size_t j = 0; j < D; j++)
        s->next[at + j] = count * (s->states[at + j] - (background == NULL ? 0 : background[j]));
}

/* The node that stands for one entity: the first of two partners. Both get the same messages. */
static uint32_t get_first(const row_run *run, uint32_t node)
{
    uint32_t partner = run->rows->entities.partners[node];
    return partner < node ? partner : node;
}

/* The background's messages, and those of the differences from it. An edge is walked against its
 * direction, from a source to the node that has it, as often as the node counts: so only the sums
 * of nodes that stand for one entity are right, and get_messages reads no others. Nodes that are
 * not run get messages that nobody reads. */
static void send_differences(row_run *run)
{
    row_scratch *s = run->scratch;
    acq_messages pass = start_messages(run, acq_edges_get_reversed(&run->rows->entities.edges));
    size_t n = list_changed(run, s->changed);
    for (size_t i = 0; i < n; i++)
        keep_difference(run, s->changed[i]);
    for (size_t i = 0; i < run->n_nodes; i++) {
        size_t at = (size_t)s->nodes[i] * D;
        if (run->layer == 0)
            memset(s->messages + at, 0, D * sizeof(float));
        else
            copy_row(s->messages + at, get_background(s, run->layer, s->nodes[i]) + D);
    }
    pass.in = s->next;
    pass.out = s->messages;
    run->rows->network.kernels->scatter(&pass, n, s->changed);
}

/* Background states where tails need them and the head has not been. */
static void fill_states(row_run *run)
{
    row_scratch *s = run->scratch;
    const acq_reach *tails = &s->to_tails;
    for (size_t i = 0; i < tails->ends[LAYERS - run->layer]; i++) {
        uint32_t node = tails->order[i];
        const float *state = get_state(run, node);
        if (state != s->states + (size_t)node * D)
            copy_row(s->states + (size_t)node * D, state);
    }
}

/* Whether the nodes that differ from their background have too many edges to start from them. */
static bool is_gathered(const row_run *run)
{
    return run->scratch->from_head.edges[run->layer] * 4 > run->rows->entities.edges.n_edges;
}

static void start_layer(row_run *run)
{
    if (is_gathered(run))
        fill_states(run);
    else
        send_differences(run);
}

/* Messages to n <= BLOCK nodes, the boundary included, in pairs. */
static void get_messages(const row_run *run, const uint32_t *nodes, size_t n, float *out)
{
    const row_scratch *s = run->scratch;
    const acq_kernels *kernels = run->rows->network.kernels;
    if (is_gathered(run)) {
        acq_messages pass = start_messages(run, acq_edges_get_messages(&run->rows->entities.edges));
        pass.in = s->states;
        pass.out = out;
        pass.ld_out = PAIR;
        kernels->gather_rows(&pass, n, nodes);
    } else {
        for (size_t i = 0; i < n; i++)
            copy_row(out + i * PAIR, s->messages + (size_t)get_first(run, nodes[i]) * D);
    }
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == run->head)
            kernels->add(D, s->prepared.vectors.out + (size_t)s->prepared.relation * D,
                         out + i * PAIR);
}

/* The layer for n <= BLOCK nodes. */
static void apply_to(const row_run *run, const uint32_t *nodes, size_t n, float *out)
{
    _Alignas(64) float pairs[BLOCK * PAIR];
    for (size_t i = 0; i < n; i++)
        copy_row(pairs + i * PAIR, get_state(run, nodes[i]));
    get_messages(run, nodes, n, pairs + D);
    acq_ultra_apply_to_pairs(&run->rows->network,
                             &run->rows->network.layers[ACQ_ENTITY_NET][run->layer], n, pairs, NULL,
                             out);
}

static bool is_run(const uint32_t *nodes, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (nodes[i] != nodes[0] + i)
            return false;
    return true;
}

/* Most blocks are of nodes in a row, whose next states can be written where they belong. */
static void run_block(const row_run *run, const uint32_t *nodes, size_t n)
{
    _Alignas(64) float out[BLOCK * D];
    float *next = run->scratch->next;
    if (is_run(nodes, n)) {
        apply_to(run, nodes, n, next + (size_t)nodes[0] * D);
        return;
    }
    apply_to(run, nodes, n, out);
    for (size_t i = 0; i < n; i++)
        copy_row(next + (size_t)nodes[i] * D, out + i * D);
}

static void run_layer(row_run *run)
{
    row_scratch *s = run->scratch;
    list_nodes(run);
    start_layer(run);
    for (size_t i = 0; i < run->n_nodes; i += BLOCK)
        run_block(run, s->nodes + i, run->n_nodes - i < BLOCK ? run->n_nodes - i : BLOCK);
    float *done = s->states;
    s->states = s->next;
    s->next = done;
}

/* Nodes of asked tails that the head reaches at all; the others have the background's score. */
static void list_tails(row_run *run)
{
    row_scratch *s = run->scratch;
    run->n_nodes = 0;
    for (size_t i = 0; i < s->to_tails.ends[0]; i++) {
        uint32_t node = s->to_tails.order[i];
        s->scores[node] = s->prepared.scores[node];
        if (s->from_head.distances[node] != ACQ_REACH_NEVER)
            s->nodes[run->n_nodes++] = node;
    }
}

static void run_last_layer(row_run *run)
{
    row_scratch *s = run->scratch;
    _Alignas(64) float states[BLOCK * D], scores[BLOCK];
    list_tails(run);
    start_layer(run);
    for (size_t i = 0; i < run->n_nodes; i += BLOCK) {
        size_t n = run->n_nodes - i < BLOCK ? run->n_nodes - i : BLOCK;
        apply_to(run, s->nodes + i, n, states);
        acq_ultra_score(&run->rows->network, s->prepared.score_bias, n, states, scores);
        for (size_t j = 0; j < n; j++)
            s->scores[s->nodes[i + j]] = scores[j];
    }
}

static acq_ent get_tail(const acq_row_request *request, size_t i)
{
    return request->tails == NULL ? (acq_ent)i : request->tails[i];
}

static acq_status run_row(const ultra_rows *rows, row_scratch *s, const acq_row_request *request,
                          acq_ent head, float *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    row_run run = {
        .rows = rows, .scratch = s, .head = acq_ultra_nodes_get_head(&rows->entities, head)};
    const float *query = s->prepared.vectors.out + (size_t)request->relation * D;
    acq_reach_run(&s->from_head, &rows->entities.edges, &run.head, 1);
    copy_row(s->states + (size_t)run.head * D, query);
    for (; run.layer + 1 < LAYERS && status == ACQ_OK; run.layer++) {
        run_layer(&run);
        status = acq_stop_check(request->stop, error);
    }
    if (status != ACQ_OK)
        return status;
    run_last_layer(&run);
    for (size_t i = 0; i < request->n_tails; i++)
        out[i] = s->scores[acq_ultra_nodes_get_node(&rows->entities, head, get_tail(request, i))];
    return ACQ_OK;
}

/* Any tail may be a head, so where a node is asked for its partner is too. */
static void start_tails(const ultra_rows *rows, row_scratch *s, const acq_row_request *request)
{
    const acq_ultra_nodes *entities = &rows->entities;
    uint8_t *is_asked = s->to_tails.distances; /* not in use yet */
    size_t n = 0;
    memset(is_asked, 0, entities->n_nodes);
    for (size_t i = 0; i < request->n_tails && request->tails != NULL; i++)
        for (uint32_t node = entities->nodes[request->tails[i]]; !is_asked[node];
             node = entities->partners[node]) {
            is_asked[node] = 1;
            s->asked[n++] = node;
        }
    acq_reach_run(&s->to_tails, &entities->edges, request->tails == NULL ? NULL : s->asked, n);
}

static acq_status check_row(const float *row, size_t n, acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(row[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "these ULTRA weights give scores that are not finite; use other ones");
    return ACQ_OK;
}

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    const ultra_rows *rows = (const ultra_rows *)self;
    row_scratch *s = scratch;
    acq_status status = ACQ_OK;
    if (s->prepared.relation != request->relation)
        status = prepare(rows, &s->prepared, request->relation, request->stop, error);
    if (status == ACQ_OK)
        start_tails(rows, s, request);
    for (size_t i = 0; i < request->n_heads && status == ACQ_OK; i++) {
        float *out = request->out + i * request->n_tails;
        status = run_row(rows, s, request, request->heads[i], out, error);
        if (status == ACQ_OK)
            status = check_row(out, request->n_tails, error);
    }
    return status;
}

static void free_rows(acq_row_model *self)
{
    ultra_rows *rows = (ultra_rows *)self;
    acq_ultra_network_deinit(&rows->network);
    acq_edges_deinit(&rows->relations);
    acq_ultra_nodes_deinit(&rows->entities);
    acq_edges_deinit(&rows->all);
    pthread_mutex_destroy(&rows->lock);
    acq_free(rows);
}

/* ---- sets of heads ---- */

static acq_status open_all(ultra_rows *rows, acq_error *error)
{
    acq_status status = ACQ_OK;
    pthread_mutex_lock(&rows->lock);
    if (!rows->has_all)
        status = acq_edges_init(&rows->all, rows->base.graph, error);
    rows->has_all = status == ACQ_OK;
    pthread_mutex_unlock(&rows->lock);
    return status;
}

static acq_status check_finite(const float *scores, size_t n, acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(scores[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the model gives scores that are not finite; use other weights");
    return ACQ_OK;
}

static acq_status score_set(const acq_row_model *self, void *scratch, acq_rel relation,
                            const float *degrees, float *out, acq_error *error)
{
    ultra_rows *rows = (ultra_rows *)self; /* edges are made once, under the lock */
    row_scratch *s = scratch;
    acq_status status = open_all(rows, error);
    if (status == ACQ_OK && s->set.nodes == NULL &&
        acq_ultra_set_init(&s->set, rows->all.n_nodes) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status != ACQ_OK)
        return status;
    prepare_vectors(rows, &s->prepared, relation);
    acq_ultra_set_run run = {.network = &rows->network,
                             .edges = &rows->all,
                             .query = s->prepared.vectors.out + (size_t)relation * D,
                             .projected = s->prepared.projected,
                             .score_bias = s->prepared.score_bias,
                             .degrees = degrees};
    acq_ultra_set_score(&s->set, &run, out);
    return check_finite(out, rows->all.n_nodes, error);
}

static const acq_row_model_ops ops = {
    .open_scratch = open_scratch,
    .free_scratch = free_scratch,
    .score = score,
    .free = free_rows,
    .score_set = score_set};

acq_status acq_ultra_new_row_model(const acq_ultra *model, const acq_graph *graph,
                                   acq_row_model **out, acq_error *error)
{
    ultra_rows *rows = acq_zalloc(1, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    rows->base = (acq_row_model){
        .ops = &ops, .graph = graph, .kind = "ultra", .batch = BATCH, .is_costly = true};
    pthread_mutex_init(&rows->lock, NULL);
    acq_status status = acq_ultra_network_init(&rows->network, model, false, error);
    if (status == ACQ_OK)
        status = acq_ultra_nodes_init(&rows->entities, graph, error);
    if (status == ACQ_OK)
        status = acq_ultra_relation_edges_init(&rows->relations, graph, error);
    if (status != ACQ_OK)
        free_rows(&rows->base);
    else
        *out = &rows->base;
    return status;
}
