/* store_model.h - what a store should hold, kept in the simplest way: names in order, facts as
 * bits. It shares no code with the store. */
#ifndef TEST_STORE_MODEL_H
#define TEST_STORE_MODEL_H

#include "unit/store_case.h"

enum { MODEL_ENTITIES = 160, MODEL_RELATIONS = 24, MODEL_NAME = 96 };

typedef struct model_name {
    char key[MODEL_NAME], label[MODEL_NAME]; /* label "": none */
} model_name;

typedef struct model {
    model_name entities[MODEL_ENTITIES];
    model_name relations[2 * MODEL_RELATIONS]; /* key "": an inverse without a name */
    uint32_t n_entities, n_pairs;
    bool is_rdf;
    bool facts[MODEL_RELATIONS][MODEL_ENTITIES][MODEL_ENTITIES]; /* pair, head, tail */
} model;

void model_take(model *m, const acq_graph *graph);

/* The graph in memory that the store must equal. */
acq_graph *model_make_graph(const model *m);

/* By key or label; for relations of RDF also by what follows the last slash. UINT32_MAX: none. */
uint32_t model_find_entity(const model *m, const char *name);
uint32_t model_find_relation(const model *m, const char *name); /* both directions */

/* Adds or removes; new names get ids. Returns false when remove meets an unknown name. */
bool model_change(model *m, const acq_store_fact *fact, bool is_add, acq_store_report *report);

#endif
