/* reliability.h - how good probabilities are: stated and true share per bin, log-loss, a diagram.
 * The table itself is public: anycq.h. */
#ifndef ACQ_CALIBRATE_RELIABILITY_H
#define ACQ_CALIBRATE_RELIABILITY_H

#include "base/types.h"

void acq_reliability_init(acq_reliability *table);
/* base: the probability that the comparison states for this one (its relation's base rate). */
void acq_reliability_add(acq_reliability *table, double p, bool is_true, double weight,
                         double base);
/* Of the candidates that were added as not true, `weight` with this p are true after all. */
void acq_reliability_add_true(acq_reliability *table, double p, double weight, double base);
void acq_reliability_merge(acq_reliability *table, const acq_reliability *other);

/* The diagram; title is escaped. Atomic. */
acq_status acq_reliability_write_svg(const acq_reliability *table, const char *title,
                                     const char *path, acq_error *error);

#endif
