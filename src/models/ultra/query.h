/* query.h - the loss of one query of a training, forward and backward: relation vectors for a query
 * relation, which all queries of this relation share, and the scores of one query's candidates.
 *
 *   score(v) = score.2 ReLU(score.0 [h_6(v), q]),  q the query relation's vector
 *   loss     = (mean over positives of softplus(-score) + sum over negatives of w softplus(score))
 * / 2 w        = softmax over the negatives of temperature * score, taken as constant
 *
 * temperature 0 gives all negatives the same weight. */
#ifndef ACQ_MODELS_ULTRA_QUERY_H
#define ACQ_MODELS_ULTRA_QUERY_H

#include "models/ultra/pass.h"

typedef struct acq_ultra_relations {
    acq_ultra_pass pass;
    uint32_t most;                      /* relations there is room for */
    float *vectors, *dvectors;          /* [R x 64], of the relation net */
    float *hidden[ACQ_ULTRA_LAYERS];    /* [R x 64], ReLU(project.0) */
    float *projected[ACQ_ULTRA_LAYERS]; /* [R x 64] */
    float *dprojected[ACQ_ULTRA_LAYERS];
    float *dhidden; /* [R x 64] */
    uint32_t *all;  /* 0, 1, ..: every relation's vector is wanted */
    float *block;
} acq_ultra_relations;

/* network: a trainable one. Deinit also after an error. */
acq_status acq_ultra_relations_init(acq_ultra_relations *relations,
                                    const acq_ultra_network *network, uint32_t most,
                                    acq_error *error);
void acq_ultra_relations_deinit(acq_ultra_relations *relations);

/* Fills vectors and projected; clears dvectors and dprojected, for queries to add to. */
void acq_ultra_relations_forward(acq_ultra_relations *relations, const acq_edges *edges,
                                 acq_rel relation);
void acq_ultra_relations_backward(acq_ultra_relations *relations, const acq_edges *edges,
                                  acq_rel relation, float *gradient);

typedef struct acq_ultra_query {
    const acq_edges *edges; /* of the subgraph */
    uint32_t head;          /* local ids */
    acq_rel relation;
    const uint32_t *candidates; /* distinct: the positives first, then the negatives */
    size_t n_positives, n_candidates;
    double temperature;
    double weight; /* of this query's gradient */
} acq_ultra_query;

typedef struct acq_ultra_judge { /* of one thread */
    acq_ultra_pass pass;
    size_t most;                        /* candidates there is room for */
    float *in, *hidden, *dhidden, *din; /* [candidates x 128] */
    float *scores, *dscores;            /* [candidates] */
} acq_ultra_judge;

void acq_ultra_judge_init(acq_ultra_judge *judge, const acq_ultra_network *network);
void acq_ultra_judge_deinit(acq_ultra_judge *judge);

/* Makes room for queries of this size, before forward. */
acq_status acq_ultra_judge_reserve(acq_ultra_judge *judge, size_t n_nodes, size_t n_candidates,
                                   acq_error *error);

/* Scores of the candidates, in judge->scores. */
void acq_ultra_query_forward(acq_ultra_judge *judge, const acq_ultra_query *query,
                             acq_ultra_relations *relations);

/* After forward: returns the loss and adds weight times its gradient to gradient and to
 * relations' dvectors and dprojected. */
double acq_ultra_query_backward(acq_ultra_judge *judge, const acq_ultra_query *query,
                                acq_ultra_relations *relations, float *gradient);

#endif
