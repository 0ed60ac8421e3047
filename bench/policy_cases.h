/* policy_cases.h - the queries that the policy search is timed on, with what exact search says. */
#ifndef BENCH_POLICY_CASES_H
#define BENCH_POLICY_CASES_H

#include "policy_run.h"

typedef struct policy_cases {
    const char *name; /* of the file, borrowed from the path */
    policy_case *items;
    double *best; /* the exact score of each; 0: none */
    size_t n;
} policy_cases;

/* FILE.json holds benchmark queries (retrieval), any other file one query per line. Ends the run
 * when exact search cannot decide one of them. */
void policy_cases_init(policy_cases *cases, const char *path, const acq_predictor *predictor);
void policy_cases_deinit(policy_cases *cases);

/* At most `most` queries with an answer, or without, spread evenly over the file; *n of them, in
 * a list that the caller frees. */
const policy_case **policy_cases_pick(const policy_cases *cases, bool with_answer, size_t most,
                                      size_t *n);

#endif
