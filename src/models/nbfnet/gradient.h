/* gradient.h - loss and gradient of a batch of NBFNet.
 *
 * Each query is one item of work with slopes of its own; they are added in the order of the
 * queries. The weights that make relation vectors are used through products of the whole batch:
 *   v_l = Q W_l' + c_l      dW_l += dv_l' Q    dc_l += column sums of dv_l    dQ += dv_l W_l
 * with Q [batch x 32] the query vectors and v_l [batch x relations*32]. */
#ifndef ACQ_MODELS_NBFNET_GRADIENT_H
#define ACQ_MODELS_NBFNET_GRADIENT_H

#include "models/nbfnet/network.h"

/* A batch consists of passes, each with a relation of its own, and begin and end stand around them:
 * what lies between takes the input of pass i, runs it forward and, where it learns, backward into
 * the slopes of pass i. compute below is that for queries of one head each. */
typedef struct acq_nbfnet_query { /* nodes are those of the edges it is asked on */
    uint32_t head;
    acq_rel relation;
    uint32_t *targets; /* distinct: the positives first, then the negatives */
    size_t n_positives, n_targets;
} acq_nbfnet_query;

typedef struct acq_nbfnet_gradient_params {
    uint32_t batch;      /* most passes; of compute: its queries */
    size_t most_targets; /* of a query; 0: compute is not used */
    double temperature;  /* of the weights of negatives; 0: equal ones */
    unsigned n_threads;
} acq_nbfnet_gradient_params;

typedef struct acq_nbfnet_worker acq_nbfnet_worker;

typedef struct acq_nbfnet_gradient {
    acq_nbfnet_gradient_params params;
    acq_nbfnet *model; /* borrowed */
    acq_nbfnet_packed packed;
    acq_packed relations[ACQ_NBFNET_LAYERS], relations_back[ACQ_NBFNET_LAYERS];
    acq_rel *asked; /* relations of the passes */
    uint32_t n;     /* passes of this batch */
    size_t n_vector_floats;                                               /* relations * 32 */
    float *queries, *query_slopes;                                        /* [batch x 32] */
    float *vectors[ACQ_NBFNET_LAYERS], *vector_slopes[ACQ_NBFNET_LAYERS]; /* [batch x floats] */
    float *layer_query_slopes[ACQ_NBFNET_LAYERS];                         /* [batch x 32] */
    float *dense_slopes; /* [batch x n_dense] of the tensors that are not of relations */
    size_t n_dense;
    float *block;   /* all of these */
    double *losses; /* by query */
    acq_nbfnet_worker *workers;
    float *values; /* the gradient, as the model's parameters */
} acq_nbfnet_gradient;

acq_status acq_nbfnet_gradient_init(acq_nbfnet_gradient *gradient, acq_nbfnet *model,
                                    const acq_nbfnet_gradient_params *params, acq_error *error);
void acq_nbfnet_gradient_deinit(acq_nbfnet_gradient *gradient); /* a zeroed one is legal */

/* Of the model as it is now; n <= params.batch. The relations are copied. */
acq_status acq_nbfnet_gradient_begin(acq_nbfnet_gradient *gradient, const acq_rel *relations,
                                     uint32_t n, acq_error *error);
/* Query vector and relation vectors of pass i; the rest is the caller's. */
acq_nbfnet_input acq_nbfnet_gradient_get_input(const acq_nbfnet_gradient *gradient, size_t i);
/* Where its slopes are added; passes may be worked on side by side. */
acq_nbfnet_slopes acq_nbfnet_gradient_get_slopes(const acq_nbfnet_gradient *gradient, size_t i);
/* values: the gradient, added up in the order of the passes. */
acq_status acq_nbfnet_gradient_end(acq_nbfnet_gradient *gradient, acq_error *error);

/* Of the model as it is now on params.batch queries: values and the mean loss. scales are those of
 * the nodes (network.h). */
acq_status acq_nbfnet_gradient_compute(acq_nbfnet_gradient *gradient, const acq_edges *edges,
                                       const float *scales, const acq_nbfnet_query *queries,
                                       double *loss, acq_error *error);

/* Loss of one query's scores and its slopes, positives first:
 *   1/2 mean over positives of log(1 + e^-s) + 1/2 sum over negatives of w log(1 + e^s)
 * with w = softmax(s / temperature) over the negatives, taken as constants; temperature 0: equal.
 */
double acq_nbfnet_loss(const float *scores, size_t n_positives, size_t n, double temperature,
                       float *slopes);

#endif
