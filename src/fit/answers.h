/* answers.h - inside fit: the trees for answers among candidates of which a stated share is true
 * (--prior).
 *
 * Questions are drawn from the whole graph (questions.h), candidates as the paper draws them
 * (trials.h). Each is checked over the rest's completion; the features of its best support are a
 * row to learn from. A candidate without any support has the share of true ones among such.
 *
 * True and wrong candidates of a question weigh one half each. */
#ifndef ACQ_FIT_ANSWERS_H
#define ACQ_FIT_ANSWERS_H

#include "fit/links.h"

/* completed: the rest's links with their p; truth: 1 for links that hold. Both have the rest's
 * ids, and whole is the graph that questions are read off. Fills calibrator->balanced and its
 * shares. */
acq_status acq_fit_answer_trees(const acq_graph *rest, const acq_graph *whole,
                                const acq_predictor *completed, const acq_predictor *truth,
                                const acq_fit_params *params, const acq_link_progress *progress,
                                acq_calibrator *calibrator, acq_fit_report *report,
                                acq_error *error);

/* From which p on a yes serves F1 best.
 * p >= 0.5 is right more often than wrong. F1 asks for more yeses than that: it is largest when
 * they begin at about half of itself. Where exactly is read off generated questions, judged by
 * trees that have not learnt them; it is told, and never used unless --min-p says so. */
enum { ACQ_FIT_DECISION_STEPS = 49 }; /* p = 0.02, 0.04, ... 0.98 */

/* Zeroed: nothing yet. */
typedef struct acq_fit_decision_tally {
    size_t n;                            /* questions */
    double sums[ACQ_FIT_DECISION_STEPS]; /* of their F1, with yes from that p on */
} acq_fit_decision_tally;

/* One question: p and truth of its n candidates, of which some are true. */
void acq_fit_decision_add(acq_fit_decision_tally *tally, const double *p, const bool *is_true,
                          size_t n);

acq_fit_decision acq_fit_decision_choose(const acq_fit_decision_tally *tally);

#endif
