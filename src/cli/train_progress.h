/* train_progress.h - how a training or a fit goes, on stderr: one line that is redrawn
 * on a terminal, else a line every half a minute.
 *
 *   training  12.4 of 50 epochs  loss 4.132  12 min left */
#ifndef ACQ_CLI_TRAIN_PROGRESS_H
#define ACQ_CLI_TRAIN_PROGRESS_H

#include "base/text.h"
#include "train/train.h"

typedef struct acq_train_meter {
    const char *unit;         /* what the trainer counts in: "epochs" */
    double limit;             /* seconds it may take; 0: any */
    acq_train_progress last;  /* what was told last */
    acq_train_progress since; /* what was told first of this phase, for the estimate */
    bool is_terminal;
    int64_t shown_ns;
    size_t width; /* columns drawn last */
} acq_train_meter;

void acq_train_meter_init(acq_train_meter *meter, const char *unit, double limit);
void acq_train_meter_deinit(acq_train_meter *meter); /* takes the line away; `last` stays */

/* The callback of a trainer; context is the meter. False when an interrupt was asked for. */
bool acq_train_meter_show(void *context, const acq_train_progress *now);

/* The line alone, below 80 columns of ASCII. out is empty before. */
void acq_train_meter_print(const acq_train_meter *meter, const acq_train_progress *now,
                           acq_text *out);

#endif
