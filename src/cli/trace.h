/* trace.h - what --trace shows of a policy search, step by step: lines on stderr as the steps come,
 * or with --json the steps for the object.
 *
 *    step     score      best   classes        ms     MFLOP
 *       0         0         0      1204     0.812     0.000
 *       1         1         1      1216     0.310     2.104
 *   total  1 step, best 1, 1.1 ms, 2.1 MFLOP, 1.9 GFLOP/s */
#ifndef ACQ_CLI_TRACE_H
#define ACQ_CLI_TRACE_H

#include <jansson.h>

#include "cli/report.h"
#include "search/search.h"

/* Memory failures show in output. */
typedef struct acq_trace {
    acq_output *output;
    bool is_json;
    acq_trace_step *steps; /* with is_json: all of them */
    size_t n, capacity;
    acq_trace_step last;
    double ms, flops; /* of all steps */
} acq_trace;

void acq_trace_init(acq_trace *trace, acq_output *output, bool is_json);
void acq_trace_deinit(acq_trace *trace);

/* The callback of acq_policy_options; context is the acq_trace. */
void acq_trace_add(void *context, const acq_trace_step *step);

/* The line below all others; nothing with is_json. */
void acq_trace_finish(acq_trace *trace);

json_t *acq_trace_make_json(const acq_trace *trace);

#endif
