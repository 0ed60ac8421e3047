/* large.h - inside fit: questions at large, from which the numbers of an answer's p are learnt.
 *
 * Questions are read off the rest, without a look at what was held out; in half of them each
 * constant gives way to another entity that is seen at its place. So some have an answer and
 * some have not, as with people. Of each the best candidates are kept. Learnt are
 *
 *   joint       the share of joint worlds (calibrate/worlds.h) that makes p of the candidates
 * likeliest if_answered the curve from p / p of any answer to p_if_answered, on questions that have
 * an answer
 *
 * and the table of stated and true shares is filled. */
#ifndef ACQ_FIT_LARGE_H
#define ACQ_FIT_LARGE_H

#include "fit/links.h"

/* completed: the rest's links with their p; truth: 1 for links that hold; both with the rest's ids.
 */
acq_status acq_fit_at_large(const acq_graph *rest, const acq_predictor *completed,
                            const acq_predictor *truth, const acq_fit_params *params,
                            const acq_link_progress *progress, acq_calibrator *calibrator,
                            acq_fit_report *report, acq_error *error);

#endif
