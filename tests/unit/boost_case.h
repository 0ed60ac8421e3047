/* boost_case.h - random rows with labels drawn from a known function of the features. */
#ifndef ACQ_TESTS_BOOST_CASE_H
#define ACQ_TESTS_BOOST_CASE_H

#include "calibrate/boost.h"

typedef struct boost_case {
    acq_boost_data data;
    float *x;
    uint8_t *labels;
    float *weights;
    double *odds; /* the log-odds that the labels were drawn with */
} boost_case;

/* The log-odds of a row. */
typedef double (*boost_odds)(const float *x);

/* Features uniform in [-1, 1]; each is missing with the given probability. */
boost_case boost_case_make(size_t n, uint32_t n_features, double missing, boost_odds odds,
                           uint64_t seed);
void boost_case_free(boost_case *rows);

/* Small and quick; n_threads 2. */
acq_boost_params boost_case_params(void);

/* Fails the test when the fit fails. */
acq_boost *boost_case_fit(const boost_case *rows, const acq_boost_params *params);

/* Mean log-loss of log-odds. */
double boost_case_loss(const boost_case *rows, const double *odds);
/* The same of what the trees say. */
double boost_case_judge(const boost_case *rows, const acq_boost *boost);

#endif
