/* formula.h - the existential formula of a SPARQL query, where it has one.
 *
 * SPARQL's variables may be unbound in a solution, ours never are. The two agree when every
 * variable that is selected or filtered is bound by a pattern in every solution of its group; what
 * does not agree is ACQ_ERR_PARSE, and the message names it. */
#ifndef ACQ_QUERY_SPARQL_FORMULA_H
#define ACQ_QUERY_SPARQL_FORMULA_H

#include "query/query.h"
#include "query/sparql/syntax.h"

/* What the formula's answers, which are a set, leave open of SPARQL's solutions. */
typedef struct acq_formula_traits {
    bool may_repeat;  /* SPARQL may give a solution several times */
    bool is_negated;  /* NOT EXISTS, MINUS or != occurs */
    bool is_compared; /* two variables are compared: among literals values count, not spellings */
} acq_formula_traits;

/* Of the pattern and the selection; order, limit and offset are left to the caller. */
acq_status acq_sparql_make_formula(const acq_sparql_query *query, acq_query **out,
                                   acq_formula_traits *traits, acq_error *error);

#endif
