/* train_options.h - the parameters of a training from the command line. */
#ifndef ACQ_CLI_TRAIN_OPTIONS_H
#define ACQ_CLI_TRAIN_OPTIONS_H

#include "base/text.h"
#include "cli/options.h"
#include "train/policy.h"

/* The defaults, or with --paper the paper's, and over them what is given. Callbacks and the place
 * of checkpoints are left to the caller. */
acq_status acq_train_read_params(const acq_options *options, acq_train_policy_params *out,
                                 acq_error *error);

/* The defaults of a kind, for the help; of the policy also the paper's. */
void acq_train_print_defaults(acq_variant_id kind, acq_text *out);

#endif
