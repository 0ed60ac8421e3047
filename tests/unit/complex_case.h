/* complex_case.h - small graphs for the tests of ComplEx. */
#ifndef TEST_COMPLEX_CASE_H
#define TEST_COMPLEX_CASE_H

#include "graph/build.h"

/* Entities e0, e1, ... and relations r0, r1, ...; triples have even relation ids. */
acq_graph *complex_case_build(uint32_t n_entities, uint32_t n_names, const acq_triple *facts,
                              size_t n_facts);

/* A ring of n entities, "next" and "next but one", and two entities without any fact. */
acq_graph *complex_case_ring(uint32_t n);

/* The score of a link by complex arithmetic in double, from vectors of 2 * rank floats. */
double complex_case_score(const float *head, const float *relation, const float *tail,
                          uint32_t rank, bool is_inverse);

#endif
