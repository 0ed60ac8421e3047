/* source.h - inside the graph module: which files a path stands for.
 *
 *   facts.tsv, facts.nt.gz, -          that file, or standard input
 *   x/train_kg.tsv, x/kgindex.json     a benchmark graph: the file with its index
 *   x/ with kgindex.json, SPLIT_kg.tsv the cumulative file of the split, with the index
 *   x/ with train.txt, valid.ttl, ...  the files up to and including the split */
#ifndef ACQ_GRAPH_TEXT_SOURCE_H
#define ACQ_GRAPH_TEXT_SOURCE_H

#include "graph/text/reader.h"

enum { ACQ_SPLITS = 3 };

typedef struct acq_source {
    char *files[ACQ_SPLITS];
    acq_syntax syntax[ACQ_SPLITS];
    size_t n_files;
    char *index; /* path of the kgindex.json, or NULL: plain triples */
} acq_source;

/* Goes by the params' split and format, NULL: train, and by the endings. The error names the path
 * and what can be read. */
acq_status acq_source_init(acq_source *source, const char *path, const acq_read_params *params,
                           acq_error *error);
void acq_source_deinit(acq_source *source);

#endif
