/* lines.c - the same for queries in the text syntax, one per line, which have no labels: exact
 * search in the closed world and with the perfect predictor, one thread, median of five.
 *
 *   bench_lines NAME OBSERVED COMPLETE FACTS.tsv QUERIES.txt
 *
 * Nothing may stay undecided; that the answers are right is left to the peers, which must agree. */
#include <string.h>

#include "common.h"
#include "queries.h"

#include "base/memory.h"
#include "eval/eval.h"

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static acq_query *bind(const char *text, const acq_graph *graph)
{
    acq_query *query;
    acq_error error = {0};
    bench_need(acq_query_parse(text, strlen(text), &query, &error), &error);
    bench_need(acq_query_bind(query, graph, NULL, 0, &error), &error);
    return query;
}

static void time_lines(const char *graph_name, const char *file, const char *world,
                       const bench_lines *lines, const acq_predictor *predictor)
{
    double *ms = acq_alloc(lines->n, sizeof *ms);
    uint64_t nodes = 0, revisions = 0;
    acq_times times;
    if (ms == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < lines->n; i++) {
        acq_engine_result counters;
        acq_query *query = bind(lines->items[i].text, predictor->graph);
        ms[i] = bench_time_ask(query, predictor, &counters);
        if (counters.outcome == ACQ_UNDECIDED)
            bench_die("%s: line %zu stays undecided", file, lines->items[i].number);
        nodes += counters.effort.nodes;
        revisions += counters.effort.revisions;
        acq_query_free(query);
    }
    acq_metrics_measure_times(ms, lines->n, &times);
    acq_free(ms);
    bench_print_line(json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "kind", "exact", "graph",
        graph_name, "file", file, "world", world, "queries", (json_int_t)lines->n, "mean",
        times.mean, "p50", times.p50, "p99", times.p99, "max", times.max, "nodes",
        (double)nodes / (double)lines->n, "revisions", (double)revisions / (double)lines->n));
}

int main(int argc, char **argv)
{
    if (argc != 6)
        bench_die("bench_lines NAME OBSERVED COMPLETE FACTS.tsv QUERIES.txt");
    acq_error error = {0};
    bench_lines lines;
    acq_predictor *closed, *perfect;
    acq_graph *observed = bench_read_graph(argv[2]), *complete = bench_read_graph(argv[3]);
    bench_write_facts(observed, argv[4]);
    bench_lines_init(&lines, argv[5]);
    bench_need(acq_predictor_new_observed(observed, &closed, &error), &error);
    bench_need(acq_predictor_new_perfect(observed, complete, argv[3], &perfect, NULL, &error),
               &error);
    time_lines(argv[1], name_of(argv[5]), "closed", &lines, closed);
    time_lines(argv[1], name_of(argv[5]), "perfect", &lines, perfect);
    for (size_t i = 0; i < lines.n; i++) {
        acq_query *query = bind(lines.items[i].text, observed);
        bench_print_query(&(bench_query){argv[1], name_of(argv[5]), lines.items[i].number, query},
                          closed);
        acq_query_free(query);
    }
    bench_lines_deinit(&lines);
    acq_predictor_free(closed);
    acq_predictor_free(perfect);
    acq_graph_free(observed);
    acq_graph_free(complete);
    return 0;
}
