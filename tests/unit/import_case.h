/* import_case.h - sources to import, and the comparison of a store with the graph it came from. */
#ifndef TEST_IMPORT_CASE_H
#define TEST_IMPORT_CASE_H

#include "graph/graph.h"
#include "store/import/import.h"

typedef struct import_shape {
    size_t n_lines;
    uint32_t n_entities, n_relations; /* names to choose from, low ones more often */
} import_shape;

/* Triples, separated by tabs; some are repeated. */
void import_case_write(const char *path, const import_shape *shape, uint64_t seed);

/* A benchmark folder: kgindex.json and train_kg.tsv, some facts given one way only. */
void import_case_write_benchmark(const char *folder, const import_shape *shape, uint64_t seed);

/* Ids, names, keys, links and fingerprints. */
void import_case_compare(const acq_graph *want, const acq_graph *got);

/* Fails the test when the import fails. */
acq_import_report import_case_run(const char *source, const char *output,
                                  const acq_import_params *params);

/* Imports, opens the store, compares it with the source read in memory, removes it. */
acq_import_report import_case_check(const char *source, const acq_import_params *params);

bool import_case_exists(const char *path);
size_t import_case_count_files(const char *folder);

/* A new folder for the test, where it also is from then on; gone with all its files at leave. */
void import_case_enter(void);
void import_case_leave(void);

#endif
