/* facts.h - the facts that add and remove are given: on the command line, or in a file of any
 * kind that import takes. */
#ifndef ACQ_CLI_FACTS_H
#define ACQ_CLI_FACTS_H

#include "cli/pattern.h"
#include "cli/report.h"
#include "graph/text/read.h"
#include "store/store.h"

typedef struct acq_facts {
    acq_store_fact *items; /* names are borrowed from what follows */
    size_t n;
    acq_pattern *patterns; /* the command line's */
    size_t n_patterns;
    acq_dictionary dictionary; /* a file's */
    acq_triple *triples;
    size_t n_triples, capacity;
} acq_facts;

/* Deinit also after an error. An error about a fact on the command line has its column in *source,
 * which is NULL otherwise. */
acq_status acq_facts_init(acq_facts *facts, const acq_options *options, acq_output *output,
                          const char **source, acq_error *error);
void acq_facts_deinit(acq_facts *facts);

#endif
