/* ultra.c - rows of ULTRA timed on one graph: processor time of one thread, median of five.
 *
 *   bench_ultra NAME GRAPH MODEL N_ROWS
 *
 * Rows are those that a completion asks for: each pair of relations from the side with fewer
 * heads, the heads that have the relation; a seeded sample of N_ROWS of all of them. The tails
 * are those that have the relation ("seen") or all entities ("all"). Before anything is timed the
 * two are compared: they must agree to the last bit. Work is counted, not estimated: nodes that a
 * layer runs for (nodes.h), edges into them. One JSON object per line. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "gemm.h"

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "models/ultra/pass.h"
#include "models/ultra/ultra.h"
#include "store/store.h"
#include "tensor/kernels.h"

enum { RUNS = 5, LAYERS = ACQ_ULTRA_LAYERS, D = ACQ_ULTRA_WIDTH };

typedef struct bench {
    const char *name;
    acq_graph *graph;
    acq_ultra *model;
    acq_row_model *rows;
    void *scratch;
    acq_ultra_nodes entities;
    acq_triple *sample; /* tail unused; by relation */
    size_t n_sample, n_rows, n_relations;
    acq_ent *heads;
    uint32_t *asked; /* nodes of tails */
    float *out, *other;
} bench;

typedef struct work {
    double nodes, edges; /* of a row on average */
} work;

static const acq_links *open_links(const bench *b, acq_rel relation)
{
    const acq_links *links;
    bench_need(acq_graph_open_links(b->graph, relation, &links, NULL), NULL);
    return links;
}

static acq_rel choose_side(const bench *b, acq_rel even)
{
    acq_rel odd = acq_inverse(even);
    return open_links(b, even)->n_heads <= open_links(b, odd)->n_heads ? even : odd;
}

static int compare_rows(const void *a, const void *b)
{
    const acq_triple *x = a, *y = b;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->head < y->head ? -1 : x->head > y->head;
}

/* Every row of the smaller sides is drawn with the same probability. */
static void draw_rows(bench *b, size_t n)
{
    acq_random random = acq_random_start(1, 1);
    size_t room = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(b->graph); r += 2) {
        acq_rel side = choose_side(b, r);
        const acq_links *links = open_links(b, side);
        bench_need(ACQ_RESERVE(b->sample, room, b->n_rows + links->n_heads), NULL);
        for (uint32_t i = 0; i < links->n_heads; i++)
            b->sample[b->n_rows++] = (acq_triple){links->heads[i], side, 0};
        b->n_relations += links->n_heads > 0;
    }
    b->n_sample = n < b->n_rows ? n : b->n_rows;
    for (size_t i = 0; i < b->n_sample; i++) {
        size_t j = i + acq_random_below(&random, b->n_rows - i);
        acq_triple drawn = b->sample[j];
        b->sample[j] = b->sample[i];
        b->sample[i] = drawn;
    }
    qsort(b->sample, b->n_sample, sizeof *b->sample, compare_rows);
}

static void load(bench *b, char *const *argv)
{
    acq_error error = {0};
    acq_read_params params = {.split = "train"};
    b->name = argv[1];
    bench_need(acq_graph_open_path(argv[2], &params, &b->graph, NULL, &error), &error);
    bench_need(acq_ultra_read(argv[3], &b->model, &error), &error);
    bench_need(acq_ultra_new_row_model(b->model, b->graph, &b->rows, &error), &error);
    bench_need(b->rows->ops->open_scratch(b->rows, &b->scratch, &error), &error);
    bench_need(acq_ultra_nodes_init(&b->entities, b->graph, &error), &error);
    b->out = acq_alloc(acq_graph_get_n_entities(b->graph) * b->rows->batch, sizeof *b->out);
    b->heads = acq_alloc(b->rows->batch, sizeof *b->heads);
    b->asked = acq_alloc(acq_graph_get_n_entities(b->graph), sizeof *b->asked);
    b->other = acq_alloc(acq_graph_get_n_entities(b->graph), sizeof *b->other);
}

static void unload(bench *b)
{
    b->rows->ops->free_scratch(b->rows, b->scratch);
    acq_row_model_free(b->rows);
    acq_ultra_free(b->model);
    acq_graph_free(b->graph);
    acq_ultra_nodes_deinit(&b->entities);
    acq_free(b->asked);
    acq_free(b->sample);
    acq_free(b->heads);
    acq_free(b->out);
    acq_free(b->other);
}

static acq_row_request get_request(const bench *b, const acq_triple *row, bool seen)
{
    const acq_links *inverse = open_links(b, acq_inverse(row->relation));
    return (acq_row_request){.relation = row->relation,
                             .heads = &row->head,
                             .n_heads = 1,
                             .tails = seen ? inverse->heads : NULL,
                             .n_tails = seen ? inverse->n_heads : b->entities.n_entities,
                             .out = b->out};
}

static double time_request(const bench *b, const acq_row_request *request)
{
    double start = bench_cpu_ms();
    bench_need(b->rows->ops->score(b->rows, b->scratch, request, NULL), NULL);
    return bench_cpu_ms() - start;
}

static void check(const bench *b, const acq_triple *row)
{
    acq_row_request all = get_request(b, row, false), seen = get_request(b, row, true);
    all.out = b->other;
    time_request(b, &all);
    time_request(b, &seen);
    for (size_t i = 0; i < seen.n_tails; i++)
        if (memcmp(&b->out[i], &b->other[seen.tails[i]], sizeof *b->out) != 0)
            bench_die("%s: a score depends on what else is asked", b->name);
}

/* Heads of the sample from i on that one request can ask for; returns how many. */
static size_t take_heads(const bench *b, size_t i)
{
    size_t n = 0;
    for (; n < b->rows->batch && i + n < b->n_sample &&
           b->sample[i + n].relation == b->sample[i].relation;
         n++)
        b->heads[n] = b->sample[i + n].head;
    return n;
}

typedef struct times {
    double row[RUNS], prepare; /* milliseconds, means over the sample and over its relations */
} times;

/* The first request of a relation prepares it: asked for no head, that is all it does. */
static times time_sample(const bench *b, bool seen)
{
    times t = {0};
    size_t n_prepared = 0;
    for (size_t i = 0, n; i < b->n_sample; i += n) {
        acq_row_request request = get_request(b, &b->sample[i], seen);
        request.n_heads = 0;
        if (i == 0 || b->sample[i].relation != b->sample[i - 1].relation) {
            t.prepare += time_request(b, &request);
            n_prepared++;
        }
        request.heads = b->heads;
        request.n_heads = n = take_heads(b, i);
        for (int run = 0; run < RUNS; run++)
            t.row[run] += time_request(b, &request) / (double)b->n_sample;
    }
    t.prepare /= (double)n_prepared;
    return t;
}

static void count_row(const bench *b, acq_reach *head, acq_reach *tails, work *w)
{
    for (uint32_t v = 0; v < b->entities.n_nodes; v++)
        for (unsigned l = 1; l <= LAYERS; l++)
            if (head->distances[v] <= l && tails->distances[v] <= LAYERS - l) {
                w->nodes += 1 + (l == LAYERS); /* the score is a product of the same size */
                w->edges += acq_edges_get_degree(&b->entities.edges, v);
            }
}

/* The nodes of the tails and their partners, none twice. */
static size_t list_asked(const bench *b, const acq_row_request *request)
{
    size_t n = 0;
    uint8_t *is_asked = acq_zalloc(b->entities.n_nodes, 1);
    for (size_t i = 0; i < request->n_tails; i++)
        for (uint32_t node = b->entities.nodes[request->tails[i]]; !is_asked[node];
             node = b->entities.partners[node]) {
            is_asked[node] = 1;
            b->asked[n++] = node;
        }
    acq_free(is_asked);
    return n;
}

static work count_work(const bench *b, bool seen)
{
    acq_reach head, tails;
    work w = {0};
    bench_need(acq_reach_init(&head, b->entities.n_nodes), NULL);
    bench_need(acq_reach_init(&tails, b->entities.n_nodes), NULL);
    for (size_t i = 0; i < b->n_sample; i++) {
        acq_row_request request = get_request(b, &b->sample[i], seen);
        uint32_t start = acq_ultra_nodes_get_head(&b->entities, b->sample[i].head);
        acq_reach_run(&head, &b->entities.edges, &start, 1);
        acq_reach_run(&tails, &b->entities.edges, seen ? b->asked : NULL,
                      seen ? list_asked(b, &request) : 0);
        count_row(b, &head, &tails, &w);
    }
    acq_reach_deinit(&head);
    acq_reach_deinit(&tails);
    w.nodes /= (double)b->n_sample;
    w.edges /= (double)b->n_sample;
    return w;
}

static void measure(const bench *b, bool seen, double peak)
{
    times t = time_sample(b, seen);
    double ms = bench_median(t.row, RUNS);
    work w = count_work(b, seen);
    double mflop = (w.nodes * 4 * D * D + w.edges * D) / 1e6;
    double cpu = ((double)b->n_rows * ms + (double)b->n_relations * t.prepare) / 1e3;
    bench_print_line(json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "kind", "ultra", "graph",
        b->name, "tails", seen ? "seen" : "all", "sample", (json_int_t)b->n_sample, "rows",
        (json_int_t)b->n_rows, "ms_row", ms, "ms_prepare", t.prepare, "nodes", w.nodes, "edges",
        w.edges, "gflops", mflop / ms, "share", mflop / ms / peak, "completion_cpu_s", cpu));
}

int main(int argc, char **argv)
{
    bench b = {0};
    if (argc != 5)
        bench_die("usage: bench_ultra NAME GRAPH MODEL N_ROWS");
    load(&b, argv);
    draw_rows(&b, strtoul(argv[4], NULL, 10));
    for (size_t i = 0; i < b.n_sample && i < 5; i++)
        check(&b, &b.sample[i]);
    double peak = gemm_get_peak();
    measure(&b, true, peak);
    measure(&b, false, peak);
    unload(&b);
}
