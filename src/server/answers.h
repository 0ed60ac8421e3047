/* answers.h - results as JSON: the members that `anycq ask --json` has, as far as a client of the
 * server needs them. docs/server.md lists them. */
#ifndef ACQ_SERVER_ANSWERS_H
#define ACQ_SERVER_ANSWERS_H

#include "base/text.h"
#include "server/service.h"

/* Appends an answer as JSON: values, keys (where they differ), p, p_if_answered, score, kind; with
 * `explains` also witness and atoms, each with its reasons. As text, since there may be many. */
void acq_answer_write(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                      size_t i, bool explains, acq_text *out);

/* The same of a row of SPARQL. */
void acq_answer_write_row(const acq_served_graph *g, const acq_solutions *solutions, size_t row,
                          acq_text *out);

/* A text of JSON as a value; NULL: out of memory. The text is emptied. */
json_t *acq_answer_parse(acq_text *text);

/* Everything but the answers: outcome, complete, spent, note, p_any, best_p, likeliest and conflict
 * (with `explains`), facts, ms, engine, predictor. */
void acq_answer_write_end(const acq_served_graph *g, const acq_query *query,
                          const acq_result *result, const acq_ask_params *params, bool explains,
                          acq_text *out);
void acq_answer_write_row_end(const acq_served_graph *g, const acq_solutions *solutions,
                              acq_text *out);

/* Of a predicted link: kind, text, weight each. */
json_t *acq_answer_make_reasons(const acq_served_graph *g, acq_ent head, acq_rel relation,
                                acq_ent tail);
void acq_answer_set_p(json_t *object, const char *name, double p); /* NaN: no member */

#endif
