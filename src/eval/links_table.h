/* links_table.h - a predictor's scores judged as probabilities, over all its candidates. */
#ifndef ACQ_EVAL_LINKS_TABLE_H
#define ACQ_EVAL_LINKS_TABLE_H

#include "eval/links.h"

/* Candidates: every link above 0 that is not observed, one direction of each. A candidate is true
 * when `truth` has it; one that only `filter` has is none. What is compared with: the true share of its relation's candidates, the best
 * that one number per relation can do. */
acq_status acq_links_table_fill(const acq_eval_links_params *params, acq_reliability *out,
                                acq_error *error);

#endif
