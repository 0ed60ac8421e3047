/* walk_labels.h - the labels of edges, per class. */
#ifndef ACQ_SEARCH_POLICY_WALK_LABELS_H
#define ACQ_SEARCH_POLICY_WALK_LABELS_H

#include "search/policy/walk_members.h"

/* Splits by PE and sets the PE labels; LE labels stay 0. */
acq_status acq_walk_add_potential(acq_walk *walk);

/* LE labels at the touches whose other end changed, splitting by their rows, and those of the
 * clauses; walk->values, holds and changed are those of the new assignment. The value assigned
 * may be split off afterwards: it takes its labels along. */
acq_status acq_walk_update_labels(acq_walk *walk);

#endif
