/* stored.h - the seam for a graph that is kept elsewhere and loaded piece by piece.
 *
 * Relation names are few and live in memory; entity names and links are asked for when they are
 * needed. Every function may be called from several threads at the same time, so whoever
 * implements them locks. What they hand out stays valid until `free`. */
#ifndef ACQ_GRAPH_STORED_H
#define ACQ_GRAPH_STORED_H

#include "graph/graph.h"
#include "graph/names.h"

/* What tells graphs apart: sums of hashes, so that a store can keep them up to date one name or
 * fact at a time. */
typedef struct acq_graph_sums {
    uint64_t n_entities; /* ids in use, named or not */
    uint64_t entities;   /* sum of acq_hash_name over the keys */
    uint64_t n_relations;
    uint64_t relations;
    uint64_t facts; /* sum of acq_hash_fact over the facts of even relations */
} acq_graph_sums;

static inline uint64_t acq_hash_fact(acq_rel relation, acq_ent head, acq_ent tail)
{
    uint64_t seed = acq_hash_word((uint64_t)relation + 1, head);
    return acq_random_mix(acq_hash_word(seed, tail));
}

static inline uint64_t acq_sums_hash_dictionary(const acq_graph_sums *sums)
{
    return acq_random_mix(acq_hash_word(acq_random_mix(sums->n_entities + sums->entities),
                                        acq_random_mix(sums->n_relations + sums->relations)));
}

static inline uint64_t acq_sums_hash_graph(const acq_graph_sums *sums)
{
    return acq_random_mix(acq_hash_word(acq_sums_hash_dictionary(sums), sums->facts));
}

typedef struct acq_graph_ops {
    acq_status (*open_links)(void *self, acq_rel relation, const acq_links **out, acq_error *error);

    /* The key of an entity, or what users see: its label where it has one. */
    acq_status (*read_name)(void *self, acq_ent entity, bool is_shown, const char **out,
                            acq_error *error);

    /* By key, then by label. ACQ_OK with *out == ACQ_NO_ID: there is no such entity. */
    acq_status (*find_entity)(void *self, const char *name, size_t length, acq_ent *out,
                              acq_error *error);

    /* Keys and labels that begin with `prefix`, in byte order each; stops when visit says so.
     * With an empty prefix all of them in any order, none missing or it is an error. */
    acq_status (*each_name)(void *self, const char *prefix, size_t length, acq_name_fn visit,
                            void *context, acq_error *error);

    /* As acq_graph_open_quads. */
    acq_status (*open_quads)(void *self, const acq_quads **out, acq_error *error);
    void (*free)(void *self);
} acq_graph_ops;

typedef struct acq_stored_graph {
    const acq_graph_ops *ops;
    void *self;          /* freed by ops->free */
    acq_names relations; /* keys; moved into the graph, like the labels */
    acq_names relation_labels;
    uint32_t n_entities;
    uint32_t n_relations; /* even */
    uint64_t n_facts;
    acq_graph_sums sums;
    bool is_rdf; /* keys are IRIs, blank nodes and literals as N-Triples writes them */
} acq_stored_graph;

/* What acq_graph_find_relation does, for whoever has the names but no graph. */
acq_rel acq_relations_find(const acq_names *keys, const acq_names *labels, bool is_rdf,
                           const char *name, size_t length);

/* Takes over `stored`, also when it fails: ACQ_ERR_MEMORY. */
acq_status acq_graph_new_stored(acq_stored_graph *stored, acq_graph **out);

#endif
