/* folds.c - see folds.h. */
#include "calibrate/folds.h"

#include <string.h>

#include "base/memory.h"

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

/* The rows of one fold, side by side. */
typedef struct fold_rows {
    float *x, *weights, *odds;
    uint8_t *labels;
    size_t n;
} fold_rows;

static void fold_rows_deinit(fold_rows *rows)
{
    acq_free(rows->x);
    acq_free(rows->weights);
    acq_free(rows->odds);
    acq_free(rows->labels);
}

/* odds: of all rows, may be NULL. */
static acq_status fold_rows_init(fold_rows *rows, const acq_boost_data *data, const uint8_t *folds,
                                 unsigned fold, const float *odds)
{
    size_t n = 0, width = data->n_features;
    for (size_t i = 0; i < data->n; i++)
        n += folds[i] == fold;
    *rows = (fold_rows){.x = acq_alloc(n * width, sizeof(float)),
                        .weights = acq_alloc(n, sizeof(float)),
                        .odds = acq_alloc(n, sizeof(float)),
                        .labels = acq_alloc(n, 1)};
    if (rows->x == NULL || rows->weights == NULL || rows->odds == NULL || rows->labels == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++) {
        if (folds[i] != fold)
            continue;
        memcpy(rows->x + rows->n * width, data->x + i * width, width * sizeof(float));
        rows->weights[rows->n] = data->weights[i];
        rows->odds[rows->n] = odds == NULL ? 0.0F : odds[i];
        rows->labels[rows->n++] = data->labels[i];
    }
    return ACQ_OK;
}

static acq_boost_data view_rows(const fold_rows *rows, uint32_t n_features)
{
    return (acq_boost_data){rows->x, rows->labels, rows->weights, rows->n, n_features};
}

static acq_status fit_fold(const acq_boost_data *data, const uint8_t *folds, unsigned fold,
                           const acq_boost_params *params, acq_boost **out, acq_error *error)
{
    fold_rows rows;
    acq_status status = fold_rows_init(&rows, data, folds, fold, NULL);
    acq_boost_data view = view_rows(&rows, data->n_features);
    status = status == ACQ_OK ? acq_boost_fit(&view, params, out, error) : acq_fail_memory(error);
    fold_rows_deinit(&rows);
    return status;
}

static acq_status straighten(const acq_boost_data *data, const uint8_t *folds,
                             acq_fold_trees *trees)
{
    float *odds = acq_alloc(data->n, sizeof *odds);
    if (odds == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < data->n; i++)
        odds[i] =
            (float)acq_boost_score(trees->folds[1 - folds[i]], data->x + i * data->n_features);
    acq_boost_straighten(trees->all, odds, data);
    acq_status status = ACQ_OK;
    for (unsigned fold = 0; fold < 2 && status == ACQ_OK; fold++) {
        fold_rows rows;
        status = fold_rows_init(&rows, data, folds, fold, odds);
        acq_boost_data view = view_rows(&rows, data->n_features);
        if (status == ACQ_OK)
            acq_boost_straighten(trees->folds[fold], rows.odds, &view);
        fold_rows_deinit(&rows);
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
    *out = (acq_fold_trees){0};
    for (int step = 0; step < 3 && status == ACQ_OK; step++) {
        if (report != NULL && !report(context, step, 3))
            status = acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while fitting a calibrator");
        else if (step < 2)
            status = fit_fold(data, folds, (unsigned)step, params, &out->folds[step], error);
        else
            status = acq_boost_fit(data, params, &out->all, error);
    }
    if (status == ACQ_OK && straighten(data, folds, out) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status != ACQ_OK)
        acq_fold_trees_deinit(out);
    return status;
}
