/* exact.c - exact retrieval timed on benchmark queries of one graph, one thread, median of five.
 *
 *   bench_exact NAME OBSERVED COMPLETE FACTS.tsv GOAL_CLOSED GOAL_PERFECT N_PEER FILE.json F1 ...
 *
 * Before anything is timed the answers are checked: with the perfect predictor all queries must be
 * right; in the closed world every answer given must be listed, no query of type h answered, and
 * the F1 must be the known one of the file; nothing may stay undecided. Results go to stdout, one
 * JSON object per line; the first N_PEER positive queries of each file also as SQL, with our
 * answer and time, for the peers to answer on the observed graph, whose facts go to FACTS.tsv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "queries.h"

#include "base/memory.h"
#include "eval/eval.h"
#include "query/query.h"

typedef struct setting {
    const char *graph_name;
    const char *world; /* "closed" or "perfect" */
    acq_predictor *predictor;
    double goal_ms;
} setting;

/* ms: one place per query, or NULL. */
static acq_eval_row evaluate(const setting *how, const acq_bench_file *file, double *ms)
{
    acq_eval_params params = ACQ_EVAL_DEFAULT;
    acq_eval_row rows[2];
    acq_error error = {0};
    params.task = ACQ_TASK_QAR;
    params.predictor = how->predictor;
    params.decision_ms = ms;
    bench_need(acq_eval_run(&params, &file, 1, rows, &error), &error);
    return rows[0];
}

static void check(const setting *how, const acq_eval_row *row, double known_f1)
{
    const acq_qar_metrics *m = &row->qar;
    if (row->n_undecided > 0)
        bench_die("%s %s: %zu queries undecided", row->file, how->world, row->n_undecided);
    if (m->precision < 100.0 || fabs(m->f1 - known_f1) > 0.05 || fabs(m->f1_paper - m->f1) > 1e-9)
        bench_die("%s %s: f1 %.2f instead of %.1f, precision %.2f", row->file, how->world, m->f1,
                  known_f1, m->precision);
    if (strcmp(how->world, "closed") == 0 && m->recall_hard > 0.0)
        bench_die("%s closed world: answers that the observed graph cannot have", row->file);
}

/* The median of each query over passes through the whole file, so that no query is timed right
 * after itself, and what else the machine does in one pass does not count. */
static acq_times time_passes(const setting *how, const acq_bench_file *file)
{
    size_t n = file->n_instances;
    double *ms = acq_alloc(n * (BENCH_RUNS + 1), sizeof *ms), *medians = ms + n * BENCH_RUNS;
    acq_times times;
    if (ms == NULL)
        bench_die("out of memory");
    for (size_t run = 0; run < BENCH_RUNS; run++)
        evaluate(how, file, ms + run * n);
    for (size_t i = 0; i < n; i++) {
        double one[BENCH_RUNS];
        for (size_t run = 0; run < BENCH_RUNS; run++)
            one[run] = ms[run * n + i];
        medians[i] = bench_median(one, BENCH_RUNS);
    }
    acq_metrics_measure_times(medians, n, &times);
    acq_free(ms);
    return times;
}

static void time_file(const setting *how, const acq_bench_file *file, double known_f1)
{
    acq_eval_row row = evaluate(how, file, NULL);
    check(how, &row, known_f1);
    acq_times ms = time_passes(how, file);
    double n = (double)row.n_decisions;
    bench_print_line(json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                               "kind", "exact", "graph", how->graph_name, "file", row.file, "world",
                               how->world, "queries", (json_int_t)row.n_decisions, "f1", row.qar.f1,
                               "mean", ms.mean, "p50", ms.p50, "p99", ms.p99, "max", ms.max,
                               "nodes", (double)row.nodes / n, "revisions",
                               (double)row.revisions / n, "goal", how->goal_ms));
}

static void print_queries(const setting *closed, const acq_bench_file *file, size_t n)
{
    acq_error error = {0};
    for (size_t i = 0; i < file->n_instances && n > 0; i++) {
        const acq_bench_instance *instance = &file->instances[i];
        const acq_bench_formula *formula = &file->formulas[instance->formula];
        if (instance->type == 'n')
            continue;
        bench_need(acq_query_ground_pairs(formula->query, formula->names, instance->ids,
                                          formula->n_names, &error),
                   &error);
        bench_query query = {closed->graph_name, acq_bench_file_get_name(file), i + 1,
                             formula->query};
        bench_print_query(&query, closed->predictor);
        n--;
    }
}

int main(int argc, char **argv)
{
    if (argc < 10)
        bench_die("bench_exact NAME OBSERVED COMPLETE FACTS.tsv GOAL_CLOSED GOAL_PERFECT N_PEER "
                  "FILE.json F1 ...");
    acq_error error = {0};
    acq_graph *observed = bench_read_graph(argv[2]), *complete = bench_read_graph(argv[3]);
    setting closed = {.graph_name = argv[1], .world = "closed", .goal_ms = atof(argv[5])};
    setting perfect = {.graph_name = argv[1], .world = "perfect", .goal_ms = atof(argv[6])};
    acq_bench_limits limits = {acq_graph_get_n_entities(observed),
                               acq_graph_get_n_relations(observed)};
    bench_write_facts(observed, argv[4]);
    bench_need(acq_predictor_new_observed(observed, &closed.predictor, &error), &error);
    bench_need(
        acq_predictor_new_perfect(observed, complete, argv[3], &perfect.predictor, NULL, &error),
        &error);
    for (int i = 8; i + 1 < argc; i += 2) {
        acq_bench_file *file;
        bench_need(acq_bench_file_read(argv[i], ACQ_TASK_QAR, limits, &file, &error), &error);
        time_file(&closed, file, atof(argv[i + 1]));
        time_file(&perfect, file, 100.0);
        print_queries(&closed, file, (size_t)atol(argv[7]));
        acq_bench_file_free(file);
    }
    acq_predictor_free(closed.predictor);
    acq_predictor_free(perfect.predictor);
    acq_graph_free(observed);
    acq_graph_free(complete);
    return 0;
}
