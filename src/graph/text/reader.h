/* reader.h - inside the graph module: the readers of all formats.
 *
 *   source.c    path ─▶ files and their formats        stream.c   their bytes
 *   pieces.c    cut at line ends ─▶ batches, on several threads
 *   batch.c     names and facts of a piece ─▶ sink, in order
 *   read.c      files ─▶ sink                          table.c    separator and header of triples
 *
 *   read_csv.c                plain triples            rdf.c   what RDF means here
 *   read_benchmark.c          benchmark graphs         read_nt.c  read_turtle.c
 *
 * A bad line is reported and left out, or, in strict mode, ends the reading. */
#ifndef ACQ_GRAPH_TEXT_READER_H
#define ACQ_GRAPH_TEXT_READER_H

#include "graph/text/batch.h"
#include "graph/text/pieces.h"

/* Which files a path stands for:
 *
 *   facts.tsv, facts.nt.gz, -          that file, or standard input
 *   x/train_kg.tsv, x/kgindex.json     a benchmark graph: the file with its index
 *   x/ with kgindex.json, SPLIT_kg.tsv the cumulative file of the split, with the index
 *   x/ with train.txt, valid.ttl, ...  the files up to and including the split */
enum { ACQ_SPLITS = 3 };

typedef struct acq_source {
    char *files[ACQ_SPLITS];
    acq_text_syntax syntax[ACQ_SPLITS];
    size_t n_files;
    char *index; /* path of the kgindex.json, or NULL: plain triples */
} acq_source;

/* Goes by the params' split and format, NULL: train, and by the endings. The error names the path
 * and what can be read. */
acq_status acq_source_init(acq_source *source, const char *path, const acq_read_params *params,
                           acq_error *error);
void acq_source_deinit(acq_source *source);

/* Parses a piece into an empty batch; what goes wrong stands in batch->error. */
typedef void (*acq_parse_fn)(acq_batch *batch, const acq_piece *piece);

/* Reads the cutter to its end; the first piece completes the rules. The calling thread works too
 * and is the only one when the input is a single piece; every failure comes back in the order of
 * the input. */
acq_status acq_pipeline_run(acq_cutter *cutter, acq_merger *merger, acq_syntax_rules *rules,
                            acq_parse_fn parse, unsigned n_threads);

/* Formats of lines. */
void acq_parse_tsv(acq_batch *batch, const acq_piece *piece);
void acq_parse_ids(acq_batch *batch, const acq_piece *piece);

void acq_parse_nt(acq_batch *batch, const acq_piece *piece); /* and N-Quads */

/* Calls `parse` for each line of the piece that is not empty, without its end, after a byte order
 * mark; numbers count from 1. Stops at the first failure. */
typedef acq_status (*acq_line_fn)(acq_batch *batch, const char *line, size_t length, size_t number,
                                  bool is_text);
void acq_parse_lines(acq_batch *batch, const acq_piece *piece, acq_line_fn parse);

/* Formats that are read from their beginning to their end by one thread: triples separated by
 * commas, Turtle and TriG. */
/* rules: those of the batch, which the first lines of a .csv complete. */
acq_status acq_read_csv(acq_stream *stream, acq_merger *merger, acq_batch *batch,
                        acq_syntax_rules *rules);
acq_status acq_read_turtle(acq_stream *stream, acq_merger *merger, acq_batch *batch);

/* Reads the text of a kgindex.json into the dictionary. */
acq_status acq_read_index(acq_dictionary *dictionary, const char *bytes, size_t length,
                          acq_error *error);

/* A graph from bytes in memory. index NULL: no benchmark graph; else the text of a
 * kgindex.json, and bytes are lines of ids. `name` stands for the file in messages. */
typedef struct acq_memory_source {
    const char *name;
    const char *bytes;
    size_t length;
    const char *index;
    size_t index_length;
    acq_text_syntax syntax;
    size_t piece_bytes; /* where to cut, and the most that is read at once; 0: as always */
} acq_memory_source;

acq_status acq_ingest_memory(const acq_memory_source *source, const acq_read_params *params,
                             const acq_sink *sink, acq_read_report *report, acq_error *error);
acq_status acq_graph_read_memory(const acq_memory_source *source, const acq_read_params *params,
                                 acq_graph **out, acq_read_report *report, acq_error *error);

#endif
