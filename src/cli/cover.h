/* cover.h - sets that cover, for `anycq ask --cover`. */
#ifndef ACQ_CLI_COVER_H
#define ACQ_CLI_COVER_H

#include "cli/setup.h"

/* The set of the command line's query, printed; the exit code. */
int acq_cli_cover(const acq_options *options, const acq_setup *setup, acq_output *output);

#endif
