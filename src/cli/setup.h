/* setup.h - the graph and the predictor that a command line names, opened with their notes. */
#ifndef ACQ_CLI_SETUP_H
#define ACQ_CLI_SETUP_H

#include "cli/options.h"
#include "cli/report.h"
#include "engine/engine.h"
#include "graph/read.h"

enum { ACQ_MOST_BAD_LINES = 5 }; /* that are shown */

typedef struct acq_setup {
    acq_graph *graph;
    acq_read_report report; /* of reading the graph */
    acq_predictor *predictor;
} acq_setup;

/* Reads a graph with --split and --strict; lines left out are noted. report may be NULL. */
acq_status acq_setup_read_graph(const acq_options *options, const char *path, acq_output *output,
                                acq_graph **out, acq_read_report *report, acq_error *error);

/* The graph at `path` and the predictor of --predictor. Deinit also after an error. */
acq_status acq_setup_init(acq_setup *setup, const acq_options *options, const char *path,
                          acq_output *output, acq_error *error);
void acq_setup_deinit(acq_setup *setup);

/* Engine, thresholds and budgets from the options. Refuses what this version lacks. */
acq_status acq_setup_read_params(const acq_options *options, acq_engine_params *out,
                                 acq_error *error);

#endif
