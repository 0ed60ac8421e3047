/* walk_labels.h - truths of literals and labels of edges, per class. */
#ifndef ACQ_SEARCH_POLICY_WALK_LABELS_H
#define ACQ_SEARCH_POLICY_WALK_LABELS_H

#include "search/policy/walk_members.h"

/* Splits by PE and sets the PE labels; LE labels stay 0. */
acq_status acq_walk_add_potential(acq_walk *walk);

/* Truths of the touches whose other end changed, splitting by their rows; walk->values, holds
 * and changed are those of the new assignment. */
acq_status acq_walk_update_truths(acq_walk *walk);

/* LE labels from the truths. */
void acq_walk_update_labels(acq_walk *walk);

#endif
