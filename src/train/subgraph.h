/* subgraph.h - the part of a graph that a few queries are trained on.
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
#ifndef ACQ_TRAIN_SUBGRAPH_H
#define ACQ_TRAIN_SUBGRAPH_H

#include "base/hash.h"
#include "models/edges.h"

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

#endif
