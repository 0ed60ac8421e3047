/* reliability_view.h - how good probabilities are, as the commands show it. */
#ifndef ACQ_CLI_RELIABILITY_VIEW_H
#define ACQ_CLI_RELIABILITY_VIEW_H

#include <jansson.h>

#include "base/text.h"
#include "calibrate/reliability.h"

/* title is a line of its own, below which the table, the log-loss and the largest gap stand. */
void acq_reliability_view_print(const acq_reliability *table, const char *title, acq_text *out);

/* log_loss, base_log_loss, gap, bins (low, high, n, stated, true) as members of `object`. */
void acq_reliability_view_set(json_t *object, const acq_reliability *table);

#endif
