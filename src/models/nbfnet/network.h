/* network.h - one query through NBFNet, forward and backward; inside models/nbfnet.
 *
 * q is the vector of the query relation, b_e = w_e q the boundary of node e: w_e is 1 at the head
 * of a query, or the degree to which e is in a fuzzy set, and 0 elsewhere.
 *   x_0[e] = b_e
 *   v_l[r] = the relation's vector in layer l, linear in q
 *   a_l[e] = mean, max, min, std of b_e and of x_l[source] * v_l[relation] over the edges to e
 *   y_l[e] = U_l x_l[e] + (A_l + s_e A'_l + A''_l / s_e) a_l[e] + bias
 *   x_{l+1}[e] = x_l[e] + relu(norm(y_l[e]))
 *   f(x) = w . relu(S x + T q + bias) + bias, the score of e is f(x_L[e])
 * with s_e as in acq_nbfnet_fill_scales. Where messages are summed, a_l[e] is the sum of the same
 * and y_l[e] = U_l x_l[e] + A_l a_l[e] + bias.
 *
 * Layers after the first may visit a part of the nodes and edges, as in A*Net: p_l[e] = f(x_l[e])
 * is the priority of a node. The nodes of the highest priority send (ties: the lowest first). Of
 * those that would receive from them, the nodes of the highest priority receive, as many as their
 * edges from senders fit the share of the edges; all others keep their state. A node without any
 * edge counts as one that receives. In a model that weighs, every message of such a layer is
 * sigmoid(p_l[source]) x_l[source] * v_l[relation], which is how priorities are learnt; in others
 * the part of the nodes is a constant, and priorities get no slopes.
 *
 * In layer 0 most nodes get nothing but zeros, so their aggregates are one shared row: only nodes
 * beside the boundary are aggregated. The last layer is computed for the targets alone. */
#ifndef ACQ_MODELS_NBFNET_NETWORK_H
#define ACQ_MODELS_NBFNET_NETWORK_H

#include "models/edges.h"
#include "models/nbfnet/nbfnet.h"

typedef struct acq_nbfnet_products { /* of one layer; the last two only for training */
    acq_packed own, scaled[ACQ_NBFNET_SCALES];
    acq_packed own_back, scaled_back[ACQ_NBFNET_SCALES];
} acq_nbfnet_products;

/* A model with its weights laid out for products. */
typedef struct acq_nbfnet_packed {
    const acq_nbfnet *model; /* borrowed */
    const acq_kernels *kernels;
    bool trainable;
    acq_nbfnet_products layers[ACQ_NBFNET_MOST_LAYERS];
    acq_packed state, state_back; /* the state's part of score.0 */
} acq_nbfnet_packed;

acq_status acq_nbfnet_packed_init(acq_nbfnet_packed *packed, const acq_nbfnet *model,
                                  bool trainable);
void acq_nbfnet_packed_deinit(acq_nbfnet_packed *packed); /* a zeroed one is legal */
void acq_nbfnet_packed_fill(acq_nbfnet_packed *packed);   /* after every change of the model */

/* s = log(degree + 1) over its mean, for each node of the graph. 1/s is 1 / max(s, 0.01). */
void acq_nbfnet_fill_scales(const acq_edges *edges, float *scales);

typedef struct acq_nbfnet_input {
    const acq_edges *edges;
    bool is_one_way;     /* an edge may be there without its inverse: slower */
    const float *scales; /* s of each node */
    const float *query;  /* q */
    const float *vectors[ACQ_NBFNET_MOST_LAYERS];
    acq_nbfnet_visit visit;
    const uint32_t *heads; /* distinct nodes with a boundary */
    const float *weights;  /* w of the heads; NULL: 1 */
    size_t n_heads;
    const uint32_t *targets; /* distinct; NULL: all nodes */
    size_t n_targets;
} acq_nbfnet_input;

typedef struct acq_nbfnet_layer { /* what one layer computed, [rows of...] */
    const uint32_t *nodes;        /* that it was computed for; NULL: all */
    size_t n_nodes;
    const uint32_t *rows; /* of aggregates, by position in nodes; NULL: its own */
    size_t n_rows;
    float *in;         /* [all nodes x 32] x_l */
    float *own;        /* [nodes x 32] x_l of the nodes; `in` when they are all */
    float *aggregates; /* [rows x 128] */
    float *sums;       /* [nodes x 32] y_l */
    float *stats;      /* [nodes x 2] of the norm */
    float *fresh;      /* [nodes x 32] relu(norm(y)) */
    float *out;        /* [nodes x 32] */

    /* Where it visits a part, or weighs: */
    uint32_t *senders, *receivers; /* ascending; the receivers are `nodes` */
    size_t n_senders;
    float *weights; /* [senders] sigmoid of their priorities, where the model weighs */
    float *sent;    /* [senders x 32] */
    float *after;   /* [all nodes x 32] x_{l+1} */
} acq_nbfnet_layer;

/* What one thread needs to work with; grows to the largest query. Zeroed to begin with. */
typedef struct acq_nbfnet_pass {
    acq_nbfnet_layer layers[ACQ_NBFNET_MOST_LAYERS];
    bool visits;          /* layers after the first visit a part, or weigh */
    float *boundary;      /* [heads x 32] */
    float *products;      /* [rows x 96] of aggregates with A, A', A''; backward: their slopes */
    float *hidden;        /* [targets x 64]; where it visits [all nodes x 64] */
    const float *results; /* [targets x 32] x_L */
    float *results_room;  /* where it visits */
    float *priorities;    /* [all nodes] of the layer at hand */
    float *slopes;        /* backward: [all nodes x 32] by the states */
    float *layer_room;    /* [nodes x 32] */
    float *aggregate_slopes;
    float *hidden_slopes;
    float *boundary_slopes;
    float *row_slopes; /* [all nodes x 32] of receivers, then of senders, where it visits */
    acq_edges first;   /* edges from heads, to the nodes in reached */
    acq_edges visited[ACQ_NBFNET_MOST_LAYERS]; /* from senders, by place, to receivers */
    uint32_t *reached;                         /* nodes */
    uint32_t *zeros;                           /* of each: edges from other nodes */
    uint32_t n_reached;
    uint32_t *rows;  /* by node: 0, or place in reached + 1 */
    uint32_t *slots; /* by node: its place among the heads, or ACQ_NO_ID */
    uint32_t *order, *counts, *places, *marks; /* [all nodes] where it visits */
    float *floats;
    uint32_t *numbers;
    size_t floats_room, numbers_room;
} acq_nbfnet_pass;

void acq_nbfnet_pass_deinit(acq_nbfnet_pass *pass);

/* scores[i] of target i. keeps: backward may follow; else layers share memory. */
acq_status acq_nbfnet_forward(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                              bool keeps, acq_nbfnet_pass *pass, float *scores);

typedef struct acq_nbfnet_slopes {           /* all are added to */
    float *tensors[ACQ_NBFNET_MOST_TENSORS]; /* those of relations are not used: */
    float *query;                            /* [32] by q, vectors left aside */
    float *vectors[ACQ_NBFNET_MOST_LAYERS];  /* by v_l */
} acq_nbfnet_slopes;

/* Of a forward that kept; slopes of its scores in, of everything out. */
void acq_nbfnet_backward(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                         acq_nbfnet_pass *pass, const float *score_slopes,
                         const acq_nbfnet_slopes *out);

/* Inside the two. */
acq_status acq_nbfnet_pass_prepare(acq_nbfnet_pass *pass, const acq_nbfnet *model,
                                   const acq_nbfnet_input *input, bool keeps);
/* Senders, receivers and the edges between them, by pass->priorities. */
acq_status acq_nbfnet_pass_choose(acq_nbfnet_pass *pass, const acq_nbfnet *model,
                                  const acq_nbfnet_input *input, unsigned layer);
/* [n x 64] relu(S x + T q + bias) of n states. */
void acq_nbfnet_fill_hidden(const acq_nbfnet_packed *packed, const acq_nbfnet_input *input,
                            size_t n, const float *states, float *hidden);
float acq_nbfnet_get_scale(float s, unsigned which); /* 1, s, 1/s */
acq_messages acq_nbfnet_get_messages(const acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                                     unsigned layer);
/* The node of a row of aggregates: in the messages' ids and what it aggregates besides. */
uint32_t acq_nbfnet_start_row(const acq_nbfnet_pass *pass, unsigned layer, size_t row,
                              acq_pna_start *start);

/* ---- gradient ----
 *
 * Loss and gradient of a batch of NBFNet.
 *
 * Each query is one item of work with slopes of its own; they are added in the order of the
 * queries. The weights that make relation vectors are used through products of the whole batch:
 *   v_l = Q W_l' + c_l      dW_l += dv_l' Q    dc_l += column sums of dv_l    dQ += dv_l W_l
 * with Q [batch x 32] the query vectors and v_l [batch x relations*32]. */

/* A batch consists of passes, each with a relation of its own, and begin and end stand around them:
 * what lies between takes the input of pass i, runs it forward and, where it learns, backward into
 * the slopes of pass i. compute below is that for queries of one head each. */
typedef struct acq_nbfnet_query { /* nodes are those of the edges it is asked on */
    uint32_t head;
    acq_rel relation;
    uint32_t *targets; /* distinct: the positives first, then the negatives */
    size_t n_positives, n_targets;
    const acq_edges *edges; /* of its own, with their scales; NULL: those of the batch */
    const float *scales;
} acq_nbfnet_query;

typedef struct acq_nbfnet_gradient_params {
    uint32_t batch;      /* most passes; of compute: its queries */
    size_t most_targets; /* of a query; 0: compute is not used */
    double temperature;  /* of the weights of negatives; 0: equal ones */
    unsigned n_threads;
    const acq_ranks *ranks; /* that share out the queries; NULL: none */
} acq_nbfnet_gradient_params;

typedef struct acq_nbfnet_worker acq_nbfnet_worker;

typedef struct acq_nbfnet_gradient {
    acq_nbfnet_gradient_params params;
    acq_nbfnet *model; /* borrowed */
    acq_nbfnet_packed packed;
    acq_packed relations[ACQ_NBFNET_MOST_LAYERS], relations_back[ACQ_NBFNET_MOST_LAYERS];
    acq_rel *asked;                                    /* relations of the passes */
    uint32_t n;                                        /* passes of this batch */
    size_t n_vector_floats;                            /* relations * 32 */
    float *queries, *query_slopes;                     /* [batch x 32] */
    float *vectors[ACQ_NBFNET_MOST_LAYERS];            /* [batch x floats] */
    float *vector_slopes[ACQ_NBFNET_MOST_LAYERS];      /* the same */
    float *layer_query_slopes[ACQ_NBFNET_MOST_LAYERS]; /* [batch x 32] */
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
/* Query vector and relation vectors of pass i, and what the model visits; the rest is the caller's.
 */
acq_nbfnet_input acq_nbfnet_gradient_get_input(const acq_nbfnet_gradient *gradient, size_t i);
/* Where its slopes are added; passes may be worked on side by side. */
acq_nbfnet_slopes acq_nbfnet_gradient_get_slopes(const acq_nbfnet_gradient *gradient, size_t i);
/* values: the gradient, added up in the order of the passes, those of all ranks. */
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
