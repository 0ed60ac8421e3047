/* ingest.h - facts from files, in parallel, into whatever wants them.
 *
 *   files ─▶ pieces (gunzip, cut at line ends) ─▶ batches, parsed on several threads
 *         ─▶ merged in order: local names get global ids ─▶ sink
 *
 * Merging in order makes ids those of the first mention, whatever the number of threads.
 * A graph in memory (read.c) and an import into a store are two sinks. */
#ifndef ACQ_GRAPH_TEXT_INGEST_H
#define ACQ_GRAPH_TEXT_INGEST_H

#include "graph/build.h"
#include "graph/text/read.h"

typedef struct acq_sink {
    acq_dictionary *dictionary; /* filled before the facts that use it arrive */
    /* n is 0 when only labels came: they take memory too. */
    acq_status (*add_facts)(void *self, const acq_triple *facts, size_t n, acq_error *error);
    void *self;
} acq_sink;

/* Calls of the sink come one at a time, though from any thread. The report's counts of duplicates
 * and completed inverses are for whoever sorts the facts. An error when there is no fact at all. */
acq_status acq_ingest(const char *const *paths, size_t n_paths, const acq_read_params *params,
                      const acq_sink *sink, acq_read_report *report, acq_error *error);

#endif
