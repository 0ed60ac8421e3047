/* nbfnet_oracle.h - NBFNet in double precision, straight from the equations: no kernels, no packed
 * weights, no shared rows, every message of every layer for every entity. Tensors are found by
 * name. Parameters are a block of doubles laid out as the model's, so that tests can move them. */
#ifndef TEST_NBFNET_ORACLE_H
#define TEST_NBFNET_ORACLE_H

#include "graph/build.h"
#include "models/nbfnet/nbfnet.h"

typedef struct nbfnet_oracle {
    const acq_nbfnet *model; /* names, shapes and offsets */
    double *parameters;
    uint32_t n_entities;
    const acq_triple *facts; /* both directions */
    size_t n_facts;
    const float *scales; /* of each entity; NULL: from the facts */
} nbfnet_oracle;

double *nbfnet_oracle_copy_parameters(const acq_nbfnet *model);

/* scores of all entities; weights is the boundary's share of the query vector, by entity. */
void nbfnet_oracle_score(const nbfnet_oracle *oracle, acq_rel relation, const double *weights,
                         double *scores);

#endif
