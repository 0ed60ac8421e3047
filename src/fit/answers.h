/* answers.h - inside fit: the answer calibrator.
 *
 * Questions are drawn from the whole graph (questions.h), candidates as the paper draws them
 * (trials.h). Each is checked over the rest's completion; the features of its best support are a
 * row to learn from. A candidate without any support has the share of true ones among such.
 *
 *   natural weights    a drawn candidate stands for its share of all candidates of the question
 *   balanced weights   true and wrong candidates of a question weigh one half each */
#ifndef ACQ_FIT_ANSWERS_H
#define ACQ_FIT_ANSWERS_H

#include "fit/links.h"

/* completed: the rest's links with their p; truth: 1 for links that hold. Both have the rest's
 * ids, and whole is the graph that questions are read off. Fills calibrator->answer and ->balanced,
 * the three shares, and the report's table (two folds of questions). */
acq_status acq_fit_answer_trees(const acq_graph *rest, const acq_graph *whole,
                                const acq_predictor *completed, const acq_predictor *truth,
                                const acq_fit_params *params, const acq_link_progress *progress,
                                acq_calibrator *calibrator, acq_fit_report *report,
                                acq_error *error);

#endif
