/* row_predictor.h - a row model as predictor: its links are made when a query first needs them.
 *
 * open_links of a relation scores the rows of the relation once and keeps them (a relation that
 * would not fit the memory budget is an error with the remedy: `anycq complete`). For questions
 * asked one at a time there is a cheaper way, rows in the order the query needs them: prepare. */
#ifndef ACQ_PREDICT_ROW_PREDICTOR_H
#define ACQ_PREDICT_ROW_PREDICTOR_H

#include "base/budget.h"
#include "predict/calibrator.h"
#include "predict/evidence.h"
#include "predict/predictor.h"

/* How raw scores become link scores. */
typedef enum acq_row_scale {
    ACQ_SCALE_CALIBRATED, /* the calibrator's p of the candidate's evidence */
    ACQ_SCALE_SIGMOID,    /* NBFNet, ULTRA as published */
    ACQ_SCALE_QTO,        /* ComplEx: softmax over tails times the number of observed tails */
    ACQ_SCALE_FIT,        /* ComplEx: FIT's scale (paper, appendix on link predictors) */
} acq_row_scale;

/* What a link scores when its two directions differ. */
typedef enum acq_direction {
    ACQ_DIRECTION_BOTH,    /* the larger of the two */
    ACQ_DIRECTION_FORWARD, /* that of the even relation: the paper's one-sided use */
} acq_direction;

typedef struct acq_row_predictor_params {
    acq_evidence_params evidence;     /* models; with a scale as published: exactly one */
    const acq_calibrator *calibrator; /* borrowed; ACQ_SCALE_CALIBRATED needs it */
    acq_row_scale scale;
    acq_direction direction;
    double floor;        /* links that score less are left out */
    size_t memory_bytes; /* of links kept; 0: no limit */
} acq_row_predictor_params;

acq_status acq_predictor_new_rows(const acq_graph *graph, const char *name,
                                  const acq_row_predictor_params *params, acq_predictor **out,
                                  acq_error *error);

#endif
