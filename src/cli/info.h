/* info.h - the other things that `anycq info` tells. */
#ifndef ACQ_CLI_INFO_H
#define ACQ_CLI_INFO_H

#include "cli/options.h"
#include "cli/report.h"

/* --verify: a store is read and checked as a whole. Returns the exit code. */
int acq_info_verify(const acq_options *options, acq_output *output);

/* --find PREFIX: names that begin so, at most --limit of them. */
int acq_info_find(const acq_options *options, acq_output *output);

#endif
