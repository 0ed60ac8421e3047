/* pass.h - the six layers that both networks of ULTRA consist of, over all nodes of a graph,
 * forward and backward. Inference takes relation vectors and the states without a head from it,
 * training everything; rows.c runs the same layers on the nodes that differ from these states.
 *
 * On n nodes, with the first state h_0 = boundary (one vector at one node, 0 elsewhere):
 *
 *   m_l = boundary + sum over edges of vectors_l[relation] * h_l[source]       [n x 64]
 *   z_l = linear [h_l, m_l] + bias    h_{l+1} = h_l + ReLU(norm(z_l))
 *
 * h and m of a layer lie side by side in x_l [n x 128], so that linear is one product. Backward
 * walks the reversed edges, whose gradient is a sum by receiving nodes again.
 *
 * Two layers may be smaller than n nodes: in the first, all nodes but the start and its neighbours
 * have h = m = 0, so that one row stands for them; of the last, only the wanted nodes are computed.
 * Their rows are gathered into a compact matrix, and what comes back is scattered. Everything is
 * done in the order of the edges by one thread, so it repeats to the last bit. */
#ifndef ACQ_MODELS_ULTRA_PASS_H
#define ACQ_MODELS_ULTRA_PASS_H

#include "models/edges.h"
#include "models/ultra/ultra.h"
#include "tensor/kernels.h"

/* ---- network ----
 *
 * ULTRA's weights ready to run, and the steps that both networks share, in inference
 * and in training alike.
 *
 * linear's 128 inputs are [state, message]; a pair is the two of a node side by side. Packed
 * weights are const and shared between threads. */

typedef enum acq_ultra_net { ACQ_RELATION_NET, ACQ_ENTITY_NET } acq_ultra_net;

typedef struct acq_ultra_layer {
    acq_packed linear;      /* [128 x 64] */
    acq_packed linear_back; /* of training, as all that ends so */
    const float *bias, *gain, *shift;
    size_t tensor; /* place of linear.weight; bias, norm.weight and norm.bias follow */
} acq_ultra_layer;

typedef struct acq_ultra_network {
    const acq_ultra *model; /* borrowed */
    const acq_kernels *kernels;
    bool is_trainable;
    acq_ultra_layer layers[2][ACQ_ULTRA_LAYERS]; /* by acq_ultra_net */
    acq_packed project[ACQ_ULTRA_LAYERS][2], project_back[ACQ_ULTRA_LAYERS][2];
    acq_packed score_state, score_query; /* [64 x 128] each: the halves of score.0 */
    acq_packed score_0, score_0_back;    /* [128 x 128], of training */
} acq_ultra_network;

acq_status acq_ultra_network_init(acq_ultra_network *network, const acq_ultra *model,
                                  bool is_trainable, acq_error *error);
void acq_ultra_network_deinit(acq_ultra_network *network); /* a zeroed one is legal */
void acq_ultra_network_fill(acq_ultra_network *network);   /* after every change of the model */

/* Rows that are run together: pairs, what comes of them and a panel of weights stay in the first
 * cache. */
enum { ACQ_ULTRA_BLOCK = 24, ACQ_ULTRA_PAIR = 2 * ACQ_ULTRA_WIDTH };

/* out[n x 64] = state + ReLU(norm(linear [state, message])) of n <= ACQ_ULTRA_BLOCK pairs. sums
 * [n x 64] gets what linear gives, for the way back; NULL: not wanted. */
void acq_ultra_apply_to_pairs(const acq_ultra_network *network, const acq_ultra_layer *layer,
                              size_t n, const float *pairs, float *sums, float *out);
/* The same for any n, states and messages apart; out is neither. */
void acq_ultra_apply(const acq_ultra_network *network, const acq_ultra_layer *layer, size_t n,
                     const float *states, const float *messages, float *out);

/* out[n x 64] = the n relation vectors as an entity layer uses them; hidden [n x 64] gets what is
 * between the two products, NULL: not wanted. */
void acq_ultra_project(const acq_ultra_network *network, size_t layer, size_t n,
                       const float *vectors, float *hidden, float *out);

/* bias[128] = what the query vector gives to score.0, its bias included. */
void acq_ultra_start_score(const acq_ultra_network *network, const float *query, float *bias);
/* Raw scores of n <= ACQ_ULTRA_BLOCK states. */
void acq_ultra_score(const acq_ultra_network *network, const float *bias, size_t n,
                     const float *states, float *scores);

/* Several arrays of floats in one block, each on a cache line of its own. */
typedef struct acq_ultra_array {
    float **at;
    size_t n_floats;
} acq_ultra_array;

/* Sets every *at; the floats are zero. *block is freed with acq_free. */
acq_status acq_ultra_allocate(const acq_ultra_array *arrays, size_t n, void **block);

/* What is left of a pass: the last states; x of every layer but the first; all that backward needs.
 */
typedef enum acq_ultra_keep { ACQ_KEEP_LAST, ACQ_KEEP_STATES, ACQ_KEEP_ALL } acq_ultra_keep;

typedef struct acq_ultra_pass {
    const acq_ultra_network *network;
    acq_ultra_net net;
    acq_ultra_keep keep;
    size_t most;                /* nodes there is room for */
    float *x[ACQ_ULTRA_LAYERS]; /* [n x 128]; with KEEP_LAST two of them in turn */
    float *out;                 /* [wanted x 64], the last states */
    float *first, *last;        /* KEEP_ALL: compact rows of the first and the last x */
    float *z[ACQ_ULTRA_LAYERS]; /* what linear gave */
    float *y, *stats;           /* of one layer on the way back */
    float *dout;                /* [wanted x 64], the gradient by out: the caller's */
    float *dh, *dz, *dx;        /* [n x 64], [n + 1 x 64], [n x 128] */
    float *dcompact;            /* [n + 1 x 128] */
    uint32_t *reached;          /* by the first layer: the start and its neighbours */
    size_t n_reached;
    uint8_t *is_reached;
    void *block;
} acq_ultra_pass;

/* One run of the layers. */
typedef struct acq_ultra_run {
    const acq_edges *edges;
    const float *vectors[ACQ_ULTRA_LAYERS]; /* [relations of edges x 64] */
    float *dvectors[ACQ_ULTRA_LAYERS];      /* added to by backward */
    uint32_t start;                         /* where the boundary is; ACQ_NO_ID: nowhere */
    const float *boundary;                  /* [64] */
    float *dboundary;                       /* [64], added to by backward; NULL: not wanted */
    bool gathers_first;     /* every node gathers in the first layer, too: few nodes */
    const uint32_t *wanted; /* distinct nodes whose last states matter; NULL: the first n_wanted */
    size_t n_wanted;        /* 0: the last layer ends with its messages */
    acq_stop stop;          /* of forward, which then leaves the rest undone */
} acq_ultra_run;

/* Room for so many nodes; more than before forgets what was kept. */
acq_status acq_ultra_pass_reserve(acq_ultra_pass *pass, size_t n_nodes, acq_error *error);
void acq_ultra_pass_deinit(acq_ultra_pass *pass); /* a zeroed one is legal */

void acq_ultra_pass_forward(acq_ultra_pass *pass, const acq_ultra_run *run); /* fills out */

/* Of dout, after a forward that kept all; gradient has the layout of the parameters. */
void acq_ultra_pass_backward(acq_ultra_pass *pass, const acq_ultra_run *run, float *gradient);

/* The relation graph as edges: nodes are relations, the relation of an edge is its kind. */
acq_status acq_ultra_relation_edges_init(acq_edges *edges, const acq_graph *graph,
                                         acq_error *error);

/* The relation net from one query relation: every relation's vector, in out. */
acq_ultra_run acq_ultra_start_relations(const acq_ultra *model, const acq_edges *edges,
                                        acq_rel relation);

#endif
