/* verify.h - the score of a query under one full assignment, straight from the query's tree and
 * the predictor's score(r,h,t). It shares no code with any search, so it can catch their bugs:
 * every answer passes through here before anybody sees it. */
#ifndef ACQ_ANSWER_VERIFY_H
#define ACQ_ANSWER_VERIFY_H

#include "predict/predictor.h"
#include "query/query.h"

/* values: one entity per variable of the query. Cost: one look-up per atom. */
double acq_verify_score(const acq_query *query, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values);

/* The same in the logics of fuzzy sets; a negated atom is 1 - min(1, scale x). The first two are what
 * QTO and FIT with one norm say of an assignment. */
typedef enum acq_verify_logic {
    ACQ_VERIFY_PRODUCT, /* and = x y, or = x + y - x y */
    ACQ_VERIFY_MINIMUM, /* and = min, or = max */
    ACQ_VERIFY_LEAST,   /* and = x y, or = max: no mix of the two is less */
} acq_verify_logic;

double acq_verify_degree(const acq_query *query, const acq_predictor *predictor,
                         acq_verify_logic logic, double negation_scale, const acq_ent *values);

/* The verifier's own literal rule: the score of a literal whose atom's link has this score. What is
 * told about an answer (explanation, probability) goes by it too. */
double acq_verify_score_literal(const acq_scoring *scoring, bool is_negated, double link);

#endif
