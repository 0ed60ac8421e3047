/* eval_links.h - `anycq eval links`: a predictor of links judged by the links that it did not see.
 */
#ifndef ACQ_CLI_EVAL_LINKS_H
#define ACQ_CLI_EVAL_LINKS_H

#include "eval/links.h"
#include "eval/decide.h"
#include "cli/report.h"

int acq_eval_links_command(const acq_options *options);

/* What is printed besides the result. */
typedef struct acq_links_view {
    const char *observed, *truth, *filter, *predictor; /* as on the command line */
    bool is_model; /* ranks are by raw scores of all entities; else by the scores of links */
    const acq_links_decisions *decisions; /* NULL: none were asked for */
    double prior;                         /* of the decisions; NAN: they are by score */
} acq_links_view;

void acq_links_view_print(const acq_links_view *view, const acq_eval_links_result *result,
                          acq_text *out);
void acq_links_view_print_json(const acq_links_view *view, const acq_eval_links_result *result,
                               acq_text *out);

#endif
