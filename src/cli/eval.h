/* eval.h - what the commands that judge share: the graph of --truth, reliability tables. */
#ifndef ACQ_CLI_EVAL_H
#define ACQ_CLI_EVAL_H

#include <jansson.h>

#include "cli/report.h"

/* Are graph, files and predictor named? */
acq_status acq_eval_check_given(const acq_options *options, acq_error *error);

int acq_eval_links_command(const acq_options *options);

/* The graph of --truth, or of false links, in the ids of the observed one. option: its name, for
 * messages. A folder stands for all it holds. What the observed graph does not know is noted; when
 * that is everything, it is an error. */
acq_status acq_eval_open_truth(const acq_options *options, const char *option, const char *path,
                               const acq_graph *observed, acq_output *output, acq_predictor **out,
                               acq_error *error);

/* The callback of an evaluation; context is an acq_bar. */
bool acq_eval_show(void *context, const acq_progress *now);

/* title is a line of its own, below which the table, the log-loss and the largest gap stand. */
void acq_reliability_view_print(const acq_reliability *table, const char *title, acq_text *out);
/* Its last line alone, with another label. */
void acq_reliability_view_print_gap(const acq_reliability *table, const char *label, acq_text *out);

/* log_loss, base_log_loss, gap, bins (low, high, n, stated, true) as members of `object`. */
void acq_reliability_view_set(json_t *object, const acq_reliability *table);

#endif
