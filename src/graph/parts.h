/* parts.h - what a graph is made of; for the graph module only. */
#ifndef ACQ_GRAPH_PARTS_H
#define ACQ_GRAPH_PARTS_H

#include <pthread.h>

#include "graph/stored.h"

struct acq_graph {
    acq_names relations; /* keys; plain graphs: odd ids unnamed */
    acq_names relation_labels;
    uint32_t n_entities;
    uint32_t n_relations; /* even */
    uint64_t n_facts;     /* each pair of a fact and its inverse once */
    acq_graph_sums sums;
    bool is_rdf;

    /* In memory: */
    acq_quads quads;
    acq_names entities;
    acq_names entity_labels;
    acq_links **links; /* n_relations */

    /* Or elsewhere: ops is not NULL. */
    const acq_graph_ops *ops;
    void *self;
    pthread_mutex_t lock; /* of failure */
    acq_error failure;    /* the first */
};

/* A zeroed graph with its lock; NULL: out of memory. */
acq_graph *acq_graph_new_empty(void);

/* Sum of the hashes of (relation, head, tail): the same for any order of facts. */
uint64_t acq_graph_hash_links(acq_rel relation, const acq_links *links);

/* Remembers the first failure of a stored graph. */
void acq_graph_set_failure(const acq_graph *graph, const acq_error *failure);

#endif
