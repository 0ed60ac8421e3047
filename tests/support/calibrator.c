/* calibrator.c - trees fitted to a step of one feature, all others being the same. */
#include "support/calibrator.h"

#include <math.h>

#include "calibrate/answer.h"
#include "base/memory.h"

enum { N_ROWS = 800 };

static double logit(double p)
{
    return log(p / (1 - p));
}

/* Rows at scores around the bar, one in fifty with the wrong label. */
static void fill_rows(double bar, float *x, uint8_t *labels)
{
    bool is_turned = bar < 0;
    double middle = logit(fabs(bar));
    for (int i = 0; i < N_ROWS; i++) {
        float *row = x + (size_t)i * ACQ_N_ANSWER_FEATURES;
        for (int k = 0; k < ACQ_N_ANSWER_FEATURES; k++)
            row[k] = 0;
        bool is_above = i % 2 == 0;
        row[ACQ_ANSWER_least] = (float)(middle + (is_above ? .05 : -.05) * (1 + i / 2 % 200));
        labels[i] = (uint8_t)((is_above != is_turned) != (i % 100 < 2));
    }
}

static acq_boost *fit_step(double bar)
{
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    acq_boost *boost = NULL;
    float *x = acq_alloc((size_t)N_ROWS * ACQ_N_ANSWER_FEATURES, sizeof *x);
    uint8_t *labels = acq_alloc(N_ROWS, 1);
    params.n_trees = 40;
    params.depth = 1;
    params.rate = .3;
    params.row_share = 1;
    params.n_threads = 1;
    if (x != NULL && labels != NULL) {
        fill_rows(bar, x, labels);
        acq_boost_data data = {
            .x = x, .labels = labels, .n = N_ROWS, .n_features = ACQ_N_ANSWER_FEATURES};
        if (acq_boost_fit(&data, &params, &boost, NULL) != ACQ_OK)
            boost = NULL;
    }
    acq_free(x);
    acq_free(labels);
    return boost;
}

acq_calibrator *acq_test_calibrator(double balanced)
{
    acq_calibrator *calibrator = acq_calibrator_new();
    if (calibrator == NULL)
        return NULL;
    calibrator->balanced = fit_step(balanced);
    if (calibrator->balanced != NULL)
        return calibrator;
    acq_calibrator_free(calibrator);
    return NULL;
}
