/* around.c - rows of ULTRA on the entities around their heads, beside rows on the whole graph.
 *
 *   bench_around GRAPH MODEL N_ROWS NODES [whole | TRUTH]
 *
 * Rows are those of N_ROWS facts drawn by a seed, half of them from the tail's side. Processor time
 * of one thread: of what all rows of a relation share, and of a row. With "whole" also rows of the
 * whole graph: their time, and how many of their first ten unobserved tails are among the first
 * ten here. With TRUTH, another graph of the same names, a line for each of the first 20 unobserved
 * tails of a row: is it true, score, log of its share of the row's softmax, log(1 + observed
 * tails), log(1 + unobserved tails before it): what tools/fit_near_scale learns from. Memory is
 * what is private (RssAnon) beyond what the opened graph has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "models/ultra/ultra.h"
#include "predict/predictor.h"
#include "store/store.h"

enum { BEST = 10 };

typedef struct side { /* near, or whole */
    acq_row_model *model;
    void *scratch;
    float *scores; /* of all entities */
    double *shared_ms, *row_ms;
} side;

typedef struct bench {
    acq_graph *graph;
    acq_ultra *model;
    uint32_t n_entities;
    acq_triple *rows;
    size_t n;
    side near, whole;
} bench;

static double read_anonymous_mb(void)
{
    char line[128];
    double kb = 0;
    FILE *stream = fopen("/proc/self/status", "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kb = strtod(line + 8, NULL);
    if (stream != NULL)
        fclose(stream);
    return kb / 1024;
}

/* Each fact is as likely as any other. */
static void draw(bench *b)
{
    acq_random random = acq_random_start(1, 1);
    acq_rel n_relations = acq_graph_get_n_relations(b->graph);
    uint64_t n_links = 2 * acq_graph_get_n_facts(b->graph);
    for (size_t i = 0; i < b->n; i++) {
        uint64_t at = acq_random_below(&random, n_links);
        for (acq_rel r = 0; r < n_relations; r++) {
            const acq_links *links;
            bench_need(acq_graph_open_links(b->graph, r, &links, NULL), NULL);
            if (at < links->n_links) {
                uint32_t row = acq_search_last(links->offsets, links->n_heads, (uint32_t)at);
                b->rows[i] = (acq_triple){links->heads[row], r, 0};
                break;
            }
            at -= links->n_links;
        }
    }
}

static void open_side(const bench *b, side *s, uint32_t nodes)
{
    acq_error error = {0};
    acq_around_params params = {.most_nodes = nodes, .most_edges = 262144};
    bench_need(acq_ultra_new_near_row_model(b->model, b->graph, &params, &s->model, &error),
               &error);
    bench_need(s->model->ops->open_scratch(s->model, &s->scratch, &error), &error);
    s->scores = acq_alloc(b->n_entities, sizeof *s->scores);
    s->shared_ms = acq_alloc(b->n, sizeof *s->shared_ms);
    s->row_ms = acq_alloc(b->n, sizeof *s->row_ms);
}

static double time_row(const bench *b, const side *s, size_t i)
{
    acq_row_request request = {.relation = b->rows[i].relation,
                               .heads = &b->rows[i].head,
                               .n_heads = 1,
                               .n_tails = b->n_entities,
                               .out = s->scores};
    const acq_ent *tails;
    size_t n;
    acq_error error = {0};
    double start = bench_cpu_ms();
    if (s->model->ops->score_few == NULL)
        bench_need(s->model->ops->score(s->model, s->scratch, &request, &error), &error);
    else
        bench_need(s->model->ops->score_few(s->model, s->scratch, request.relation, b->rows[i].head,
                                            s->scores, &tails, &n, &error),
                   &error);
    return bench_cpu_ms() - start;
}

/* Twice: the first of a relation makes what its rows share. */
static void run(const bench *b, side *s, size_t i)
{
    for (acq_ent e = 0; e < b->n_entities && s->model->is_sparse; e++)
        s->scores[e] = s->model->nothing;
    double first = time_row(b, s, i);
    s->row_ms[i] = time_row(b, s, i);
    s->shared_ms[i] = first - s->row_ms[i];
}

static void find_best(const bench *b, size_t i, const float *scores, acq_ent *out)
{
    const acq_links *links;
    bench_need(acq_graph_open_links(b->graph, b->rows[i].relation, &links, NULL), NULL);
    acq_row observed = acq_links_get_row(links, b->rows[i].head);
    for (size_t k = 0; k < BEST; k++)
        out[k] = ACQ_NO_ID;
    for (acq_ent e = 0; e < b->n_entities; e++) {
        size_t k = BEST;
        if (acq_row_find(observed, e) < observed.n)
            continue;
        for (; k > 0 && (out[k - 1] == ACQ_NO_ID || scores[e] > scores[out[k - 1]]); k--)
            if (k < BEST)
                out[k] = out[k - 1];
        if (k < BEST)
            out[k] = e;
    }
}

static double compare_best(const bench *b, size_t i)
{
    acq_ent one[BEST], other[BEST];
    size_t n = 0;
    find_best(b, i, b->near.scores, one);
    find_best(b, i, b->whole.scores, other);
    for (size_t j = 0; j < BEST; j++)
        for (size_t k = 0; k < BEST; k++)
            n += one[j] == other[k];
    return (double)n / BEST;
}

/* ---- what is learnt from ---- */

enum { DESCRIBED = 20 };

static void describe(const bench *b, const acq_predictor *truth, size_t i)
{
    const acq_links *links, *wanted;
    const acq_ent *nodes;
    size_t n;
    acq_rel relation = b->rows[i].relation;
    acq_ent head = b->rows[i].head;
    float *scores = b->near.scores;
    for (acq_ent e = 0; e < b->n_entities; e++)
        scores[e] = b->near.model->nothing;
    bench_need(acq_graph_open_links(b->graph, relation, &links, NULL), NULL);
    bench_need(acq_predictor_open_links(truth, relation, &wanted, NULL), NULL);
    bench_need(b->near.model->ops->score_few(b->near.model, b->near.scratch, relation, head, scores,
                                             &nodes, &n, NULL),
               NULL);
    acq_row observed = acq_links_get_row(links, head), all = acq_links_get_row(wanted, head);
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += exp((double)scores[nodes[j]]);
    for (size_t j = 0; j < observed.n; j++)
        scores[observed.tails[j]] = b->near.model->nothing;
    for (size_t k = 0; k < DESCRIBED && k < n; k++) {
        acq_ent best = nodes[0];
        for (size_t j = 1; j < n; j++)
            if (scores[nodes[j]] > scores[best])
                best = nodes[j];
        printf("%d %.5g %.5g %.5g %.5g\n", acq_row_find(all, best) < all.n, (double)scores[best],
               (double)scores[best] - log(sum), log1p((double)observed.n), log1p((double)k));
        scores[best] = b->near.model->nothing;
    }
}

static void describe_all(const bench *b, const char *path)
{
    acq_error error = {0};
    acq_graph *complete;
    acq_predictor *truth;
    acq_read_params params = {.split = "valid"};
    bench_need(acq_graph_open_path(path, &params, &complete, NULL, &error), &error);
    bench_need(acq_predictor_new_perfect(b->graph, complete, "truth", &truth, NULL, &error),
               &error);
    for (size_t i = 0; i < b->n; i++)
        describe(b, truth, i);
    acq_predictor_free(truth);
    acq_graph_free(complete);
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void print_side(const char *name, side *s, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += s->row_ms[i] / (double)n;
    qsort(s->row_ms, n, sizeof *s->row_ms, compare_doubles);
    qsort(s->shared_ms, n, sizeof *s->shared_ms, compare_doubles);
    printf("%s: a row %.1f ms (p50 %.1f, p99 %.1f, most %.1f), a relation %.1f ms\n", name, sum,
           s->row_ms[n / 2], s->row_ms[n * 99 / 100], s->row_ms[n - 1], s->shared_ms[n / 2]);
}

int main(int argc, char **argv)
{
    bench b = {0};
    acq_error error = {0};
    acq_read_params params = {.split = "train"};
    if (argc < 5)
        bench_die("usage: bench_around GRAPH MODEL N_ROWS NODES [whole | TRUTH]");
    bool has_whole = argc > 5 && strcmp(argv[5], "whole") == 0;
    b.n = strtoul(argv[3], NULL, 10);
    b.rows = acq_alloc(b.n, sizeof *b.rows);
    bench_need(acq_graph_open_path(argv[1], &params, &b.graph, NULL, &error), &error);
    bench_need(acq_ultra_read(argv[2], &b.model, &error), &error);
    b.n_entities = acq_graph_get_n_entities(b.graph);
    draw(&b);
    double before = read_anonymous_mb(), start = bench_cpu_ms(), overlap = 0;
    open_side(&b, &b.near, (uint32_t)strtoul(argv[4], NULL, 10));
    double opened = bench_cpu_ms() - start, model_mb = read_anonymous_mb() - before;
    if (argc > 5 && !has_whole) {
        describe_all(&b, argv[5]);
        return 0;
    }
    if (has_whole)
        open_side(&b, &b.whole, 0);
    for (size_t i = 0; i < b.n; i++) {
        run(&b, &b.near, i);
        if (has_whole) {
            run(&b, &b.whole, i);
            overlap += compare_best(&b, i) / (double)b.n;
        }
    }
    printf("model opened in %.0f ms of processor, graph %.0f MB, model %.0f MB\n", opened, before,
           model_mb);
    if (!has_whole)
        printf("with rows %.0f MB more than the graph\n", read_anonymous_mb() - before);
    print_side("near", &b.near, b.n);
    if (has_whole) {
        print_side("whole", &b.whole, b.n);
        printf("first ten in common %.1f %%\n", 100 * overlap);
    }
    return 0;
}
