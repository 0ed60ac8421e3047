/* row_scale.c - see row_scale.h. Sums are in double; the largest logit is taken off first. */
#include "predict/row_scale.h"

#include <math.h>

static const double TEMPERATURE = 20.0;

static bool is_finite(const float *scores, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(scores[i]))
            return false;
    }
    return true;
}

static void apply_sigmoid(float *scores, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = 1.0F / (1.0F + expf(-scores[i]));
}

/* scores become exp(tau (score - largest)); returns their sum. */
static double exponentiate(float *scores, size_t n)
{
    float largest = scores[0];
    double sum = 0.0;
    for (size_t i = 1; i < n; i++)
        largest = scores[i] > largest ? scores[i] : largest;
    for (size_t i = 0; i < n; i++) {
        scores[i] = (float)exp(TEMPERATURE * ((double)scores[i] - (double)largest));
        sum += (double)scores[i];
    }
    return sum;
}

static double add_observed(acq_row observed, const float *scores)
{
    double sum = 0.0;
    for (size_t i = 0; i < observed.n; i++)
        sum += (double)scores[observed.tails[i]];
    return sum;
}

/* What exp(...) is multiplied with. Observed tails that all vanish next to another one leave
 * nothing to divide by: the scale is then as large as floats go, and the clip makes it 1. */
static double find_factor(acq_row_scale scale, acq_row observed, const float *scores, double sum)
{
    if (observed.n == 0)
        return 1.0 / sum;
    if (scale == ACQ_SCALE_QTO)
        return (double)observed.n / sum;
    return (double)observed.n / fmax(add_observed(observed, scores), 1e-300);
}

void acq_row_scale_apply(acq_row_scale scale, acq_row observed, float *scores, size_t n)
{
    if (n == 0)
        return;
    if (!is_finite(scores, n)) {
        for (size_t i = 0; i < n; i++)
            scores[i] = 0.0F;
        return;
    }
    if (scale == ACQ_SCALE_SIGMOID) {
        apply_sigmoid(scores, n);
        return;
    }
    double sum = exponentiate(scores, n);
    double factor = find_factor(scale, observed, scores, sum);
    for (size_t i = 0; i < n; i++)
        scores[i] = (float)fmin(factor * (double)scores[i], 1.0);
}
