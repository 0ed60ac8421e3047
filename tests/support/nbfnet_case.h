/* nbfnet_case.h - small random graphs for the tests of NBFNet, with isolated entities, loops and
 * parallel links. */
#ifndef TEST_NBFNET_CASE_H
#define TEST_NBFNET_CASE_H

#include "graph/build.h"

typedef struct nbfnet_case {
    acq_graph *graph;
    acq_triple *facts; /* both directions, distinct */
    size_t n_facts;
} nbfnet_case;

/* n_names relations, so 2 n_names ids; the last entities may have no fact. */
void nbfnet_case_init(nbfnet_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_names,
                      size_t n_facts);
void nbfnet_case_deinit(nbfnet_case *c);

#endif
