/* train_progress.h - how a training or a fit goes, on stderr: one line that is redrawn
 * on a terminal, else a line every half a minute.
 *
 *   training  12.4 of 50 epochs  loss 4.132  12 min left */
#ifndef ACQ_CLI_TRAIN_PROGRESS_H
#define ACQ_CLI_TRAIN_PROGRESS_H

#include "base/text.h"

typedef struct acq_train_meter {
    double limit;  /* seconds it may take; 0: any */
    uint64_t done; /* what was told last */
    double seconds;
    char phase[32]; /* that of now; what was told first of it is for the estimate */
    uint64_t first_done;
    double first_seconds;
    bool is_terminal;
    int64_t began_ns, shown_ns;
    size_t width; /* columns drawn last */
} acq_train_meter;

void acq_train_meter_init(acq_train_meter *meter, double limit);
void acq_train_meter_deinit(acq_train_meter *meter); /* takes the line away */

/* The callback of acq_train and acq_fit_completion; context is the meter. False when an interrupt
 * was asked for. */
bool acq_train_meter_show(void *context, const acq_progress *now);

/* The line alone, below 80 columns of ASCII. out is empty before. */
void acq_train_meter_print(const acq_train_meter *meter, const acq_progress *now, acq_text *out);

#endif
