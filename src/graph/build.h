/* build.h - make a graph from facts in memory: names in, facts in, finished graph out.
 * Readers and tests build through this; a store has its own way (store/import/import.h). */
#ifndef ACQ_GRAPH_BUILD_H
#define ACQ_GRAPH_BUILD_H

#include "graph/graph.h"
#include "graph/names.h"

/* ---- dictionary ----
 *
 * The names of a graph while it is being read: entities, relations, labels.
 *
 * A key is what tells two entities apart: the name in plain triples, the IRI, `_:blank` node or
 * literal in RDF. A label is what users see and may type instead of the key. */

/* How good a label is: of several for one key the best counts, then the first. */
typedef enum acq_label_rank {
    ACQ_LABEL_OTHER,   /* another language */
    ACQ_LABEL_ENGLISH, /* @en, @en-GB, ... */
    ACQ_LABEL_PLAIN,   /* no language */
} acq_label_rank;

typedef struct acq_raw_label {
    size_t start, length; /* in label_text */
    acq_label_rank rank;
} acq_raw_label;

typedef struct acq_dictionary {
    acq_names entities;
    acq_names relations;   /* the k-th relation has id 2k, unless ids are given */
    acq_names labelled;    /* keys that have a label, whether they are used or not */
    acq_raw_label *labels; /* by id in `labelled` */
    size_t labels_capacity;
    char *label_text;
    size_t label_text_used, label_text_capacity;
    bool is_rdf; /* some source was RDF */
    acq_quads quads; /* in any order */
} acq_dictionary;

void acq_dictionary_init(acq_dictionary *dictionary); /* never fails */
void acq_dictionary_deinit(acq_dictionary *dictionary);

/* Labels have up to ACQ_NAME_MOST bytes; an empty one counts as none. */
acq_status acq_dictionary_add_label(acq_dictionary *dictionary, const char *key, size_t key_length,
                                    const char *label, size_t length, acq_label_rank rank);

/* Fixes a name by its id, as a kgindex.json does. Refuses an id that has another name already,
 * and a name that has another id. `kind` is "entity" or "relation", for the message. */
acq_status acq_dictionary_set(acq_names *names, const char *kind, uint32_t id, const char *name,
                              size_t length, acq_error *error);

/* Odd relations have names of their own: ids come from an index, and a fact may be given in
 * either direction or both. */
bool acq_dictionary_names_inverses(const acq_dictionary *dictionary);

/* Every entity id has a name, and every relation pair. */
acq_status acq_dictionary_check(const acq_dictionary *dictionary, acq_error *error);

/* What users see instead of the keys, by id: only ids that have a label get a name in `out`,
 * which is written on success only. All are distinct and none is a key: a label that several keys
 * share, or that is itself another's key, becomes `label <key>`. */
acq_status acq_dictionary_settle_labels(const acq_dictionary *dictionary, const acq_names *keys,
                                        acq_names *out);

/* ---- build ---- */

/* A fact, or a line of a source: facts may be given in either direction. */
typedef struct acq_triple {
    acq_ent head;
    acq_rel relation;
    acq_ent tail;
} acq_triple;

typedef struct acq_graph_builder acq_graph_builder;

acq_graph_builder *acq_graph_builder_new(void); /* NULL: out of memory */
void acq_graph_builder_free(acq_graph_builder *builder);

/* Id of a name, new or known. Relation ids are even; the odd one is the inverse. */
acq_status acq_graph_builder_add_entity(acq_graph_builder *builder, const char *name, size_t length,
                                        acq_ent *out);
acq_status acq_graph_builder_add_relation(acq_graph_builder *builder, const char *name,
                                          size_t length, acq_rel *out);

/* Fixes names by id, as a kgindex.json does; odd relations get names of their own.
 * Refuses an id that has another name already, and a name that has another id. */
acq_status acq_graph_builder_set_entity(acq_graph_builder *builder, acq_ent id, const char *name,
                                        size_t length, acq_error *error);
acq_status acq_graph_builder_set_relation(acq_graph_builder *builder, acq_rel id, const char *name,
                                          size_t length, acq_error *error);

/* Adds head -relation-> tail; its inverse is added by finish. Ids must be known. */
acq_status acq_graph_builder_add_fact(acq_graph_builder *builder, acq_ent head, acq_rel relation,
                                      acq_ent tail);

/* The names and labels so far, for whoever fills them directly; then ids of facts are trusted. */
acq_dictionary *acq_graph_builder_get_dictionary(acq_graph_builder *builder);
acq_status acq_graph_builder_add_facts(acq_graph_builder *builder, const acq_triple *facts,
                                       size_t n);

/* Sorts, drops duplicates, closes under inverses. The builder is empty afterwards. */
acq_status acq_graph_builder_finish(acq_graph_builder *builder, acq_graph **out, acq_error *error);

/* What the last finish met: repeated facts, and facts given in one direction only. */
typedef struct acq_build_counts {
    uint64_t duplicates;
    uint64_t one_way;
} acq_build_counts;

void acq_graph_builder_get_counts(const acq_graph_builder *builder, acq_build_counts *out);

#endif
