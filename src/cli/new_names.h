/* new_names.h - which names of some facts a graph does not know, and what they resemble.
 *
 * A misspelled name makes a new entity when its fact is added; this is where that is noticed. */
#ifndef ACQ_CLI_NEW_NAMES_H
#define ACQ_CLI_NEW_NAMES_H

#include "graph/graph.h"
#include "store/store.h"

enum { ACQ_MOST_NEW_NAMES = 20, ACQ_MOST_NEAR_NAMES = 3 };

typedef struct acq_new_name {
    const char *name; /* borrowed from the facts */
    const char *near; /* a known name, borrowed from the graph; NULL: none, or not looked for */
    bool is_relation;
} acq_new_name;

typedef struct acq_new_names {
    acq_new_name items[ACQ_MOST_NEW_NAMES];
    size_t n;
} acq_new_names;

/* The first new names of a few facts, in their order, each once. Near names cost more, so only
 * the first ACQ_MOST_NEAR_NAMES are looked for. A graph that cannot be read has no new names. */
void acq_new_names_find(acq_new_names *names, const acq_graph *graph, const acq_store_fact *facts,
                        size_t n);

#endif
