/* row_view.h - observed facts and some rows of a predictor that makes rows: what one question
 * needs of it, as a predictor.
 *
 * A link scores 1 if it is observed, else the larger of what the rows at its two ends say that are
 * in the view. Rows are added while the question is prepared; links that were opened before stay
 * valid only until a row of their relation is added. Opening is locked, adding is not. */
#ifndef ACQ_PREDICT_ROW_VIEW_H
#define ACQ_PREDICT_ROW_VIEW_H

#include "predict/predictor.h"

typedef struct acq_row_view acq_row_view;

/* source must make rows and outlive the view. */
acq_status acq_row_view_new(const acq_predictor *source, acq_row_view **out, acq_error *error);
void acq_row_view_free(acq_row_view *view); /* NULL is legal */

/* Borrowed; freeing it frees the view. */
acq_predictor *acq_row_view_get_predictor(acq_row_view *view);

bool acq_row_view_has(const acq_row_view *view, acq_rel relation, acq_ent head);

/* Adds the rows of n heads, sorted and distinct, that are not there yet. */
acq_status acq_row_view_add(acq_row_view *view, acq_rel relation, const acq_ent *heads, size_t n,
                            acq_error *error);

/* A row that was added; empty if it was not. */
acq_row acq_row_view_get(const acq_row_view *view, acq_rel relation, acq_ent head);

size_t acq_row_view_count(const acq_row_view *view); /* rows added */

#endif
