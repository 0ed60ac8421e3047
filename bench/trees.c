/* trees.c - our boosted trees against XGBoost on the matrix of a link fit.
 *
 *   bench_trees collect GRAPH MATRIX            fits GRAPH with --hold pairs as far as its trees
 *   bench_trees ours|xgboost THREADS MATRIX     one line of JSON
 *
 * Both have the same rows, weights, depth, number of trees, rate, regularisation, share of rows and
 * monotone features, and 255 bins. Each fits two folds; each fold's trees judge the other's rows.
 * Log-loss and gap are of these judgements, before the curve that fit puts after its trees.
 * `scores` is a hash of all judgements: two runs repeat when it is the same. Peak memory is that of
 * the process, of which the matrix is the part `matrix_mb`. Times are of the processor, all threads
 * together, and `seconds` by the clock.
 *
 * MATRIX is what acq_fold_trees_fit is given, which the linker wraps here (--wrap):
 *   uint64 rows, features, 1; double least_hessian; int8 monotone[features];
 *   float x[rows][features], weights[rows]; uint8 labels[rows], folds[rows] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <xgboost/c_api.h>

#include "base/hash.h"
#include "base/memory.h"
#include "calibrate/boost.h"
#include "calibrate/calibrator.h"
#include "common.h"
#include "fit/fit.h"
#include "store/store.h"

/* ---- collecting ---- */

static const char *matrix_path; /* for the wrapped function, which has no other argument of ours */

static void write_block(FILE *file, const void *block, size_t n, size_t size)
{
    if (fwrite(block, size, n, file) != n)
        bench_die("%s: cannot be written", matrix_path);
}

acq_status __wrap_acq_fold_trees_fit(const acq_boost_data *data, const uint8_t *folds,
                                     const acq_boost_params *params,
                                     bool (*report)(void *context, int step, int steps),
                                     void *context, acq_fold_trees *out, acq_error *error);

/* Writes the matrix and stops the fit. */
acq_status __wrap_acq_fold_trees_fit(const acq_boost_data *data, const uint8_t *folds,
                                     const acq_boost_params *params,
                                     bool (*report)(void *context, int step, int steps),
                                     void *context, acq_fold_trees *out, acq_error *error)
{
    uint64_t head[3] = {data->n, data->n_features, 1};
    FILE *file = fopen(matrix_path, "wb");
    (void)report;
    (void)context;
    *out = (acq_fold_trees){0};
    if (file == NULL)
        bench_die("%s: cannot be written", matrix_path);
    write_block(file, head, 3, sizeof *head);
    write_block(file, &params->least_hessian, 1, sizeof(double));
    write_block(file, params->monotone, data->n_features, 1);
    write_block(file, data->x, data->n * data->n_features, sizeof(float));
    write_block(file, data->weights, data->n, sizeof(float));
    write_block(file, data->labels, data->n, 1);
    write_block(file, folds, data->n, 1);
    if (fclose(file) != 0)
        bench_die("%s: cannot be written", matrix_path);
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "collected");
}

static void collect(const char *graph_path)
{
    acq_graph *graph;
    acq_error error = {0};
    acq_fit_params params;
    acq_fit_report report;
    acq_read_params read = {0};
    char folder[4096], output[4096];
    snprintf(folder, sizeof folder, "%s.fit", matrix_path);
    snprintf(output, sizeof output, "%s.completion", matrix_path);
    bench_need(acq_graph_open_path(graph_path, &read, &graph, NULL, &error), &error);
    acq_fit_params_init(&params);
    params.hold = ACQ_HOLD_PAIRS;
    params.folder = folder;
    acq_status status = acq_fit(graph, output, &params, &report, &error);
    if (status != ACQ_ERR_INTERRUPTED)
        bench_need(status, &error);
    acq_graph_free(graph);
}

/* ---- the matrix ---- */

typedef struct matrix {
    acq_boost_data data;
    acq_boost_params params;
    uint8_t *folds;
} matrix;

static void *read_block(FILE *file, size_t n, size_t size)
{
    void *block = acq_alloc(n, size);
    if (block == NULL || fread(block, size, n, file) != n)
        bench_die("the matrix is cut off, or memory ran out");
    return block;
}

static matrix read_matrix(const char *path, unsigned n_threads)
{
    uint64_t head[3];
    FILE *file = fopen(path, "rb");
    matrix m = {.params = ACQ_BOOST_DEFAULT};
    if (file == NULL || fread(head, sizeof *head, 3, file) != 3 ||
        fread(&m.params.least_hessian, sizeof(double), 1, file) != 1)
        bench_die("%s: cannot be read", path);
    size_t n = head[0], width = head[1];
    m.params.n_trees = 120;
    m.params.depth = 6;
    m.params.n_threads = n_threads;
    m.params.monotone = read_block(file, width, 1);
    m.data = (acq_boost_data){.n = n, .n_features = (uint32_t)width};
    m.data.x = read_block(file, n * width, sizeof(float));
    m.data.weights = read_block(file, n, sizeof(float));
    m.data.labels = read_block(file, n, 1);
    m.folds = read_block(file, n, 1);
    fclose(file);
    return m;
}

/* The rows of one fold. */
static acq_boost_data copy_fold(const matrix *m, unsigned fold)
{
    size_t n = 0, width = m->data.n_features;
    for (size_t i = 0; i < m->data.n; i++)
        n += m->folds[i] == fold;
    float *x = acq_alloc(n * width, sizeof *x), *weights = acq_alloc(n, sizeof *weights);
    uint8_t *labels = acq_alloc(n, 1);
    if (x == NULL || weights == NULL || labels == NULL)
        bench_die("out of memory");
    size_t k = 0;
    for (size_t i = 0; i < m->data.n; i++)
        if (m->folds[i] == fold) {
            memcpy(x + k * width, m->data.x + i * width, width * sizeof *x);
            weights[k] = m->data.weights[i];
            labels[k++] = m->data.labels[i];
        }
    return (acq_boost_data){x, labels, weights, n, (uint32_t)width, NULL};
}

/* Processor time of all threads: the machine may be busy with other work. */
static double get_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* ---- the two libraries: log-odds of `asked` by trees that learnt `rows` ---- */

static void fit_ours(const acq_boost_data *rows, const acq_boost_params *params,
                     const acq_boost_data *asked, float *odds, double cpu[2])
{
    acq_boost *boost;
    double begin = get_cpu_s();
    bench_need(acq_boost_fit(rows, params, &boost, NULL), NULL);
    double middle = get_cpu_s();
    acq_boost_score_many(boost, asked->x, asked->n, odds);
    cpu[0] += middle - begin;
    cpu[1] += get_cpu_s() - middle;
    acq_boost_free(boost);
}

static void need_xgboost(int result)
{
    if (result != 0)
        bench_die("xgboost: %s", XGBGetLastError());
}

static DMatrixHandle make_dmatrix(const acq_boost_data *rows, unsigned n_threads)
{
    DMatrixHandle handle;
    float *labels = acq_alloc(rows->n, sizeof *labels);
    if (labels == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < rows->n; i++)
        labels[i] = rows->labels[i];
    need_xgboost(XGDMatrixCreateFromMat_omp(rows->x, rows->n, rows->n_features, NAN, &handle,
                                            (int)n_threads));
    need_xgboost(XGDMatrixSetFloatInfo(handle, "label", labels, rows->n));
    need_xgboost(XGDMatrixSetFloatInfo(handle, "weight", rows->weights, rows->n));
    acq_free(labels);
    return handle;
}

static void set(BoosterHandle booster, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    need_xgboost(XGBoosterSetParam(booster, name, text));
}

static void set_params(BoosterHandle booster, const acq_boost_params *params, uint32_t n_features)
{
    char *monotone = acq_alloc(4 * (size_t)n_features + 3, 1), *at = monotone;
    *at++ = '(';
    for (uint32_t i = 0; i < n_features; i++)
        at += sprintf(at, i == 0 ? "%d" : ",%d", params->monotone[i]);
    strcpy(at, ")");
    need_xgboost(XGBoosterSetParam(booster, "objective", "binary:logistic"));
    need_xgboost(XGBoosterSetParam(booster, "tree_method", "hist"));
    need_xgboost(XGBoosterSetParam(booster, "monotone_constraints", monotone));
    set(booster, "max_bin", 255);
    set(booster, "max_depth", params->depth);
    set(booster, "eta", params->rate);
    set(booster, "lambda", params->l2);
    set(booster, "min_child_weight", params->least_hessian);
    set(booster, "subsample", params->row_share);
    set(booster, "seed", (double)params->seed);
    set(booster, "nthread", params->n_threads);
    acq_free(monotone);
}

/* What boosting starts from: ours takes the share of true rows by itself. */
static double get_share(const acq_boost_data *rows)
{
    double n_true = 0, n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        n += (double)rows->weights[i];
        n_true += rows->labels[i] ? (double)rows->weights[i] : 0;
    }
    return n_true / n;
}

static void fit_xgboost(const acq_boost_data *rows, const acq_boost_params *params,
                        const acq_boost_data *asked, float *odds, double cpu[2])
{
    BoosterHandle booster;
    double begin = get_cpu_s();
    DMatrixHandle learnt = make_dmatrix(rows, params->n_threads);
    need_xgboost(XGBoosterCreate(&learnt, 1, &booster));
    set_params(booster, params, rows->n_features);
    set(booster, "base_score", get_share(rows));
    for (uint32_t i = 0; i < params->n_trees; i++)
        need_xgboost(XGBoosterUpdateOneIter(booster, (int)i, learnt));
    double middle = get_cpu_s();
    DMatrixHandle judged = make_dmatrix(asked, params->n_threads);
    const float *found;
    bst_ulong n;
    need_xgboost(XGBoosterPredict(booster, judged, 1, 0, 0, &n, &found)); /* 1: margins */
    memcpy(odds, found, n * sizeof *odds);
    cpu[0] += middle - begin;
    cpu[1] += get_cpu_s() - middle;
    XGDMatrixFree(judged);
    XGDMatrixFree(learnt);
    XGBoosterFree(booster);
}

/* ---- judging ---- */

static void add_table(acq_reliability *table, const acq_boost_data *rows, const float *odds)
{
    for (size_t i = 0; i < rows->n; i++)
        acq_reliability_add(table, acq_boost_to_probability((double)odds[i]), rows->labels[i],
                            (double)rows->weights[i], .5);
}

static double get_peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        bench_die("bench_trees collect GRAPH MATRIX | ours|xgboost THREADS MATRIX");
    if (strcmp(argv[1], "collect") == 0) {
        matrix_path = argv[3];
        collect(argv[2]);
        return 0;
    }
    bool is_ours = strcmp(argv[1], "ours") == 0;
    matrix m = read_matrix(argv[3], (unsigned)atoi(argv[2]));
    acq_boost_data folds[2] = {copy_fold(&m, 0), copy_fold(&m, 1)};
    double cpu[2] = {0}, begin = bench_now_ms(), matrix_mb = get_peak_mb();
    acq_reliability table;
    uint64_t hash = 1;
    acq_reliability_init(&table);
    for (int fold = 0; fold < 2; fold++) {
        const acq_boost_data *asked = &folds[1 - fold];
        float *odds = acq_alloc(asked->n, sizeof *odds);
        if (odds == NULL)
            bench_die("out of memory");
        (is_ours ? fit_ours : fit_xgboost)(&folds[fold], &m.params, asked, odds, cpu);
        add_table(&table, asked, odds);
        hash = acq_hash_bytes(odds, asked->n * sizeof *odds, hash);
        acq_free(odds);
    }
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    bench_print_line(json_pack(
        "{s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s}", "trees", argv[1],
        "matrix", argv[3], "threads", (int)m.params.n_threads, "rows", (json_int_t)m.data.n,
        "features", (json_int_t)m.data.n_features, "log_loss", table.log_loss / table.weight, "gap",
        acq_reliability_get_gap(&table, 200), "fit_cpu_s", cpu[0], "score_cpu_s", cpu[1], "seconds",
        (bench_now_ms() - begin) * 1e-3, "peak_mb", get_peak_mb(), "matrix_mb", matrix_mb, "scores",
        text));
    return 0;
}
