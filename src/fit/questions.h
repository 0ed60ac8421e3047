/* questions.h - inside fit: queries drawn from the complete graph that the rest cannot answer as
 * drawn, since at least one of their facts is held out, as queries with free variables. */
#ifndef ACQ_FIT_QUESTIONS_H
#define ACQ_FIT_QUESTIONS_H

#include "query/query.h"
#include "train/sampler.h"

typedef struct acq_question {
    acq_query *query;
    bool is_hub;
} acq_question;

/* The question that `key` stands for, from facts of the sampler's graph; `rest` lacks one of them.
 * Two thirds are the nine small shapes, a third hub-like; of these, half have one atom per pair of
 * terms. *out->query freed with acq_query_free. NULL: none was found in a number of tries. */
acq_status acq_question_draw(const acq_sampler *sampler, const acq_graph *rest, uint64_t seed,
                             uint64_t key, acq_question *out, acq_error *error);

#endif
