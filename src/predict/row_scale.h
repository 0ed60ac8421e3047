/* row_scale.h - a row of raw scores as scores of links, the published ways.
 *
 *   sigmoid   1 / (1 + exp(-x))                                     NBFNet, ULTRA
 *   QTO       n p(t),        n observed tails of (head, relation)   ComplEx
 *   FIT       n p(t) / sum of p over the observed tails             ComplEx
 *
 * where p is the softmax over all tails at temperature 20 (the factor tau of the paper's appendix
 * on link predictors). Without an observed tail the factor of p is 1. */
#ifndef ACQ_PREDICT_ROW_SCALE_H
#define ACQ_PREDICT_ROW_SCALE_H

#include "graph/links.h"

/* How raw scores become link scores. */
typedef enum acq_row_scale {
    ACQ_SCALE_CALIBRATED, /* the calibrator's p of the candidate's evidence */
    ACQ_SCALE_SIGMOID,    /* NBFNet, ULTRA as published */
    ACQ_SCALE_QTO,        /* ComplEx: softmax over tails times the number of observed tails */
    ACQ_SCALE_FIT,        /* ComplEx: FIT's scale (paper, appendix on link predictors) */
} acq_row_scale;

/* Rewrites the scores of all n entities in place; any scale but the calibrated one. The results
 * are in [0, 1]. A row with a score that is no number gives zeros. */
void acq_row_scale_apply(acq_row_scale scale, acq_row observed, float *scores, size_t n);

#endif
