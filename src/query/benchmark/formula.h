/* formula.h - the formula syntax of the published query files, and its groundings.
 *
 *   ((r1(s1,e1))&(r2(e1,f1)))&(!(r3(s2,f1)))      {"r1": 12, "r2": 7, "r3": 30, "s1": 5, "s2": 5}
 *
 * r relation, s constant, e existential, f free; a number follows. Names stay symbolic until a
 * grounding gives them ids, which costs one look-up per name and can be repeated at will. */
#ifndef ACQ_QUERY_BENCHMARK_FORMULA_H
#define ACQ_QUERY_BENCHMARK_FORMULA_H

#include "query/query.h"

/* Free variables come in the order of their numbers, existential ones as they occur. */
acq_status acq_query_parse_benchmark(const char *formula, size_t length, acq_query **out,
                                     acq_error *error);

/* Sets is_id and id of every constant and relation, from parallel arrays of a handful of names
 * (each look-up is a linear scan). Any query can be grounded, again and again; two names may get
 * the same id. A name without an id is ACQ_ERR_NAME, and the query keeps its earlier grounding.
 * acq_query_bind then checks the ids against a graph. */
acq_status acq_query_ground_pairs(acq_query *query, const char *const *names, const uint32_t *ids,
                                  size_t n, acq_error *error);

#endif
