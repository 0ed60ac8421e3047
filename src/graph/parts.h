/* parts.h - what a graph is made of; for the graph module only. */
#ifndef ACQ_GRAPH_PARTS_H
#define ACQ_GRAPH_PARTS_H

#include "graph/graph.h"
#include "graph/names.h"

struct acq_graph {
    acq_names entities;
    acq_names relations; /* plain graphs: odd ids unnamed */
    uint32_t n_entities;
    uint32_t n_relations; /* even */
    uint64_t n_facts;     /* each pair of a fact and its inverse once */
    uint64_t dictionary_fingerprint;
    uint64_t fingerprint;
    acq_links **links; /* n_relations */
};

/* Sum of the hashes of (relation, head, tail): the same for any order of facts. */
uint64_t acq_graph_hash_links(acq_rel relation, const acq_links *links);

#endif
