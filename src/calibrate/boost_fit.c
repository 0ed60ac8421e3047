/* boost_fit.c - one tree after the other, each for what those before it leave open.
 *
 * With log-odds s and label y a row of weight w has the derivatives w (p - y) and w p (1 - p), p =
 * 1 / (1 + exp(-s)). They become whole numbers by a power of two that keeps every sum below 2^62.
 */
#include "calibrate/boost.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "calibrate/boost_grow.h"

enum { CHUNK = 16384 }; /* rows that a thread takes at a time */

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
static acq_status fit_share(const acq_boost_data *data, const double sums[2], acq_boost **out,
                            acq_error *error)
{
    acq_status status = acq_boost_new(data->n_features, 0, 1, out, error);
    if (status == ACQ_OK)
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

static acq_slope get_slope(double score, double label, double weight, double unit)
{
    double p = acq_boost_to_probability(score);
    return (acq_slope){(int64_t)(weight * (p - label) / unit),
                       (int64_t)(weight * p * (1 - p) / unit) + (weight > 0)};
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
                                    work->splitter.unit);
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
    for (work->tree = 0; work->tree < work->boost->n_trees; work->tree++) {
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
    acq_status status = acq_boost_bins_init(&work->bins, work->data, work->params->n_threads);
    return status == ACQ_OK ? acq_boost_grower_new(&work->splitter, &work->grower) : status;
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
        for (size_t i = 0; i < work->data->n; i++)
            work->scores[i] = work->boost->start;
        grow_trees(work);
    }
    acq_boost_grower_free(work->grower);
    acq_boost_bins_deinit(&work->bins);
    acq_free(work->scores);
    acq_free(work->slopes);
    acq_free(work->rows);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_boost_fit(const acq_boost_data *data, const acq_boost_params *params,
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
        return fit_share(data, sums, out, error);
    work.splitter =
        (acq_boost_splitter){.bins = &work.bins, .params = params, .unit = get_unit(data->n, most)};
    status = fit_trees(&work, log(sums[1] / sums[0]), error);
    if (status != ACQ_OK) {
        acq_boost_free(work.boost);
        return status;
    }
    *out = work.boost;
    return ACQ_OK;
}
