/* fit_options.h - the parameters of `anycq fit`, and the candidate policy of fit and complete. */
#ifndef ACQ_CLI_FIT_OPTIONS_H
#define ACQ_CLI_FIT_OPTIONS_H

#include "cli/options.h"
#include "fit/fit.h"

/* The defaults, and over them what is given. Graphs, weights, callbacks and paths are left to the
 * caller. */
acq_status acq_fit_read_params(const acq_options *options, acq_fit_params *out, acq_error *error);

/* --rows and --tails, where they are given. */
acq_status acq_fit_read_candidates(const acq_options *options, acq_row_choice *rows,
                                   acq_tail_choice *tails, acq_error *error);

#endif
