/* decision.h - inside fit: from which p on a yes serves F1 best.
 *
 * p >= 0.5 is right more often than wrong. F1 asks for more yeses than that: it is largest when
 * they begin at about half of itself. Where exactly is read off generated questions, judged by
 * trees that have not learnt them; it is told, and never used unless --min-p says so. */
#ifndef ACQ_FIT_DECISION_H
#define ACQ_FIT_DECISION_H

#include <stdbool.h>
#include <stddef.h>

enum { ACQ_DECISION_STEPS = 49 }; /* p = 0.02, 0.04, ... 0.98 */

/* Zeroed: nothing yet. */
typedef struct acq_decision_tally {
    size_t n;                        /* questions */
    double sums[ACQ_DECISION_STEPS]; /* of their F1, with yes from that p on */
} acq_decision_tally;

/* One question: p and truth of its n candidates, of which some are true. */
void acq_decision_add(acq_decision_tally *tally, const double *p, const bool *is_true, size_t n);

typedef struct acq_decision {
    double p;       /* 0: no questions */
    double f1;      /* mean over questions, yes from p on */
    double f1_half; /* yes from 0.5 on */
} acq_decision;

acq_decision acq_decision_choose(const acq_decision_tally *tally);

#endif
