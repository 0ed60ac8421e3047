/* train_common.h - what every kind of training does with its graphs and files. */
#ifndef ACQ_CLI_TRAIN_COMMON_H
#define ACQ_CLI_TRAIN_COMMON_H

#include "cli/report.h"
#include "graph/graph.h"

/* The graphs of the command line: the arguments after the kind. */
typedef struct acq_train_graphs {
    acq_graph **items;
    size_t n; /* opened so far */
} acq_train_graphs;

/* Deinit also after an error. A graph without facts is one. */
acq_status acq_train_graphs_init(acq_train_graphs *graphs, const acq_options *options,
                                 acq_output *output, acq_error *error);
void acq_train_graphs_deinit(acq_train_graphs *graphs);

/* "folder/file fingerprint, ...": for the metadata of a model. */
void acq_train_graphs_print(const acq_train_graphs *graphs, const acq_options *options,
                            acq_text *out);
json_t *acq_train_graphs_make_json(const acq_train_graphs *graphs, const acq_options *options);

/* Can the file be written? Better now than after an hour. And a graph must not be lost to a slip
 * in -o. */
acq_status acq_train_check_file(const acq_options *options, const char *path, acq_error *error);
acq_status acq_train_refuse_file(const char *path, const char *why, acq_error *error);

/* A checkpoint at `found` (NULL: there is none) is gone on with, or in the way without --resume.
 * `--resume` without one is noted. */
acq_status acq_train_check_resume(const acq_options *options, const char *found, acq_output *output,
                                  acq_error *error);

/* Batches or a time must be given; 0: neither end. */
acq_status acq_train_check_end(uint64_t batches, double seconds, acq_error *error);

/* Prints a line of the table and releases its text. */
void acq_train_print_line(acq_text *out, const char *label, acq_text *text);

#endif
