/* row_predictor.h - a row model as predictor: its links are made when a query first needs them.
 *
 * open_links of a relation scores the rows of the relation once and keeps them (a relation that
 * would not fit the memory budget is an error with the remedy: `anycq complete`). For questions
 * asked one at a time there is a cheaper way, rows in the order the query needs them: copy_rows,
 * behind which the last used rows are kept (row_cache.h, row_view.h).
 *
 * Rows of relation r are made for the heads that r is seen with, both ways; a row of another head,
 * which only copy_rows is asked for, proposes tails that r is seen with. */
#ifndef ACQ_PREDICT_ROW_PREDICTOR_H
#define ACQ_PREDICT_ROW_PREDICTOR_H

#include "calibrate/calibrator.h"
#include "calibrate/evidence.h"
#include "predict/predictor.h"
#include "predict/row_cache.h"
#include "predict/row_scale.h"

/* What a link scores when its two directions differ. */
typedef enum acq_direction {
    ACQ_DIRECTION_BOTH,    /* the larger of the two */
    ACQ_DIRECTION_FORWARD, /* that of the even relation: the paper's one-sided use */
} acq_direction;

typedef struct acq_row_predictor_params {
    acq_evidence_params evidence;     /* models; with a scale as published: exactly one, and top 0
                                       * stands for every tail */
    const acq_calibrator *calibrator; /* borrowed; ACQ_SCALE_CALIBRATED needs it */
    acq_row_scale scale;
    acq_direction direction;
    double floor;        /* links that score less are left out */
    size_t memory_bytes; /* of links kept; 0: no limit */
    size_t cache_bytes;  /* of rows kept for copy_rows; 0: 64 MB */

    /* What `evidence` points to may be costly to make. If load is not NULL it is called once, when
     * the first row is needed, to fill in models and rules. */
    acq_status (*load)(void *owned, acq_evidence_params *evidence, acq_error *error);
    void *owned; /* freed with the predictor by free_owned, also when making it fails */
    void (*free_owned)(void *owned);
} acq_row_predictor_params;

acq_status acq_predictor_new_rows(const acq_graph *graph, const char *name,
                                  const acq_row_predictor_params *params, acq_predictor **out,
                                  acq_error *error);

/* Of a predictor made by acq_predictor_new_rows. */
acq_row_cache_counts acq_row_predictor_get_counts(const acq_predictor *predictor);

#endif
