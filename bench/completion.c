/* completion.c - a completion of very many links: writing it in bounded memory, opening it, rows.
 *
 *   bench_completion FILE ENTITIES LINKS
 *
 * One relation in which head h has the tails (h STEP + j STRIDE) mod ENTITIES for j = 0, 1, ...; so
 * any row, of either direction, can be checked, and is before its time counts. The file is removed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion.h"

enum { HEADS = 4096, ROWS = 20000, ROUNDS = 5, MOST = 1 << 24, STEP = 7919, STRIDE = 104729 };

typedef struct made {
    uint32_t n_entities, degree;
    acq_link *links; /* of one piece */
} made;

static acq_ent get_tail(const made *m, acq_ent head, uint32_t j)
{
    return (acq_ent)(((uint64_t)head * STEP + (uint64_t)j * STRIDE) % m->n_entities);
}

static float get_score(acq_ent head, acq_ent tail)
{
    return .002F + .99F * (float)(acq_random_mix((uint64_t)head << 32 | tail) >> 40) / (1 << 24);
}

static acq_status read_piece(void *context, size_t piece, const acq_link **links, size_t *n,
                             acq_error *error)
{
    made *m = context;
    acq_ent first = (acq_ent)(piece * HEADS), end = first + HEADS;
    (void)error;
    *n = 0;
    for (acq_ent h = first; h < end && h < m->n_entities; h++)
        for (uint32_t j = 0; j < m->degree; j++) {
            acq_ent tail = get_tail(m, h, j);
            m->links[(*n)++] = (acq_link){h, tail, get_score(h, tail)};
        }
    *links = m->links;
    return ACQ_OK;
}

/* Entities 0, 1, ... and one fact, which is none of the links. */
static acq_graph *make_graph(uint32_t n_entities)
{
    acq_graph *graph = NULL;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_rel relation;
    char name[16];
    acq_error error = {0};
    if (builder == NULL)
        bench_die("out of memory");
    for (uint32_t e = 0; e < n_entities; e++) {
        acq_ent id;
        int length = snprintf(name, sizeof name, "e%u", e);
        bench_need(acq_graph_builder_add_entity(builder, name, (size_t)length, &id), &error);
    }
    bench_need(acq_graph_builder_add_relation(builder, "r", 1, &relation), &error);
    bench_need(acq_graph_builder_add_fact(builder, 1, relation, 0), &error);
    bench_need(acq_graph_builder_finish(builder, &graph, &error), &error);
    acq_graph_builder_free(builder);
    return graph;
}

static void write_file(const char *path, const acq_graph *graph, made *m)
{
    acq_error error = {0};
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = "made", .floor = .001};
    acq_link_pieces pieces = {(m->n_entities + HEADS - 1) / HEADS, read_piece, m};
    bench_need(acq_completion_writer_open(path, graph, &params, &writer, &error), &error);
    bench_need(acq_completion_writer_add_pieces(writer, 0, &pieces, MOST, &error), &error);
    bench_need(acq_completion_writer_finish(writer, &error), &error);
    acq_completion_writer_close(writer);
}

/* Has the row all links that it should, of the direction? Returns the microseconds that it took. */
static double time_row(const acq_predictor *predictor, const made *m, acq_rel relation,
                       acq_ent head, size_t *n)
{
    acq_scored_row row;
    acq_error error = {0};
    acq_row_want want = {.relation = relation, .heads = &head, .n = 1};
    double before = bench_now_ms();
    bench_need(predictor->ops->copy_rows(predictor, &want, &row, &error), &error);
    double us = 1e3 * (bench_now_ms() - before);
    for (size_t i = 0; i < row.n; i++) {
        acq_ent h = relation % 2 == 0 ? head : row.tails[i];
        acq_ent t = relation % 2 == 0 ? row.tails[i] : head;
        uint32_t j = 0;
        while (j < m->degree && get_tail(m, h, j) != t)
            j++;
        float off = row.scores[i] - get_score(h, t);
        if (row.scores[i] < 1 && (j == m->degree || off > .001F || off < -.001F))
            bench_die("row %u of relation %u has a wrong link", head, relation);
    }
    *n += row.n;
    acq_scored_row_deinit(&row);
    return us;
}

static double time_open(const char *path, const acq_graph *graph, acq_predictor **out)
{
    double ms[ROUNDS];
    acq_error error = {0};
    for (int i = 0; i < ROUNDS; i++) {
        acq_predictor_free(*out);
        double before = bench_now_ms();
        bench_need(acq_predictor_new_completion(graph, path, out, &error), &error);
        ms[i] = bench_now_ms() - before;
    }
    return bench_median(ms, ROUNDS);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        bench_die("usage: bench_completion FILE ENTITIES LINKS");
    made m = {.n_entities = (uint32_t)strtoul(argv[2], NULL, 10)};
    m.degree = (uint32_t)(strtoull(argv[3], NULL, 10) / m.n_entities);
    m.links = acq_alloc((size_t)HEADS * m.degree, sizeof *m.links);
    double *us = acq_alloc(ROWS, sizeof *us), begin = bench_cpu_ms();
    if (m.links == NULL || us == NULL)
        bench_die("out of memory");
    acq_graph *graph = make_graph(m.n_entities);
    write_file(argv[1], graph, &m);
    double written = 1e-3 * (bench_cpu_ms() - begin);
    acq_predictor *predictor = NULL;
    double opened = time_open(argv[1], graph, &predictor);
    if (!acq_predictor_makes_rows(predictor))
        bench_die("the file is so small that relations are read whole; ask for more links");
    size_t n = 0;
    acq_random random = acq_random_start(1, 1);
    for (uint32_t i = 0; i < ROWS; i++)
        us[i] =
            time_row(predictor, &m, i % 2, (acq_ent)acq_random_below(&random, m.n_entities), &n);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double median = bench_median(us, ROWS);
    bench_print_line(
        json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:f}", "entities", (json_int_t)m.n_entities,
                  "links", (json_int_t)m.degree * m.n_entities, "written_cpu_s", written,
                  "opened_ms", opened, "row_us", median, "row_us_p99", us[ROWS * 99 / 100],
                  "row_links", (double)n / ROWS, "peak_mb", (double)usage.ru_maxrss / 1024));
    acq_predictor_free(predictor);
    acq_graph_free(graph);
    acq_free(us);
    acq_free(m.links);
    return unlink(argv[1]) == 0 ? 0 : 1;
}
