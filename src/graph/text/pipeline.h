/* pipeline.h - inside the graph module: one file of lines, parsed on several threads.
 *
 *   cutter ─▶ slot 0 [ piece | batch ] ─▶ merger          reading: one thread at a time, in order
 *             slot 1 [ piece | batch ]                    parsing: all threads
 *             ...                                         merging: one thread at a time, in order
 *
 * No thread has a fixed task. Each merges if the next batch in order is ready, else reads and
 * parses the next piece if a slot is free, else waits; so a slow sink or a slow disk leaves the
 * other work to all threads. Memory is bounded by the number of slots. */
#ifndef ACQ_GRAPH_TEXT_PIPELINE_H
#define ACQ_GRAPH_TEXT_PIPELINE_H

#include "graph/text/merge.h"
#include "graph/text/pieces.h"

/* Parses a piece into an empty batch; what goes wrong stands in batch->error. */
typedef void (*acq_parse_fn)(acq_batch *batch, const acq_piece *piece);

/* Reads the cutter to its end. The calling thread works too and is the only one when the input
 * is a single piece; every failure comes back in the order of the input. */
acq_status acq_pipeline_run(acq_cutter *cutter, acq_merger *merger, const acq_rules *rules,
                            acq_parse_fn parse, unsigned n_threads);

#endif
