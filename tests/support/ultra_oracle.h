/* ultra_oracle.h - ULTRA in double from its equations: plain loops over facts, all nodes, all
 * layers. Shares nothing with src/predict but the names of the tensors. */
#ifndef ACQ_TESTS_SUPPORT_ULTRA_ORACLE_H
#define ACQ_TESTS_SUPPORT_ULTRA_ORACLE_H

#include "graph/build.h"
#include "models/ultra/ultra.h"

typedef struct oracle_graph { /* closed under inverses */
    uint32_t n_entities, n_relations;
    const acq_triple *facts;
    size_t n_facts;
} oracle_graph;

typedef enum oracle_direction { ORACLE_TAIL_TO_HEAD, ORACLE_HEAD_TO_TAIL } oracle_direction;

/* Is (row, column) an edge of this kind, 0 to 3: head-head, tail-tail, head-tail, tail-head? */
bool oracle_is_edge(const oracle_graph *graph, unsigned kind, acq_rel row, acq_rel column);

/* vectors[relations x 64] given a query relation. */
void oracle_compute_vectors(const acq_ultra *model, const oracle_graph *graph, acq_rel query,
                            double *vectors);

/* scores[entities] of (head, relation, ?). */
void oracle_score(const acq_ultra *model, const oracle_graph *graph, acq_ent head, acq_rel relation,
                  oracle_direction direction, double *scores);

/* The same with every entity as head, as far as its degree goes. */
void oracle_score_set(const acq_ultra *model, const oracle_graph *graph, const double *degrees,
                      acq_rel relation, oracle_direction direction, double *scores);

/* The same on some entities alone, sorted, scores[n]: what is not among them sends what is usual
 * for its relation, by the definition in models/ultra/near.c with `most` entities drawn for each.
 */
void oracle_score_near(const acq_ultra *model, const oracle_graph *graph, const acq_ent *nodes,
                       size_t n, size_t most, acq_ent head, acq_rel relation, double *scores);

#endif
