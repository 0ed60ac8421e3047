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
    const float *outside[ACQ_ULTRA_LAYERS]; /* [nodes x 64] more messages, from what is no node;
                                             * NULL: none. There are none of the first layer */
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
acq_status acq_ultra_relation_edges_init_of(acq_edges *edges, const acq_around_index *index,
                                            acq_error *error);

/* The relation net from one query relation: every relation's vector, in out. */
acq_ultra_run acq_ultra_start_relations(const acq_ultra *model, const acq_edges *edges,
                                        acq_rel relation);

/* ---- set ----
 *
 * ULTRA's entity network with a fuzzy set in place of the head, as UltraQuery runs it: the
 * boundary of entity i is degrees[i] times the query relation's vector, added again in each layer.
 *
 *   h_0(v) = degrees[v] q      m_l(v) = degrees[v] q + sum over edges of vectors_l[r] * h_l[source]
 *
 * All entities are run, each by itself: equal ones (nodes.c) may have different degrees. Per pass:
 * 6 products of 128 x 64 for each entity, 6 times 64 additions for each edge. */

/* Of one thread. */
typedef struct acq_ultra_set {
    float *states, *next; /* [entities x 64] */
    uint32_t *nodes;      /* 0, 1, ... */
    void *block;
} acq_ultra_set;

acq_status acq_ultra_set_init(acq_ultra_set *set, uint32_t n_entities);
void acq_ultra_set_deinit(acq_ultra_set *set); /* a zeroed one is legal */

/* vectors: every relation's; projected: the same as each layer uses them; score_bias: of the query
 * relation. edges: of all entities. */
typedef struct acq_ultra_set_run {
    const acq_ultra_network *network;
    const acq_edges *edges;
    const float *query; /* [64] */
    float *const *projected;
    const float *score_bias;
    const float *degrees; /* [entities] */
} acq_ultra_set_run;

/* out: the raw score of each entity as tail. */
void acq_ultra_set_score(acq_ultra_set *set, const acq_ultra_set_run *run, float *out);

/* ---- one query of a training ----
 *
 * The loss of one query of a training, forward and backward: relation vectors for a query
 * relation, which all queries of this relation share, and the scores of one query's candidates.
 *
 *   score(v) = score.2 ReLU(score.0 [h_6(v), q]),  q the query relation's vector
 *   loss     = (mean over positives of softplus(-score) + sum over negatives of w softplus(score))
 * / 2 w        = softmax over the negatives of temperature * score, taken as constant
 *
 * temperature 0 gives all negatives the same weight. */

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

/* ---- nodes ----
 *
 * Which nodes ULTRA's rows run over.
 *
 * Equal entities: some entities are told apart by their names only, having the same links to the
 * same entities. Exchanging two of them changes nothing in the graph, so they have the same state
 * in every layer, unless one of them is the head. Two nodes are enough for any number of them: the
 * first stands for the head when it is among them, the second for all others.
 *
 *   entities  a b c d e      c, d, e: only a link to b
 *   nodes     0 1 2 3 3      partners of the nodes: 0 1 3 2
 *
 * With c as head, c is 2 and d, e are 3; with d as head, d is 2 and c, e are 3. With another head 2
 * and 3 have the same state. Of NELL's entities two fifths are leaves like these. Entities with a
 * link to themselves are left alone, which also means that no two equal ones are linked.
 *
 * Reach: distances from a set of nodes, up to the number of layers.
 *
 *   order  [ sources | distance 1 | distance 2 | ... ]     ends[d] closes distance d
 *
 * A state can differ from what it is without the head only where the head is within as many steps
 * as layers were run, and is needed only where an asked tail is within as many as are to come. */

typedef struct acq_ultra_nodes {
    uint32_t n_entities, n_nodes;
    uint32_t *nodes;    /* [entities] */
    uint32_t *partners; /* [nodes]: the other node of the same entities, or the node itself */
    uint32_t *counts;   /* [nodes]: entities that it stands for */
    acq_edges edges;    /* into the nodes: a source comes as often as it counts */
} acq_ultra_nodes;

/* O(edges + entities log entities). Opens all relations. */
acq_status acq_ultra_nodes_init(acq_ultra_nodes *self, const acq_graph *graph, acq_error *error);
void acq_ultra_nodes_deinit(acq_ultra_nodes *self); /* a zeroed one is legal */

/* The first of two partners stands for the head. */
static inline uint32_t acq_ultra_nodes_get_head(const acq_ultra_nodes *self, acq_ent head)
{
    uint32_t node = self->nodes[head], partner = self->partners[node];
    return partner < node ? partner : node;
}

/* The node of an entity in the row of a head. */
static inline uint32_t acq_ultra_nodes_get_node(const acq_ultra_nodes *self, acq_ent head,
                                                acq_ent entity)
{
    uint32_t node = self->nodes[entity], taken = acq_ultra_nodes_get_head(self, head);
    if (entity == head)
        return taken;
    return node == taken ? self->partners[node] : node;
}

enum { ACQ_REACH_MOST = ACQ_ULTRA_LAYERS, ACQ_REACH_NEVER = ACQ_REACH_MOST + 1 };

typedef struct acq_reach {
    uint32_t n_nodes;
    uint8_t *distances; /* ACQ_REACH_NEVER: farther than ACQ_REACH_MOST */
    uint32_t *order;
    uint32_t ends[ACQ_REACH_MOST + 1];
    uint64_t edges[ACQ_REACH_MOST + 1]; /* of the nodes within that distance */
} acq_reach;

acq_status acq_reach_init(acq_reach *reach, uint32_t n_nodes);
void acq_reach_deinit(acq_reach *reach); /* a zeroed one is legal */

/* sources NULL: all nodes. Those are distinct. */
void acq_reach_run(acq_reach *reach, const acq_edges *edges, const uint32_t *sources,
                   size_t n_sources);

static inline uint32_t acq_edges_get_degree(const acq_edges *edges, uint32_t node)
{
    return edges->begins[edges->rows[node + 1]] - edges->begins[edges->rows[node]];
}

#endif
