/* batch.h - inside the trainings of link predictors: what one batch works on. */
#ifndef ACQ_TRAIN_BATCH_H
#define ACQ_TRAIN_BATCH_H

#include "base/hash.h"
#include "models/complex/model.h"
#include "models/edges.h"
#include "models/nbfnet/network.h"
#include "train/train.h"

/* ---- ComplEx: its state, and which rows and entities a batch works on ---- */

typedef struct acq_complex_trainer {
    const acq_graph *graph;
    const acq_train_complex_params *params;
    acq_complex *model;     /* its vectors are trained in place */
    float *squares;         /* Adagrad's sums, in the layout of the model's parameters */
    acq_complex_gradient g; /* with the batch */

    const acq_links *const *given; /* links by relation; NULL: the graph's */
    const acq_links **links;       /* by relation */
    acq_complex_row *rows;         /* of the graph, both directions, by relation */
    size_t n_rows;
    uint32_t *order;           /* of the rows in this epoch, by batch */
    uint32_t *batches;         /* their order */
    size_t n_facts;            /* in g.facts */
    uint32_t *fact_order;      /* in this epoch */
    uint64_t epoch;            /* that the orders belong to */
    uint32_t *relation_counts; /* facts of the batch by pair */
    uint64_t *met;             /* step at which an entity was last near, plus 1 */
    acq_ent *near;             /* list of these */
} acq_complex_trainer;

/* A model of random vectors and all that a step needs. Deinit also after an error. */
acq_status acq_complex_trainer_init(acq_complex_trainer *self, const acq_graph *graph,
                                    const acq_train_complex_params *params, acq_error *error);
void acq_complex_trainer_deinit(acq_complex_trainer *self);

/* All but the model, which is there, as are the params and the graph or the links. */
acq_status acq_complex_trainer_open(acq_complex_trainer *self, acq_error *error);

/* One batch: its gradient and mean loss; then the update. Not finite: the gradient was not, and
 * nothing has changed. */
acq_status acq_complex_compute(acq_complex_trainer *self, uint64_t step, double *loss,
                               acq_error *error);
double acq_complex_finish(acq_complex_trainer *self, double rate);

/* By the share of the schedule that is over. */
double acq_complex_get_rate(const acq_train_complex_params *params, double share);
/* Of the loss of relations; n: facts in both directions. */
double acq_complex_get_weight(const acq_train_complex_params *params, double n,
                              uint32_t n_entities);

/* See train.h. */
acq_status acq_complex_train_buckets(const acq_graph *graph, const acq_train_complex_params *params,
                                     acq_complex **out, acq_error *error);

/* The rows of the graph, in the order of the first epoch. */
acq_status acq_complex_list_rows(acq_complex_trainer *self, acq_error *error);
uint64_t acq_complex_count_batches(const acq_complex_trainer *self); /* of an epoch */

/* Rows, entities and counts of batch `step`, and back to a state in which nothing is local. */
acq_status acq_complex_choose(acq_complex_trainer *self, uint64_t step);
void acq_complex_forget(acq_complex_trainer *self);

/* Adagrad with this rate on what the batch touches, the slope of N3 by the number of facts. */
void acq_complex_update(acq_complex_trainer *self, double rate);

/* ---- subgraph ----
 *
 * The part of a graph that a few queries are trained on.
 *
 * Entities around the queries' heads and tails, breadth first: of each entity at most `most_near`
 * neighbours, drawn at random, until there are three quarters of most_entities. The rest are
 * strangers, from anywhere and from `kin`, with some of their neighbours, every other time cut off
 * from the others: without them a network never learns that what the head cannot reach is no tail,
 * and whole graphs are full of it. Then all links among them, except the queries' own in both
 * directions; past most_edges a random share of the others. Local ids count from 0 in the order of
 * finding.
 *
 * The strict negatives of a query are entities of the subgraph that are no tail of (head, relation)
 * in the whole graph. Everything follows from the random key, so a subgraph can be made again. */

typedef struct acq_query_link {
    acq_ent head;
    acq_rel relation;
    acq_ent tail;
} acq_query_link;

typedef struct acq_subgraph_params {
    uint32_t most_entities; /* 0: all, with their own ids */
    uint32_t most_edges;    /* both directions; 0: no limit */
    uint32_t most_near;     /* neighbours of one entity; 0: no limit */
} acq_subgraph_params;

typedef struct acq_subgraph {
    const acq_edges *world; /* of the whole graph, borrowed */
    acq_edges edges;        /* local ids */
    acq_ent *entities;      /* by local id; n is edges.n_nodes */
    uint32_t *local;        /* by entity; ACQ_NO_ID: not here */
    uint8_t *is_end;        /* by local id: head or tail of a query */
    uint32_t n, n_near;     /* entities; those that are no strangers */
    bool is_cut;            /* no links between strangers and others */
    const acq_links *kin;   /* every other stranger is one of its heads; NULL: none */
    acq_subgraph_params params;
    const acq_query_link *links;
    size_t n_links;
    uint64_t key; /* of the links that are kept past most_edges */
} acq_subgraph;

/* Memory for one subgraph after another; O(entities of the world). */
acq_status acq_subgraph_init(acq_subgraph *subgraph, const acq_edges *world,
                             const acq_subgraph_params *params, acq_error *error);
void acq_subgraph_deinit(acq_subgraph *subgraph); /* a zeroed one is legal */

/* links are borrowed during the call; all their heads and tails are in the result. */
acq_status acq_subgraph_draw(acq_subgraph *subgraph, const acq_query_link *links, size_t n,
                             acq_random *random, acq_error *error);

/* Up to n distinct strict negatives of (head, relation), local ids; returns how many. */
size_t acq_subgraph_draw_negatives(const acq_subgraph *subgraph, acq_ent head, acq_rel relation,
                                   size_t n, acq_random *random, uint32_t *out);

/* ---- nbfnet ----
 *
 * The queries of one batch, with the links that they
 * hide, their subgraph and the targets to score.
 *
 * Everything is drawn from (seed, number of the batch). Targets of a query are its positives, then
 * its negatives, as local ids of the subgraph. */

typedef struct acq_nbfnet_batch {
    const acq_train_nbfnet_params *params;
    const acq_edges *world;
    const float *world_scales;
    acq_subgraph subgraph;
    float *scales;             /* by local id */
    acq_nbfnet_query *queries; /* with room for most positives and negatives */
    acq_ent *heads;            /* of the queries, in the whole graph */
    size_t *first_links;       /* of the queries: n_positives of `links` are theirs */
    uint32_t *targets;
    uint32_t *shares; /* with params->most_counted: [groups + 1] sums of how often each is drawn */
    acq_query_link *links;
    size_t n_links, links_room;
    const acq_around_index *index; /* with params->most_around: */
    acq_around *arounds;           /* of each query */
    float *near_scales;            /* [queries x most_nodes] */
    acq_ent *also, *hidden;        /* nodes of a query besides those around its head; its tails */
    uint32_t *order;               /* of the nodes, for negatives */
    size_t most_nodes;
} acq_nbfnet_batch;

acq_status acq_nbfnet_batch_init(acq_nbfnet_batch *batch, const acq_train_nbfnet_params *params,
                                 const acq_edges *world, const float *scales, acq_error *error);
/* For queries on what is around their heads; the index is borrowed. */
acq_status acq_nbfnet_batch_init_near(acq_nbfnet_batch *batch, const acq_around_index *index,
                                      acq_error *error);
void acq_nbfnet_batch_deinit(acq_nbfnet_batch *batch); /* a zeroed one is legal */

/* Most targets of a query on n_nodes nodes. */
size_t acq_nbfnet_count_targets(const acq_train_nbfnet_params *params, uint32_t n_nodes);

acq_status acq_nbfnet_batch_draw(acq_nbfnet_batch *batch, uint64_t number, acq_error *error);

#endif
