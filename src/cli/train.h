/* train.h - `anycq train KIND`: one function per kind of model. */
#ifndef ACQ_CLI_TRAIN_H
#define ACQ_CLI_TRAIN_H

#include "cli/report.h"

/* The graphs are the arguments after the kind. Returns the exit code; errors are reported. */
int acq_train_policy_command(const acq_options *options, acq_output *output);
int acq_train_links_command(const acq_options *options, acq_output *output); /* the others */

#endif
