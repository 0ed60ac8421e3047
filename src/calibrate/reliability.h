/* reliability.h - how good probabilities are: stated and true share per bin, log-loss, a diagram.
 *
 * Bins are decades and tenths: [0,.001) [.001,.01) [.01,.05) [.05,.1) [.1,.2) ... [.9,1]. */
#ifndef ACQ_CALIBRATE_RELIABILITY_H
#define ACQ_CALIBRATE_RELIABILITY_H

#include <stdio.h>

#include "base/types.h"

enum { ACQ_RELIABILITY_BINS = 13 };

typedef struct acq_reliability_bin {
    double low, high;
    double weight;        /* candidates, weighted */
    uint64_t n;           /* rows */
    double stated, truth; /* weighted sums of p and of the labels */
} acq_reliability_bin;

typedef struct acq_reliability {
    acq_reliability_bin bins[ACQ_RELIABILITY_BINS];
    double log_loss, base_log_loss; /* weighted sums; base: what the base rate alone would get */
    double weight;
} acq_reliability;

void acq_reliability_init(acq_reliability *table);
/* base: the probability that the comparison states for this one (its relation's base rate). */
void acq_reliability_add(acq_reliability *table, double p, bool is_true, double weight,
                         double base);
void acq_reliability_merge(acq_reliability *table, const acq_reliability *other);

/* Largest |stated - true| share over bins with a weight of at least `least`. */
double acq_reliability_get_gap(const acq_reliability *table, double least);

/* Text at 80 columns: a row per bin with candidates, stated share, true share, gap. */
void acq_reliability_print(const acq_reliability *table, FILE *out);

/* The diagram; title is escaped. Atomic. */
acq_status acq_reliability_write_svg(const acq_reliability *table, const char *title,
                                     const char *path, acq_error *error);

#endif
