/* view.h - one answered query, on its way to the reader. */
#ifndef ACQ_CLI_VIEW_H
#define ACQ_CLI_VIEW_H

#include <jansson.h>

#include "cli/report.h"

/* ---- reasons ----
 *
 * What --explain tells of a predicted link, for a person and as JSON:
 *
 *     +2.1  lives_in(X, Y) holds where born_in(X, Y) does, in 34 of 51 cases
 *     -0.4  1 other fact lives_in(Ann, ...) is known; 98 % of those that have any have no more */

typedef struct acq_reason_view {
    const acq_graph *graph;
    const acq_predictor *predictor;
    char note[128]; /* why a link had no reasons; "": none lacked them */
} acq_reason_view;

/* Lines of at most ACQ_COLUMNS, indented. Memory failures show in out. */
void acq_reason_view_print(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail,
                           size_t indent, acq_text *out);

/* An array of objects: kind, text, weight, and what the kind has: rules (body, middle, support,
 * cases), entities (names), model, rank, of, back_rank, back_of, count, total. */
json_t *acq_reason_view_make_json(acq_reason_view *view, acq_ent head, acq_rel relation,
                                  acq_ent tail);

/* Says once why links had no reasons. */
void acq_reason_view_note(const acq_reason_view *view, acq_output *output);

/* ---- view ---- */

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

/* The callback of acq_ask_params; context is the acq_trace. */
void acq_trace_add(void *context, const acq_trace_step *step);

/* The line below all others; nothing with is_json. */
void acq_trace_finish(acq_trace *trace);

json_t *acq_trace_make_json(const acq_trace *trace);

/* How answers are laid out; those that come later widen the columns. */
typedef struct acq_columns {
    size_t *widths; /* one per free variable: of "x = value"; the owner frees them */
    size_t name_width;
    size_t score_width;
    bool is_table;
    size_t n_shown;   /* answers */
    bool has_no_time; /* not all were shown: the time ran out */
} acq_columns;

typedef struct acq_view {
    const acq_options *options;
    const acq_ask_params *params;
    const acq_graph *graph;
    const acq_predictor *predictor;
    const acq_query *query;
    const char *text; /* the query as it was written */
    size_t line;      /* of the file it came from; 0: the command line */
    const acq_result *result;
    acq_result_stats stats;   /* of the result */
    bool is_check;            /* yes and no instead of answers and none */
    const acq_trace *trace;   /* of --trace; NULL: none */
    bool *is_predicted;       /* becomes true when an answer is shown that rests on predictions */
    acq_reason_view *reasons; /* of predicted links, with --explain */
    acq_columns *columns;     /* of the answers so far */
} acq_view;

/* Is there a candidate with a probability, an answer or not? */
bool acq_view_has_likeliest(const acq_view *view);

/* Does the engine prove what it says? */
bool acq_view_is_exact(const acq_view *view);

/* What the answer rests on; the caller frees it. NULL: out of memory. */
acq_evidence_list *acq_view_explain(const acq_view *view, size_t i_answer);

int acq_view_get_exit_code(const acq_view *view);

/* Answers of view->result as --output-format says, as they come, until the time of the command is
 * over: for a person at most ACQ_COLUMNS wide, or as lines of CSV or TSV: a line of names, then one
 * per answer: the free variables, p (empty without a calibrator), score, kind; of a check its
 * verdict in place of variables. With --queries the line of the query comes first. Memory failures
 * show in output. */
void acq_view_add(const acq_view *view, acq_output *output);

/* What comes after all answers: where there are none, why; and notes. */
void acq_view_end(const acq_view *view, acq_output *output);

/* The evidence of one answer, indented below it. */
void acq_view_print_support(const acq_view *view, size_t i_answer, const acq_evidence_list *support,
                            acq_text *out);

/* Why there is no answer, of a proved none; the caller frees it. NULL: there was no time for it, or
 * no memory. */
acq_conflict *acq_view_find_conflict(const acq_view *view);
void acq_view_print_conflict(const acq_view *view, acq_text *out);

/* One JSON object on one line. */
void acq_view_print_json(const acq_view *view, acq_output *output);

#endif
