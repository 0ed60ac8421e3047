/* folds.h - trees of two folds and of all rows, with honest odds.
 *
 * trees[0] and trees[1] have learnt their own fold only, so each can judge the other's rows. What
 * these judgements are worth bends the odds of all three (acq_boost_straighten). No tree is bent by
 * rows that it judges: the curve of trees[0] comes from how trees[1] does on fold 0. */
#ifndef ACQ_CALIBRATE_FOLDS_H
#define ACQ_CALIBRATE_FOLDS_H

#include "calibrate/boost.h"

typedef struct acq_fold_trees {
    acq_boost *folds[2];
    acq_boost *all;
} acq_fold_trees;

void acq_fold_trees_deinit(acq_fold_trees *trees);

/* folds: 0 or 1 for each row. report may be NULL; false stops with ACQ_ERR_INTERRUPTED. */
acq_status acq_fold_trees_fit(const acq_boost_data *data, const uint8_t *folds,
                              const acq_boost_params *params,
                              bool (*report)(void *context, int step, int steps), void *context,
                              acq_fold_trees *out, acq_error *error);

/* p of a row by trees that have not learnt its fold. */
double acq_fold_trees_judge(const acq_fold_trees *trees, unsigned fold, const float *x);

#endif
