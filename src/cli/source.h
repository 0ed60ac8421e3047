/* source.h - the names that eval.c uses for what setup.h declares. The names in setup.h differ
 * because graph/source.h has an acq_source too, and both are linked into the command. */
#ifndef ACQ_CLI_SOURCE_H
#define ACQ_CLI_SOURCE_H

#include "cli/setup.h"

#define acq_source             acq_setup
#define acq_source_init        acq_setup_init
#define acq_source_deinit      acq_setup_deinit
#define acq_source_read_graph  acq_setup_read_graph
#define acq_source_read_params acq_setup_read_params

#endif
