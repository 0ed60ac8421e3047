/* ultra_query.h - the loss of one query on a subgraph, forward and backward.
 *
 *   score(v) = score.2 ReLU(score.0 [h_6(v), q]),  q the query relation's vector
 *   loss     = (mean over positives of softplus(-score) + sum over negatives of w softplus(score))
 * / 2 w        = softmax over the negatives of temperature * score, taken as constant
 *
 * temperature 0 gives all negatives the same weight. */
#ifndef ACQ_TRAIN_ULTRA_QUERY_H
#define ACQ_TRAIN_ULTRA_QUERY_H

#include "train/ultra_relations.h"

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
    acq_ultra_stack stack;
    size_t most;                        /* candidates there is room for */
    float *in, *hidden, *dhidden, *din; /* [candidates x 128] */
    float *scores, *dscores;            /* [candidates] */
} acq_ultra_judge;

void acq_ultra_judge_init(acq_ultra_judge *judge, const acq_ultra *model,
                          const acq_ultra_packed *packed);
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
