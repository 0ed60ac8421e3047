/* boost_fit.c - one tree after the other, each for what those before it leave open.
 *
 * Features become bins: cuts from a sample of the rows, then the codes of all rows, feature by
 * feature. With log-odds s and label y a row of weight w has the derivatives w (p - y) and
 * w p (1 - p), p = 1 / (1 + exp(-s)). They become whole numbers by a power of two that keeps every
 * sum below 2^62. */
#include "calibrate/boost_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/threads.h"

enum {
    CHUNK = 16384,   /* rows that a thread takes at a time */
    SAMPLE = 100000, /* rows of a label that its quantiles are taken from */
    LABEL_CUTS = 126 /* cuts by one label */
};

typedef struct binning {
    acq_boost_bins *bins;
    const acq_boost_data *data;
    uint32_t *rows[2]; /* sampled, of each label */
    size_t n_rows[2];
} binning;

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Every k-th row of each label, so that at most SAMPLE remain. */
static acq_status sample_rows(binning *work)
{
    const acq_boost_data *data = work->data;
    size_t counts[2] = {0, 0}, seen[2] = {0, 0};
    for (size_t i = 0; i < data->n; i++)
        counts[data->labels[i]]++;
    for (int label = 0; label < 2; label++) {
        work->rows[label] = acq_alloc(SAMPLE, sizeof *work->rows[label]);
        if (work->rows[label] == NULL)
            return ACQ_ERR_MEMORY;
    }
    for (size_t i = 0; i < data->n; i++) {
        int label = data->labels[i];
        size_t step = (counts[label] + SAMPLE - 1) / SAMPLE;
        if (seen[label]++ % step == 0)
            work->rows[label][work->n_rows[label]++] = (uint32_t)i;
    }
    return ACQ_OK;
}

/* A value above a, at most b. */
static float get_middle(float a, float b)
{
    float middle = a / 2 + b / 2;
    return middle > a && middle <= b ? middle : b;
}

/* Cuts sorted values into parts of about the same number; equal values stay together. */
static uint32_t cut_values(const float *values, size_t n, float *cuts)
{
    size_t begin = 0;
    uint32_t n_cuts = 0;
    for (size_t i = 0; i + 1 < n && n_cuts < LABEL_CUTS; i++) {
        size_t left = LABEL_CUTS + 1 - n_cuts; /* parts still to make */
        if (values[i + 1] > values[i] && (i + 1 - begin) * left >= n - begin) {
            cuts[n_cuts++] = get_middle(values[i], values[i + 1]);
            begin = i + 1;
        }
    }
    return n_cuts;
}

static uint32_t drop_repeated(float *cuts, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || cuts[i] > cuts[kept - 1])
            cuts[kept++] = cuts[i];
    }
    return kept;
}

static size_t collect_values(const binning *work, int label, uint32_t feature, float *values)
{
    const acq_boost_data *data = work->data;
    size_t n = 0;
    for (size_t i = 0; i < work->n_rows[label]; i++) {
        float value = data->x[(size_t)work->rows[label][i] * data->n_features + feature];
        if (isfinite(value))
            values[n++] = value;
    }
    return n;
}

static acq_status cut_feature(void *context, size_t item, unsigned thread)
{
    const binning *work = context;
    uint32_t feature = (uint32_t)item, n_cuts = 1;
    float *cuts = work->bins->cuts + item * ACQ_BOOST_CUTS;
    float *values = acq_alloc(SAMPLE, sizeof *values);
    (void)thread;
    if (values == NULL)
        return ACQ_ERR_MEMORY;
    cuts[0] = -FLT_MAX;
    for (int label = 0; label < 2; label++) {
        size_t n = collect_values(work, label, feature, values);
        qsort(values, n, sizeof *values, compare_floats);
        n_cuts += cut_values(values, n, cuts + n_cuts);
    }
    acq_free(values);
    qsort(cuts, n_cuts, sizeof *cuts, compare_floats);
    work->bins->n_cuts[feature] = drop_repeated(cuts, n_cuts);
    return ACQ_OK;
}

/* The number of cuts at or below the value. */
static uint8_t get_code(const float *cuts, uint32_t n_cuts, float value)
{
    uint32_t i;
    if (isnan(value))
        return ACQ_BOOST_MISSING;
    ACQ_SEARCH(i, 0, n_cuts, value >= cuts[i]);
    return (uint8_t)i;
}

static acq_status code_group(void *context, size_t group, unsigned thread)
{
    const binning *work = context;
    const acq_boost_bins *bins = work->bins;
    uint32_t first = (uint32_t)group * ACQ_BOOST_GROUP, n = bins->n_features - first;
    uint8_t *codes = bins->codes + group * bins->n_rows * ACQ_BOOST_GROUP;
    (void)thread;
    if (n > ACQ_BOOST_GROUP)
        n = ACQ_BOOST_GROUP;
    for (size_t i = 0; i < bins->n_rows; i++, codes += ACQ_BOOST_GROUP) {
        const float *x = work->data->x + i * bins->n_features + first;
        for (uint32_t f = 0; f < n; f++)
            codes[f] = get_code(acq_boost_get_cuts(bins, first + f), bins->n_cuts[first + f], x[f]);
    }
    return ACQ_OK;
}

static acq_status fill_bins(binning *work, unsigned n_threads)
{
    acq_boost_bins *bins = work->bins;
    acq_status status = sample_rows(work);
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, bins->n_features, cut_feature, work);
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, bins->n_groups, code_group, work);
    acq_free(work->rows[0]);
    acq_free(work->rows[1]);
    return status;
}

/* Deinit also after an error. */
static acq_status bins_init(acq_boost_bins *bins, const acq_boost_data *data, unsigned n_threads)
{
    uint32_t n_groups = (data->n_features + ACQ_BOOST_GROUP - 1) / ACQ_BOOST_GROUP;
    *bins = (acq_boost_bins){.n_rows = data->n,
                             .n_features = data->n_features,
                             .n_groups = n_groups,
                             .codes = acq_zalloc(data->n, (size_t)n_groups * ACQ_BOOST_GROUP),
                             .cuts = acq_zalloc(data->n_features, ACQ_BOOST_CUTS * sizeof(float)),
                             .n_cuts = acq_zalloc(data->n_features, sizeof *bins->n_cuts)};
    if (bins->codes == NULL || bins->cuts == NULL || bins->n_cuts == NULL)
        return ACQ_ERR_MEMORY;
    return fill_bins(&(binning){.bins = bins, .data = data}, n_threads);
}

static void bins_deinit(acq_boost_bins *bins)
{
    acq_free(bins->codes);
    acq_free(bins->cuts);
    acq_free(bins->n_cuts);
}

/* ---- trees ---- */

typedef struct fit {
    const acq_boost_data *data;
    const acq_boost_params *params;
    acq_boost_splitter splitter;
    acq_boost_bins bins;
    acq_boost_grower *grower;
    acq_boost *boost;
    float *scores;     /* of the trees so far */
    acq_slope *slopes; /* of every row */
    uint32_t *rows;    /* that the next tree learns from */
    uint32_t tree;
} fit;

static double get_weight(const acq_boost_data *data, size_t i)
{
    return data->weights == NULL ? 1.0 : (double)data->weights[i];
}

static acq_status check_params(const acq_boost_data *data, const acq_boost_params *params,
                               acq_error *error)
{
    if (params->depth < 1 || params->depth > ACQ_BOOST_MOST_DEPTH)
        return acq_fail(error, ACQ_ERR_USAGE, "the depth of a tree must be 1 to %d",
                        ACQ_BOOST_MOST_DEPTH);
    if (!(params->rate > 0 && params->rate <= 1) ||
        !(params->row_share > 0 && params->row_share <= 1) ||
        !(params->l2 >= 0 && params->l2 <= 1e9) || !(params->least_hessian >= 0))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "rate and share of rows must be above 0 and at most 1, l2 and the least "
                        "second derivative at least 0");
    if (data->n >= UINT32_MAX || data->n_features > ACQ_BOOST_MOST_FEATURES)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "at most %u rows of %d features can be learned from; draw some of them",
                        UINT32_MAX - 1, ACQ_BOOST_MOST_FEATURES);
    return ACQ_OK;
}

/* Sums of the weights by label; *most: the largest weight. */
static acq_status sum_weights(const acq_boost_data *data, double sums[2], double *most,
                              acq_error *error)
{
    sums[0] = sums[1] = *most = 0;
    for (size_t i = 0; i < data->n; i++) {
        double weight = get_weight(data, i);
        if (data->labels[i] > 1)
            return acq_fail(error, ACQ_ERR_INPUT, "the label of row %zu is neither 0 nor 1", i);
        if (!(weight >= 0 && weight < 1e30))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the weight of row %zu is %g; expected a number from 0 to 1e30", i,
                            weight);
        sums[data->labels[i]] += weight;
        *most = fmax(*most, weight);
    }
    return ACQ_OK;
}

/* Nothing to tell rows apart by: no trees. */
static acq_status fit_share(const acq_boost_data *data, const double sums[2], bool has_prior,
                            acq_boost **out, acq_error *error)
{
    acq_status status = acq_boost_new(data->n_features, 0, 1, out, error);
    if (status == ACQ_OK && !has_prior)
        (*out)->start = (float)log((sums[1] + .5) / (sums[0] + .5));
    return status;
}

/* The power of two that makes whole numbers of derivatives. */
static double get_unit(size_t n, double most)
{
    int rows, weight;
    (void)frexp((double)n, &rows);
    (void)frexp(most, &weight);
    return ldexp(1, weight + rows - 62);
}

/* With labels for a part of what is true (boost.h) the loss is -log of the label's share; of its
 * second derivative the expected value is taken, which is never negative. */
static acq_slope get_slope(double score, double label, double weight, double missing, double unit)
{
    double p = acq_boost_to_probability(score);
    double open = p * (1 - p) / (1 + missing - p); /* p where nothing is missing */
    double first = label > 0 ? p - 1 : open, second = open * (1 - p);
    if (missing <= 0)
        second = p * (1 - p);
    return (acq_slope){(int64_t)(weight * first / unit),
                       (int64_t)(weight * second / unit) + (weight > 0)};
}

/* Item: a chunk of rows. The last tree's words are added, then the derivatives taken. */
static acq_status update_chunk(void *context, size_t item, unsigned thread)
{
    fit *work = context;
    const acq_boost_data *data = work->data;
    size_t begin = item * CHUNK, end = begin + CHUNK < data->n ? begin + CHUNK : data->n;
    (void)thread;
    if (work->tree > 0)
        acq_boost_grower_add(work->grower, begin, end, work->scores);
    for (size_t i = begin; i < end; i++)
        work->slopes[i] = get_slope((double)work->scores[i], data->labels[i], get_weight(data, i),
                                    work->params->missing, work->splitter.unit);
    return ACQ_OK;
}

/* The rows of one tree, rising; those without weight have nothing to say. */
static size_t draw_rows(const fit *work)
{
    const acq_boost_params *params = work->params;
    acq_random random = acq_random_start(params->seed, work->tree);
    size_t n = 0;
    for (size_t i = 0; i < work->data->n; i++) {
        bool is_drawn = params->row_share >= 1 || acq_random_unit(&random) < params->row_share;
        work->rows[n] = (uint32_t)i;
        n += is_drawn && work->slopes[i][1] > 0;
    }
    return n;
}

static void grow_trees(fit *work)
{
    size_t n_chunks = (work->data->n + CHUNK - 1) / CHUNK;
    int64_t deadline = acq_clock_get_deadline(work->params->seconds);
    for (work->tree = 0; work->tree < work->boost->n_trees; work->tree++) {
        if (work->tree >= ACQ_BOOST_LEAST_TREES && acq_clock_ns() >= deadline)
            work->boost->n_trees = work->tree;
        if (work->tree == work->boost->n_trees)
            break;
        (void)acq_threads_run(work->params->n_threads, n_chunks, update_chunk, work);
        acq_boost_grow(work->grower, work->slopes, work->rows, draw_rows(work), work->boost,
                       work->tree);
    }
}

static acq_status allocate(fit *work)
{
    size_t n = work->data->n;
    work->scores = acq_alloc(n, sizeof *work->scores);
    work->slopes = acq_alloc(n, sizeof *work->slopes);
    work->rows = acq_alloc(n, sizeof *work->rows);
    if (work->scores == NULL || work->slopes == NULL || work->rows == NULL)
        return ACQ_ERR_MEMORY;
    acq_status status = bins_init(&work->bins, work->data, work->params->n_threads);
    return status == ACQ_OK ? acq_boost_grower_new(&work->splitter, &work->grower) : status;
}

/* What is said of every row before the first tree. */
static void start_scores(fit *work)
{
    const acq_boost_data *data = work->data;
    for (size_t i = 0; i < data->n; i++)
        work->scores[i] = work->boost->start;
    if (work->params->prior != NULL)
        acq_boost_score_many(work->params->prior, data->x, data->n, work->scores);
    for (size_t i = 0; data->offsets != NULL && i < data->n; i++)
        work->scores[i] += data->offsets[i];
}

static acq_status fit_trees(fit *work, double start, acq_error *error)
{
    acq_status status = acq_boost_new(work->data->n_features, work->params->n_trees,
                                      work->params->depth, &work->boost, error);
    if (status != ACQ_OK)
        return status;
    status = allocate(work);
    work->boost->start = (float)start;
    if (status == ACQ_OK) {
        start_scores(work);
        grow_trees(work);
    }
    acq_boost_grower_free(work->grower);
    bins_deinit(&work->bins);
    acq_free(work->scores);
    acq_free(work->slopes);
    acq_free(work->rows);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status fit_one(const acq_boost_data *data, const acq_boost_params *params,
                          acq_boost **out, acq_error *error)
{
    double sums[2], most;
    fit work = {.data = data, .params = params};
    acq_status status = check_params(data, params, error);
    if (status == ACQ_OK)
        status = sum_weights(data, sums, &most, error);
    if (status != ACQ_OK)
        return status;
    if (sums[0] == 0 || sums[1] == 0 || data->n_features == 0)
        return fit_share(data, sums, params->prior != NULL, out, error);
    work.splitter =
        (acq_boost_splitter){.bins = &work.bins, .params = params, .unit = get_unit(data->n, most)};
    status = fit_trees(&work, params->prior != NULL ? 0 : log(sums[1] / sums[0]), error);
    if (status != ACQ_OK) {
        acq_boost_free(work.boost);
        return status;
    }
    *out = work.boost;
    return ACQ_OK;
}

/* The trees of boost b of n, each counting for a part. */
static void copy_bag(const acq_boost *from, uint32_t b, uint32_t n, acq_boost *to)
{
    size_t n_nodes = (size_t)from->n_trees * acq_boost_count_nodes(from);
    size_t n_leaves = (size_t)from->n_trees << from->depth;
    memcpy(to->nodes + b * n_nodes, from->nodes, n_nodes * sizeof *to->nodes);
    for (size_t i = 0; i < n_leaves; i++)
        to->leaves[b * n_leaves + i] = from->leaves[i] / (float)n;
    to->start = from->start;
}

/* The mean of the bags. */
static acq_status fit_bags(const acq_boost_data *data, const acq_boost_params *params,
                           acq_boost **out, acq_error *error)
{
    acq_boost *all = NULL, *one = NULL;
    acq_boost_params bag = *params;
    uint32_t n = params->n_bags > 1 && params->seconds <= 0 ? params->n_bags : 1; /* in time: one */
    acq_status status = fit_one(data, &bag, &one, error);
    if (status != ACQ_OK || n == 1 || one->n_trees == 0) {
        *out = status == ACQ_OK ? one : *out;
        return status;
    }
    status = acq_boost_new(one->n_features, n * one->n_trees, one->depth, &all, error);
    for (uint32_t b = 0; b < n && status == ACQ_OK; b++) {
        if (b > 0) {
            acq_boost_free(one);
            one = NULL;
            bag.seed = params->seed + 1000 * b;
            status = fit_one(data, &bag, &one, error);
        }
        if (status == ACQ_OK)
            copy_bag(one, b, n, all);
    }
    acq_boost_free(one);
    if (status == ACQ_OK)
        *out = all;
    else
        acq_boost_free(all);
    return status;
}

/* A tree of less depth: the nodes below its leaves split nothing. */
static void copy_tree(const acq_boost *from, uint32_t tree, acq_boost *to, uint32_t at)
{
    uint32_t below = to->depth - from->depth;
    memcpy(to->nodes + (size_t)at * acq_boost_count_nodes(to),
           from->nodes + (size_t)tree * acq_boost_count_nodes(from),
           acq_boost_count_nodes(from) * sizeof *to->nodes);
    for (uint32_t leaf = 0; leaf < 1U << to->depth; leaf++)
        to->leaves[((size_t)at << to->depth) + leaf] =
            from->leaves[((size_t)tree << from->depth) + (leaf >> below)];
}

/* The trees of both, one after the other. */
static acq_status join(const acq_boost *first, const acq_boost *second, acq_boost **out,
                       acq_error *error)
{
    uint32_t depth = first->depth > second->depth ? first->depth : second->depth;
    acq_status status =
        acq_boost_new(first->n_features, first->n_trees + second->n_trees, depth, out, error);
    if (status != ACQ_OK)
        return status;
    (*out)->start = first->start + second->start;
    (*out)->n_given = first->n_trees;
    for (uint32_t i = 0; i < first->n_trees; i++)
        copy_tree(first, i, *out, i);
    for (uint32_t i = 0; i < second->n_trees; i++)
        copy_tree(second, i, *out, first->n_trees + i);
    return ACQ_OK;
}

acq_status acq_boost_fit(const acq_boost_data *data, const acq_boost_params *params,
                         acq_boost **out, acq_error *error)
{
    acq_boost *learnt = NULL;
    if (params->prior != NULL && params->prior->n_features != data->n_features)
        return acq_fail(error, ACQ_ERR_USAGE, "the prior reads %u features and the rows have %u",
                        params->prior->n_features, data->n_features);
    acq_status status = fit_bags(data, params, &learnt, error);
    if (status != ACQ_OK || params->prior == NULL) {
        *out = status == ACQ_OK ? learnt : *out;
        return status;
    }
    status = join(params->prior, learnt, out, error);
    acq_boost_free(learnt);
    return status;
}

acq_status acq_boost_copy_mapped(const acq_boost *boost, const uint32_t *map, uint32_t n_features,
                                 acq_boost **out, acq_error *error)
{
    acq_boost *copy;
    size_t n = (size_t)boost->n_trees * acq_boost_count_nodes(boost);
    acq_status status = acq_boost_new(n_features, boost->n_trees, boost->depth, &copy, error);
    if (status != ACQ_OK)
        return status;
    copy->start = boost->start;
    for (uint32_t i = 0; i < boost->n_trees; i++)
        copy_tree(boost, i, copy, i);
    for (size_t i = 0; i < n; i++) {
        uint32_t column = boost->nodes[i].column;
        bool is_second = column >= boost->n_features;
        copy->nodes[i].column =
            map[column - (is_second ? boost->n_features : 0)] + (is_second ? n_features : 0);
    }
    *out = copy;
    return ACQ_OK;
}

/* ---- folds ---- */

void acq_fold_trees_deinit(acq_fold_trees *trees)
{
    acq_boost_free(trees->folds[0]);
    acq_boost_free(trees->folds[1]);
    acq_boost_free(trees->all);
    *trees = (acq_fold_trees){0};
}

double acq_fold_trees_judge(const acq_fold_trees *trees, unsigned fold, const float *x)
{
    return acq_boost_to_probability(acq_boost_score(trees->folds[1 - fold], x));
}

void acq_fold_rows_deinit(acq_fold_rows *rows)
{
    acq_free(rows->x);
    acq_free(rows->weights);
    acq_free(rows->odds);
    acq_free(rows->labels);
}

acq_status acq_fold_rows_init(acq_fold_rows *rows, const acq_boost_data *data, const uint8_t *folds,
                              unsigned fold, size_t step, const float *odds)
{
    size_t n = 0, width = data->n_features;
    for (size_t i = 0; i < data->n; i += step)
        n += folds[i] == fold;
    *rows = (acq_fold_rows){.x = acq_alloc(n * width, sizeof(float)),
                            .weights = acq_alloc(n, sizeof(float)),
                            .odds = acq_alloc(n, sizeof(float)),
                            .labels = acq_alloc(n, 1)};
    if (rows->x == NULL || rows->weights == NULL || rows->odds == NULL || rows->labels == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i += step) {
        if (folds[i] != fold)
            continue;
        memcpy(rows->x + rows->n * width, data->x + i * width, width * sizeof(float));
        rows->weights[rows->n] = data->weights[i];
        rows->odds[rows->n] = odds == NULL ? 0.0F : odds[i];
        rows->labels[rows->n++] = data->labels[i];
    }
    return ACQ_OK;
}

acq_boost_data acq_fold_rows_view(const acq_fold_rows *rows, uint32_t n_features)
{
    return (acq_boost_data){rows->x, rows->labels, rows->weights, rows->n, n_features, NULL};
}

static acq_status fit_fold(const acq_boost_data *data, const uint8_t *folds, unsigned fold,
                           const acq_boost_params *params, acq_boost **out, acq_error *error)
{
    acq_fold_rows rows;
    acq_status status = acq_fold_rows_init(&rows, data, folds, fold, 1, NULL);
    acq_boost_data view = acq_fold_rows_view(&rows, data->n_features);
    status = status == ACQ_OK ? acq_boost_fit(&view, params, out, error) : acq_fail_memory(error);
    acq_fold_rows_deinit(&rows);
    return status;
}

static acq_status straighten(const acq_boost_data *data, const uint8_t *folds, double missing,
                             acq_fold_trees *trees)
{
    float *odds = acq_alloc(data->n, sizeof *odds);
    if (odds == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++)
        odds[i] =
            (float)acq_boost_score(trees->folds[1 - folds[i]], data->x + i * data->n_features);
    acq_boost_straighten(trees->all, odds, data, missing);
    acq_status status = ACQ_OK;
    for (unsigned fold = 0; fold < 2 && status == ACQ_OK; fold++) {
        acq_fold_rows rows;
        status = acq_fold_rows_init(&rows, data, folds, fold, 1, odds);
        acq_boost_data view = acq_fold_rows_view(&rows, data->n_features);
        if (status == ACQ_OK)
            acq_boost_straighten(trees->folds[fold], rows.odds, &view, missing);
        acq_fold_rows_deinit(&rows);
    }
    acq_free(odds);
    return status;
}

acq_status acq_fold_trees_fit(const acq_boost_data *data, const uint8_t *folds,
                              const acq_boost_params *params,
                              bool (*report)(void *context, int step, int steps), void *context,
                              acq_fold_trees *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    acq_boost_params third = *params;
    third.seconds /= 3;
    *out = (acq_fold_trees){0};
    for (int step = 0; step < 3 && status == ACQ_OK; step++) {
        if (report != NULL && !report(context, step, 3))
            status = acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while fitting a calibrator");
        else if (step < 2)
            status = fit_fold(data, folds, (unsigned)step, &third, &out->folds[step], error);
        else
            status = acq_boost_fit(data, &third, &out->all, error);
    }
    if (status == ACQ_OK && straighten(data, folds, params->missing, out) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status != ACQ_OK)
        acq_fold_trees_deinit(out);
    return status;
}
