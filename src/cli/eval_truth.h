/* eval_truth.h - the graph of --truth, or of false links, in the ids of the observed one. */
#ifndef ACQ_CLI_EVAL_TRUTH_H
#define ACQ_CLI_EVAL_TRUTH_H

#include "cli/report.h"
#include "predict/predictor.h"

/* option: its name, for messages. A folder stands for all it holds. What the observed graph does
 * not know is noted; when that is everything, it is an error. */
acq_status acq_eval_open_truth(const acq_options *options, const char *option, const char *path,
                               const acq_graph *observed, acq_output *output, acq_predictor **out,
                               acq_error *error);

#endif
