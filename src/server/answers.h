/* answers.h - results as JSON: the members that `anycq ask --json` has, as far as a client of the
 * server needs them. docs/server.md lists them. */
#ifndef ACQ_SERVER_ANSWERS_H
#define ACQ_SERVER_ANSWERS_H

#include "server/service.h"

/* values, keys (where they differ), p, p_if_answered, score, kind; with `explains` also witness and
 * atoms, each with its reasons. */
json_t *acq_answer_make(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                        size_t i, bool explains);

/* The same of a row of SPARQL. */
json_t *acq_answer_make_row(const acq_served_graph *g, const acq_solutions *solutions, size_t row);

/* Everything but the answers: outcome, complete, spent, note, p_any, best_p, likeliest, conflict
 * (with `explains`), predictor, engine. */
json_t *acq_answer_make_end(const acq_served_graph *g, const acq_query *query,
                            const acq_result *result, const acq_ask_params *params, bool explains);
json_t *acq_answer_make_row_end(const acq_served_graph *g, const acq_solutions *solutions);

/* Of a predicted link: kind, text, weight each. */
json_t *acq_answer_make_reasons(const acq_served_graph *g, acq_ent head, acq_rel relation,
                                acq_ent tail);
void acq_answer_set_p(json_t *object, const char *name, double p); /* NaN: no member */

#endif
