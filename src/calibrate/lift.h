/* lift.h - how far a predicted link stands out of its rows.
 *
 * A row (head, relation) lets expect so many unobserved tails: the sum of their scores. Spread
 * evenly over all tails that the relation is observed with, each would have the mean; the lift
 * is the score over that mean. Of the two rows that a link is in, the one that it stands out of
 * less counts. An entity that the relation is never observed with may have no row of its own: one
 * tail is expected there at least, so that being unknown does not lift a link.
 *
 * Rows that questions make one by one are not both there: calibrators for such are fitted without
 * lifts (fit.h, use_lifts). */
#ifndef ACQ_CALIBRATE_LIFT_H
#define ACQ_CALIBRATE_LIFT_H

#include "predict/predictor.h"

typedef struct acq_lift {
    double log_lift;
    double row_facts, back_facts; /* logs of the facts in its two rows; none counts as one */
} acq_lift;

/* Cost: a walk over the two rows. */
acq_status acq_lift_find(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                         acq_ent tail, double score, acq_lift *out, acq_error *error);

#endif
