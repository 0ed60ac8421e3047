/* view.h - one answered query, on its way to the reader. */
#ifndef ACQ_CLI_VIEW_H
#define ACQ_CLI_VIEW_H

#include <jansson.h>

#include "answer/explain.h"
#include "cli/report.h"
#include "engine/engine.h"
#include "search/search.h"

/* What --trace shows of a policy search, step by step: lines on stderr as the steps come,
 * or with --json the steps for the object. Memory failures show in output.
 *
 *    step     score      best   classes        ms     MFLOP
 *       0         0         0      1204     0.812     0.000
 *       1         1         1      1216     0.310     2.104
 *   total  1 step, best 1, 1.1 ms, 2.1 MFLOP, 1.9 GFLOP/s */
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

typedef struct acq_view {
    const acq_options *options;
    const acq_engine_params *params;
    const acq_predictor *predictor;
    const acq_query *query;
    const char *text; /* the query as it was written */
    size_t line;      /* of the file it came from; 0: the command line */
    const acq_engine_result *result;
    double ms;
    bool is_check;          /* yes and no instead of answers and none */
    const acq_ent *values;  /* check: what was asked about */
    const acq_trace *trace; /* of --trace; NULL: none */
    bool *is_predicted;     /* becomes true when an answer is shown that rests on predictions */
} acq_view;

/* Do answers have probabilities? */
bool acq_view_has_p(const acq_view *view);
/* A check of positive atoms without any support down to the predictor's floor, of values that the
 * graph shows at their places: its p, if known and below min_p. NaN for everything else. */
double acq_view_get_unsupported_p(const acq_view *view);

/* What the answer rests on, in `arena`. */
typedef struct acq_support {
    acq_evidence *evidence;
    size_t n;
    bool is_observed;
} acq_support;

acq_status acq_view_get_support(const acq_view *view, size_t i_answer, acq_arena *arena,
                                acq_support *out);

/* Name of the value of a variable in an answer. */
const char *acq_view_get_value(const acq_view *view, size_t i_answer, uint32_t variable);

int acq_view_get_exit_code(const acq_view *view);

/* For a person, at most ACQ_COLUMNS wide. Memory failures show in output. */
void acq_view_print(const acq_view *view, acq_output *output);

/* The evidence of one answer, indented below it; where there is none, number 0 is the candidate
 * with the largest p. */
void acq_view_print_support(const acq_view *view, size_t i_answer, const acq_support *support,
                            acq_text *out);

/* Why there is no answer, of a proved none: conditions that cannot hold together, one text each in
 * `arena`; none of them when it is not to be had. */
acq_status acq_view_get_core(const acq_view *view, acq_arena *arena, const char ***out,
                             size_t *n_out);
void acq_view_print_core(const acq_view *view, acq_text *out);

/* --output-format csv or tsv: a line of names, then one line per answer: the free variables, p
 * (empty without a calibrator), score, kind; of a check its verdict in place of variables. With
 * --queries the line of the query comes first. */
void acq_view_print_table(const acq_view *view, acq_output *output);

/* One JSON object on one line. */
void acq_view_print_json(const acq_view *view, acq_output *output);

/* relation(head, tail), names quoted where the query language wants it. */
void acq_view_add_atom(const acq_view *view, const acq_evidence *evidence, acq_text *out);

#endif
