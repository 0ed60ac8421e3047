/* questions.h - inside fit: queries with free variables, drawn from the complete graph. */
#ifndef ACQ_FIT_QUESTIONS_H
#define ACQ_FIT_QUESTIONS_H

#include "query/query.h"
#include "query/sample/sampler.h"

/* The question that `key` stands for, from facts of the sampler's graph: a small shape, or a
 * hub-like one; half of these have one atom per pair of terms. Open ones have a fact that `rest`
 * lacks. *out freed with acq_query_free; NULL: none was found in a number of tries. */
acq_status acq_question_draw(const acq_sampler *sampler, const acq_graph *rest, bool is_hub,
                             bool is_open, uint64_t seed, uint64_t key, acq_query **out,
                             acq_error *error);

#endif
