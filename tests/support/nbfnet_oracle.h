/* nbfnet_oracle.h - NBFNet in double precision, straight from the equations: no kernels, no packed
 * weights, no shared rows, every message of every layer for every entity. Tensors are found by
 * name. Parameters are a block of doubles laid out as the model's, so that tests can move them. */
#ifndef TEST_NBFNET_ORACLE_H
#define TEST_NBFNET_ORACLE_H

#include "graph/build.h"
#include "models/nbfnet/nbfnet.h"

enum { NBFNET_ORACLE_NODES = 32 };

/* Who sends and who receives in each layer. Chosen once by sorting, then constants: finite
 * differences want them so. */
typedef struct nbfnet_choice {
    bool sends[ACQ_NBFNET_MOST_LAYERS][NBFNET_ORACLE_NODES];
    bool receives[ACQ_NBFNET_MOST_LAYERS][NBFNET_ORACLE_NODES];
    bool is_made;
    bool is_doubtful; /* the last chosen and the first left out are nearly equal */
} nbfnet_choice;

typedef struct nbfnet_oracle {
    const acq_nbfnet *model; /* names, shapes and offsets */
    double *parameters;
    uint32_t n_entities;
    const acq_triple *facts; /* both directions */
    size_t n_facts;
    const float *scales;     /* of each entity; NULL: from the facts */
    nbfnet_choice *choice;   /* NULL: every entity sends and receives */
    const uint32_t *targets; /* the last layer's receivers are among them; NULL: all */
    size_t n_targets;
} nbfnet_oracle;

double *nbfnet_oracle_copy_parameters(const acq_nbfnet *model);

/* scores of all entities; weights is the boundary's share of the query vector, by entity. */
void nbfnet_oracle_score(const nbfnet_oracle *oracle, acq_rel relation, const double *weights,
                         double *scores);

#endif
