/* decision.c - see decision.h. */
#include "fit/decision.h"

static double get_p(size_t step)
{
    return (double)(step + 1) / (ACQ_DECISION_STEPS + 1);
}

/* Of one question: 2 TP / (2 TP + FP + FN). */
static double find_f1(double least, const double *p, const bool *is_true, size_t n)
{
    size_t hits = 0, n_yes = 0, n_true = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_yes = p[i] >= least;
        hits += is_yes && is_true[i];
        n_yes += is_yes;
        n_true += is_true[i];
    }
    return n_yes + n_true == 0 ? 0 : 2.0 * (double)hits / (double)(n_yes + n_true);
}

void acq_decision_add(acq_decision_tally *tally, const double *p, const bool *is_true, size_t n)
{
    tally->n++;
    for (size_t step = 0; step < ACQ_DECISION_STEPS; step++)
        tally->sums[step] += find_f1(get_p(step), p, is_true, n);
}

acq_decision acq_decision_choose(const acq_decision_tally *tally)
{
    size_t best = ACQ_DECISION_STEPS / 2;
    if (tally->n == 0)
        return (acq_decision){0};
    for (size_t step = 0; step < ACQ_DECISION_STEPS; step++)
        if (tally->sums[step] > tally->sums[best])
            best = step;
    double n = (double)tally->n;
    return (acq_decision){.p = get_p(best),
                          .f1 = tally->sums[best] / n,
                          .f1_half = tally->sums[ACQ_DECISION_STEPS / 2] / n};
}
