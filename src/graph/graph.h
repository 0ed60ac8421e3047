/* graph.h - an observed graph: named entities and relations, facts as links both ways.
 *
 * Plain triples: the k-th relation name gets id 2k and its inverse 2k+1, made by us.
 * Benchmark graphs (kgindex.json): ids as in the file, where 2k+1 is the inverse of 2k.
 * A graph is immutable and may be shared between threads once it is built: one that is kept in
 * a store (store/store.h) loads names and links when they are asked for and locks inside. */
#ifndef ACQ_GRAPH_GRAPH_H
#define ACQ_GRAPH_GRAPH_H

#include "graph/links.h"
#include "graph/names.h"

typedef struct acq_graph acq_graph;

/* How a relation's inverse is written: inverse_named graphs (benchmarks) name both ids of a
 * pair; in plain graphs only even ids have a name and users write inverse(name). */
uint32_t acq_graph_get_n_entities(const acq_graph *graph);
uint32_t acq_graph_get_n_relations(const acq_graph *graph); /* both directions: even */
uint64_t acq_graph_get_n_facts(const acq_graph *graph);     /* as the user counts: inverses once */

/* What users see; borrowed, never NULL: the rdfs:label where RDF has one, else the key. An odd
 * relation of a plain graph has the name of its pair and acq_graph_is_named(graph, relation) is
 * false: print inverse(name). When a stored graph cannot be read, a name is
 * "(unreadable)" and acq_graph_get_failure returns the reason from then on. */
const char *acq_graph_get_entity_name(const acq_graph *graph, acq_ent entity);
const char *acq_graph_get_relation_name(const acq_graph *graph, acq_rel relation);
bool acq_graph_is_named(const acq_graph *graph, acq_rel relation);

acq_status acq_graph_get_failure(const acq_graph *graph, acq_error *error);

/* What tells it from others: the IRI, `_:blank` node or literal of RDF, else the name. */
const char *acq_graph_get_entity_key(const acq_graph *graph, acq_ent entity);
const char *acq_graph_get_relation_key(const acq_graph *graph, acq_rel relation);
bool acq_graph_is_rdf(const acq_graph *graph);

/* Entities whose key or label begins with `prefix`, each of the two in byte order, until visit
 * returns false. An entity may come twice. An empty prefix gives all names, in any order. */
acq_status acq_graph_each_name(const acq_graph *graph, const char *prefix, size_t length,
                               acq_name_fn visit, void *context, acq_error *error);

/* By key, then by label, as it is spelled and then in the normal forms of Unicode: e with an accent
 * behind it finds the one letter, and the other way round. A relation also by the last part of its IRI, if only one ends so.
 * ACQ_NO_ID when unknown, or when a stored graph cannot be read: acq_graph_get_failure tells. */
acq_ent acq_graph_find_entity(const acq_graph *graph, const char *name, size_t length);
acq_rel acq_graph_find_relation(const acq_graph *graph, const char *name, size_t length);

/* Nearest known name by edit distance (case ignored), or NULL when nothing is near. */
const char *acq_graph_suggest_entity(const acq_graph *graph, const char *name, size_t length);
const char *acq_graph_suggest_relation(const acq_graph *graph, const char *name, size_t length);

/* The links of one relation, borrowed for the life of the graph. This is the seam for stored
 * graphs: they load the relation here, at its first use, so it can fail; no search node can. */
acq_status acq_graph_open_links(const acq_graph *graph, acq_rel relation, const acq_links **out,
                                acq_error *error);

/* Is head -relation-> tail observed? Opens the relation if need be; false also on failure to. */
bool acq_graph_has_fact(const acq_graph *graph, acq_ent head, acq_rel relation, acq_ent tail);

/* ---- named graphs ----
 *
 * Which facts stand in which graphs of N-Quads or TriG, where their names were kept: sorted by
 * graph, relation (even), head, tail, each once. A fact that was removed from a store may still be
 * here: who reads asks for the fact as well. */
typedef struct acq_quad {
    uint32_t graph; /* in names */
    acq_rel relation;
    acq_ent head, tail;
} acq_quad;

typedef struct acq_quads {
    bool is_kept;    /* false: graphs were merged and their names forgotten */
    acq_names names; /* keys, as those of entities */
    acq_quad *items;
    size_t n, capacity;
} acq_quads;

/* *out NULL: names of graphs were not kept. Borrowed for the life of the graph; of a store it is
 * read at the first use, whole: 16 bytes a fact. */
acq_status acq_graph_open_quads(const acq_graph *graph, const acq_quads **out, acq_error *error);

/* The first item that does not come before this one; n: none. O(log n). */
size_t acq_quads_find(const acq_quads *quads, acq_quad item);
bool acq_quads_has(const acq_quads *quads, acq_quad item);

int acq_quad_compare(const void *left, const void *right);
void acq_quads_sort(acq_quads *quads); /* and drops repeated ones */
void acq_quads_deinit(acq_quads *quads);

/* ---- fingerprints ---- */

uint64_t acq_graph_get_fingerprint(const acq_graph *graph);

/* The fingerprint that the dictionary had when it ended with these ids: equal to another graph's
 * when this one is that one grown. O(names since then). */
uint64_t acq_graph_hash_first_names(const acq_graph *graph, uint32_t n_entities,
                                    uint32_t n_relations);

void acq_graph_free(acq_graph *graph);

#endif
