/* boost_case.c - see boost_case.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/boost_case.h"

#include <math.h>

#include "base/hash.h"

boost_case boost_case_make(size_t n, uint32_t n_features, double missing, boost_odds odds,
                           uint64_t seed)
{
    acq_random random = acq_random_start(seed, 7);
    boost_case rows = {.x = malloc(n * n_features * sizeof(float) + 1),
                       .labels = malloc(n + 1),
                       .weights = malloc(n * sizeof(float) + 1),
                       .odds = malloc(n * sizeof(double) + 1)};
    for (size_t i = 0; i < n; i++) {
        float *x = rows.x + i * n_features;
        for (uint32_t f = 0; f < n_features; f++) {
            bool is_missing = acq_random_unit(&random) < missing;
            float value = (float)(acq_random_unit(&random) * 2 - 1);
            x[f] = is_missing ? NAN : value;
        }
        rows.odds[i] = odds(x);
        rows.labels[i] = acq_random_unit(&random) < acq_boost_to_probability(rows.odds[i]);
        rows.weights[i] = 1;
    }
    rows.data =
        (acq_boost_data){.x = rows.x, .labels = rows.labels, .n = n, .n_features = n_features};
    return rows;
}

void boost_case_free(boost_case *rows)
{
    free(rows->x);
    free(rows->labels);
    free(rows->weights);
    free(rows->odds);
}

acq_boost_params boost_case_params(void)
{
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    params.n_trees = 40;
    params.depth = 4;
    params.rate = .2;
    params.n_threads = 2;
    return params;
}

acq_boost *boost_case_fit(const boost_case *rows, const acq_boost_params *params)
{
    acq_boost *boost = NULL;
    acq_error error = {0};
    if (acq_boost_fit(&rows->data, params, &boost, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return boost;
}

double boost_case_loss(const boost_case *rows, const double *odds)
{
    double sum = 0;
    for (size_t i = 0; i < rows->data.n; i++)
        sum += log1p(exp(rows->labels[i] != 0 ? -odds[i] : odds[i]));
    return sum / (double)rows->data.n;
}

double boost_case_judge(const boost_case *rows, const acq_boost *boost)
{
    double *odds = malloc(rows->data.n * sizeof *odds);
    for (size_t i = 0; i < rows->data.n; i++)
        odds[i] = acq_boost_score(boost, rows->x + i * rows->data.n_features);
    double loss = boost_case_loss(rows, odds);
    free(odds);
    return loss;
}
