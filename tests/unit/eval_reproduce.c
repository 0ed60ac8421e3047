/* The known results of exact search on the published validation files, cell by cell, to the
 * decimal: F1 in the closed world (graph = train) and with the perfect predictor (valid), and for
 * FB15k-237 the matched F1 beside the always-yes answerer. Looks for the data in $ACQ_SHARED or
 * beside the source tree and says "skipped" (exit 77) when it is not there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/eval.h"
#include "graph/text/read.h"

enum { N_QAC = 7, N_QAR = 3, N_FILES = N_QAC + N_QAR, SKIPPED = 77 };

static const char *const file_names[N_FILES] = {
    "qac_valid_type0001",  "qac_valid_type0002", "qac_valid_type0006", "qac_valid_type0005",
    "qac_valid_type0009",  "qac_valid_type0010", "qac_valid_3hub",     "qar_valid_3hub_efo1",
    "qar_valid_3hub_efo2", "qar_valid_3hub_efo3"};

typedef struct expected {
    const char *graph, *world;
    double f1[N_FILES];
    double matched[N_QAC], matched_yes[N_QAC]; /* 0: not known */
} expected;

static const expected cases[] = {
    {"FB15k-237",
     "closed",
     {65.8, 60.7, 69.9, 64.5, 78.2, 76.0, 34.6, 66.0, 58.9, 48.8},
     {74.9, 70.6, 81.7, 74.2, 80.8, 82.1, 42.2},
     {61.7, 61.2, 60.2, 61.5, 65.3, 63.2, 62.9}},
    {"FB15k-237", "perfect", {100, 100, 100, 100, 100, 100, 99.9, 100, 100, 100}, {0}, {0}},
    {"NELL", "closed", {61.0, 58.9, 62.1, 57.5, 74.4, 75.2, 27.0, 54.8, 44.6, 33.3}, {0}, {0}},
    {"NELL", "perfect", {100, 100, 100, 100, 100, 100, 99.7, 100, 100, 100}, {0}, {0}},
};

static void need(acq_status status, const acq_error *error)
{
    if (status == ACQ_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->file, error->message);
    exit(1);
}

static acq_graph *read_graph(const char *folder, const char *graph, const char *split)
{
    char path[4096];
    const char *paths[] = {path};
    acq_graph *out;
    acq_error error = {0};
    snprintf(path, sizeof path, "%s/%s/%s_kg.tsv", folder, graph, split);
    need(acq_graph_read(paths, 1, &(acq_read_params){.strict = true}, &out, NULL, &error), &error);
    return out;
}

/* Equal when both are printed with one decimal. */
static int differs(double value, double wanted)
{
    char left[32], right[32];
    snprintf(left, sizeof left, "%.1f", value);
    snprintf(right, sizeof right, "%.1f", wanted);
    return strcmp(left, right) != 0;
}

static int compare(const char *what, const char *file, double value, double wanted)
{
    int bad = differs(value, wanted);
    if (bad)
        printf("%s %s: %.3f instead of %.1f\n", file, what, value, wanted);
    return bad;
}

static int check_row(const expected *wanted, size_t i, const acq_eval_row *row)
{
    bool is_qac = i < N_QAC;
    double f1 = is_qac ? row->qac.f1 : row->qar.f1;
    int bad = compare("f1", row->file, f1, wanted->f1[i]);
    bad += compare("undecided", row->file, (double)row->n_undecided, 0.0);
    if (is_qac && wanted->matched[i] > 0.0) {
        bad += compare("f1_matched", row->file, row->qac.f1_matched, wanted->matched[i]);
        bad += compare("always yes", row->file, row->always_yes.f1_matched, wanted->matched_yes[i]);
    }
    printf("%-10s %-8s %-24s f1 %6.2f  ms %.3f (max %.1f)\n", wanted->graph, wanted->world,
           row->file, f1, row->ms.mean, row->ms.max);
    return bad;
}

static int run_file(const expected *wanted, size_t i, const char *folder,
                    const acq_predictor *predictor)
{
    char path[4096];
    acq_bench_file *file;
    acq_error error = {0};
    acq_eval_row rows[2];
    acq_eval_params params = ACQ_EVAL_DEFAULT;
    acq_bench_limits limits = {acq_graph_get_n_entities(predictor->graph),
                               acq_graph_get_n_relations(predictor->graph)};
    params.task = i < N_QAC ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    params.predictor = predictor;
    params.n_threads = 2;
    snprintf(path, sizeof path, "%s/%s/%s.json", folder, wanted->graph, file_names[i]);
    need(acq_bench_file_read(path, params.task, limits, &file, &error), &error);
    const acq_bench_file *files[] = {file};
    need(acq_eval_run(&params, files, 1, rows, &error), &error);
    int bad = check_row(wanted, i, &rows[0]);
    acq_bench_file_free(file);
    return bad;
}

static int run_case(const expected *wanted, const char *folder, const acq_graph *observed,
                    const acq_graph *complete)
{
    acq_predictor *predictor;
    acq_error error = {0};
    int bad = 0;
    if (strcmp(wanted->world, "closed") == 0)
        need(acq_predictor_new_observed(observed, &predictor, &error), &error);
    else
        need(acq_predictor_new_perfect(observed, complete, "valid", &predictor, NULL, &error),
             &error);
    for (size_t i = 0; i < N_FILES; i++)
        bad += run_file(wanted, i, folder, predictor);
    acq_predictor_free(predictor);
    return bad;
}

static const char *find_data(void)
{
    static char folder[4096];
    const char *shared = getenv("ACQ_SHARED");
    snprintf(folder, sizeof folder, "%s/data",
             shared != NULL ? shared : ACQ_SOURCE_DIR "/../shared");
    return access(folder, R_OK) == 0 ? folder : NULL;
}

int main(void)
{
    const char *folder = find_data();
    int bad = 0;
    if (folder == NULL) {
        puts("skipped: the benchmark data is not here; set ACQ_SHARED to the folder above data/");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += 2) {
        acq_graph *observed = read_graph(folder, cases[i].graph, "train");
        acq_graph *complete = read_graph(folder, cases[i].graph, "valid");
        bad += run_case(&cases[i], folder, observed, complete);
        bad += run_case(&cases[i + 1], folder, observed, complete);
        acq_graph_free(observed);
        acq_graph_free(complete);
    }
    printf("%d cells differ\n", bad);
    return bad == 0 ? 0 : 1;
}
