/* answer.h - why an answer holds: each atom with its fact; and below, whether it does. */
#ifndef ACQ_ANSWER_ANSWER_H
#define ACQ_ANSWER_ANSWER_H

#include "base/memory.h"
#include "predict/predictor.h"
#include "query/query.h"

typedef enum acq_evidence_kind {
    ACQ_EVIDENCE_OBSERVED,  /* the fact is in the observed graph */
    ACQ_EVIDENCE_PREDICTED, /* not observed; the predictor gives it `link` > 0 */
    ACQ_EVIDENCE_ABSENT,    /* neither: link is 0 */
    ACQ_EVIDENCE_EQUALITY,  /* x = y or x != y: no link involved */
} acq_evidence_kind;

typedef struct acq_evidence {
    const acq_node *node; /* the ATOM or EQUAL node */
    acq_ent left, right;  /* its terms' values */
    bool is_negated;      /* under an odd number of NOTs */
    acq_evidence_kind kind;
    double link;  /* the predictor's score of the atom itself */
    double score; /* of the literal, after binarize and negation */
    bool used;    /* part of the support: false for disjuncts the answer does not need */
} acq_evidence;

/* One entry per atom in the order of the text, in `arena`. */
acq_status acq_explain(const acq_query *query, const acq_predictor *predictor,
                       const acq_scoring *scoring, const acq_ent *values, acq_arena *arena,
                       acq_evidence **out, size_t *n_out, acq_error *error);

/* Does the answer rest on observed facts alone? True when every used positive atom is observed
 * and every used negated one has neither a fact nor a prediction against it. */
bool acq_explain_is_observed(const acq_evidence *evidence, size_t n);

/* Is the tuple seen: has each of its entities an observed fact of the same relation, with whomever,
 * at its end of every positive atom? Lists of candidates hold seen tuples. values: those of the
 * free variables. */
bool acq_explain_is_seen(const acq_query *query, const acq_graph *graph, const acq_ent *values);

/* ---- verify ----
 *
 * The score of a query under one full assignment, straight from the query's tree and
 * the predictor's score(r,h,t). It shares no code with any search, so it can catch their bugs:
 * every answer passes through here before anybody sees it. */

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
