/* boost_bins.c - cuts from a sample of the rows, then the codes of all rows, feature by feature. */
#include "calibrate/boost_bins.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum {
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
    uint32_t low = 0;
    if (isnan(value))
        return ACQ_BOOST_MISSING;
    while (n_cuts > 0) {
        uint32_t half = n_cuts / 2;
        bool is_above = value >= cuts[low + half];
        low = is_above ? low + half + 1 : low;
        n_cuts = is_above ? n_cuts - half - 1 : half;
    }
    return (uint8_t)low;
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

static acq_status fill(binning *work, unsigned n_threads)
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

acq_status acq_boost_bins_init(acq_boost_bins *bins, const acq_boost_data *data, unsigned n_threads)
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
    return fill(&(binning){.bins = bins, .data = data}, n_threads);
}

void acq_boost_bins_deinit(acq_boost_bins *bins)
{
    acq_free(bins->codes);
    acq_free(bins->cuts);
    acq_free(bins->n_cuts);
}
