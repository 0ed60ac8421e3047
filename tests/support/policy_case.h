/* policy_case.h - one random small problem with both networks on it: the lumped one of
 * src/search/policy and what the dense oracle needs. */
#ifndef ACQ_TESTS_SUPPORT_POLICY_CASE_H
#define ACQ_TESTS_SUPPORT_POLICY_CASE_H

#include "search/policy/network.h"
#include "support/case.h"
#include "support/dense_graph.h"
#include "support/dense_weights.h"

typedef struct policy_case {
    test_case c;
    acq_graph *graph; /* the links that score 1 */
    acq_problem *problem;
    acq_board *board;
    dense_graph *dense;
    uint32_t *dense_terms; /* of the board's terms */
    acq_policy *policy;
    dense_weights weights; /* borrowed from the policy */
} policy_case;

/* Everything follows from the seed; most cases have exact PE labels, some those of the observed
 * graph or none. scale multiplies the random weights. */
void policy_case_init(policy_case *p, uint64_t seed, uint32_t dim, double scale);
void policy_case_deinit(policy_case *p);

/* A policy with random weights, gains and shifts included. */
acq_policy *policy_new_random(uint32_t dim, uint64_t seed, double scale);

/* Values of the board's free terms to both: the walk and the dense graph. */
void policy_case_assign(policy_case *p, acq_walk *walk, const acq_ent *values);

/* The board's terms as the dense graph numbers them; malloc'ed. */
uint32_t *match_terms(const acq_board *board, const dense_graph *dense);

#endif
