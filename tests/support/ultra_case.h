/* ultra_case.h - a random small graph, the list of its facts, and random ULTRA weights. */
#ifndef ACQ_TESTS_SUPPORT_ULTRA_CASE_H
#define ACQ_TESTS_SUPPORT_ULTRA_CASE_H

#include "support/ultra_oracle.h"

typedef struct ultra_case {
    acq_graph *graph;
    oracle_graph oracle; /* the same facts, both directions */
    acq_ultra *model;
} ultra_case;

/* Facts are drawn; those that come twice count once. Everything follows from the seed. */
void ultra_case_init(ultra_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_pairs,
                     size_t n_facts);
/* Only the first entities are tails, so that others are alike. */
void ultra_case_init_hubs(ultra_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_hubs,
                          uint32_t n_pairs, size_t n_facts);
void ultra_case_deinit(ultra_case *c);

/* All weights away from where they start: gains not 1, shifts not 0. */
void ultra_case_shake(acq_ultra *model, uint64_t seed);

#endif
