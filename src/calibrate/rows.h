/* rows.h - row models as predictor whose link scores are the calibrator's probabilities. */
#ifndef ACQ_CALIBRATE_ROWS_H
#define ACQ_CALIBRATE_ROWS_H

#include "calibrate/calibrator.h"
#include "calibrate/candidates.h"
#include "predict/rows.h"

typedef struct acq_calibrated_params {
    acq_row_limits limits;
    acq_candidates_params candidates;
    acq_calibrator *calibrator; /* its link trees score; the predictor carries and owns it, and it
                                   is freed when making the predictor fails */
    /* Models and rules may be costly to make. If load is not NULL it is called once, when the first
     * row is needed, to fill them in. */
    acq_status (*load)(void *owned, acq_candidates_params *candidates, acq_error *error);
    /* So may the calibrator's link trees: called after load, if not NULL. */
    acq_status (*learn)(void *owned, acq_stop stop, acq_calibrator *calibrator, acq_error *error);
    void *owned; /* freed with the predictor by free_owned, also when making it fails */
    void (*free_owned)(void *owned);
} acq_calibrated_params;

acq_status acq_predictor_new_calibrated(const acq_graph *graph, const char *name,
                                        const acq_calibrated_params *params, acq_predictor **out,
                                        acq_error *error);

/* For reasons.h, which knows the scorer of such a predictor: what makes its candidates. Any thread,
 * at any time. */
acq_status acq_calibrated_open_maker(acq_row_scorer *scorer, const acq_candidates_maker **out,
                                     acq_error *error);

#endif
