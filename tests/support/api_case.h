/* api_case.h - what tests of the public library begin with: six facts in a file, the graph of them,
 * and stores made of that file. */
#ifndef ACQ_TESTS_SUPPORT_API_CASE_H
#define ACQ_TESTS_SUPPORT_API_CASE_H

#include "anycq.h"

typedef struct api_case {
    char path[64]; /* Ada and Bo, and a line that is no triple */
    acq_graph *graph;
    acq_predictor *predictor; /* observed */
} api_case;

extern api_case f;
extern const char *const api_chain; /* a query with one answer */

int api_set_up(void **state);
int api_tear_down(void **state);

acq_query *api_read_query(const char *text);
acq_result *api_ask(const acq_query *query, const acq_ask_params *params);

/* The facts of f.path in a store of their own; removed with its log by api_drop_store. */
void api_make_store(char *path);
void api_drop_store(const char *path);

#endif
