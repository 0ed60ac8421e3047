/* merge.h - inside the graph module: batches, in the order of the source, into the sink.
 *
 * This is the serial part of reading: local names become ids of the dictionary, facts follow
 * them to the sink, bad lines are reported with their places in the file. */
#ifndef ACQ_GRAPH_TEXT_MERGE_H
#define ACQ_GRAPH_TEXT_MERGE_H

#include "graph/text/batch.h"

typedef struct acq_merger {
    const acq_sink *sink;
    acq_read_params params;
    acq_read_report report;
    acq_error *error;               /* the caller's; may be NULL */
    acq_error first_bad;            /* the first line left out */
    const char *file;               /* being read, for messages; borrowed until the end */
    acq_syntax syntax;              /* of that file */
    size_t n_lines;                 /* of the file, in earlier batches */
    uint64_t n_facts;               /* handed to the sink */
    uint64_t done;                  /* bytes of earlier files */
    uint64_t total;                 /* bytes of all files; 0: unknown */
    uint32_t *entities, *relations; /* ids of a batch's names */
    size_t entities_capacity, relations_capacity;
} acq_merger;

void acq_merger_init(acq_merger *merger, const acq_sink *sink, const acq_read_params *params,
                     acq_error *error);
void acq_merger_deinit(acq_merger *merger);

/* The batches that follow are of this file. */
void acq_merger_start_file(acq_merger *merger, const char *file, acq_syntax syntax);

/* Takes over what the batch holds; then, if something ended its parsing, fails with that. */
acq_status acq_merger_take(acq_merger *merger, acq_batch *batch);

/* Tells the caller how far reading is: `done` bytes of the current file. */
acq_status acq_merger_progress(acq_merger *merger, uint64_t done);

/* The report; an error when there was no fact. */
acq_status acq_merger_finish(acq_merger *merger, acq_read_report *report);

#endif
