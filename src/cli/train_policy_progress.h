/* train_policy_progress.h - how a training goes, on stderr: one line that is redrawn on a terminal,
 * else a line every half a minute.
 *
 *   seed 1  1.23M episodes  5012/s  solved 97.1%  hub 84%  reward 8.3  12 min left */
#ifndef ACQ_CLI_TRAIN_POLICY_PROGRESS_H
#define ACQ_CLI_TRAIN_POLICY_PROGRESS_H

#include "base/text.h"
#include "train/policy.h"

typedef struct acq_policy_progress {
    const acq_train_policy_params *params;
    bool is_terminal;
    int64_t shown_ns;
    size_t width;      /* columns drawn last */
    double hub_solved; /* last known; NAN: none yet */
} acq_policy_progress;

void acq_policy_progress_init(acq_policy_progress *progress, const acq_train_policy_params *params);

/* Takes the line away. */
void acq_policy_progress_deinit(acq_policy_progress *progress);

/* The callback of the training; context is the acq_policy_progress. */
void acq_policy_progress_show(void *context, const acq_curve_point *point);

/* The line alone, below 80 columns of ASCII: a full line would wrap when it is redrawn. The reward
 * is left out where there is no room for it. out is empty before. */
void acq_policy_progress_print(const acq_policy_progress *progress, const acq_curve_point *point,
                               acq_text *out);

#endif
