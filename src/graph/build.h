/* build.h - make a graph from facts in memory: names in, facts in, finished graph out.
 * Readers and tests build through this; a store has its own way (store/import/import.h). */
#ifndef ACQ_GRAPH_BUILD_H
#define ACQ_GRAPH_BUILD_H

#include "graph/dictionary.h"
#include "graph/graph.h"

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
