/* completion_output.h - inside the predict module: a completion file as it grows.
 *
 *   init: room for the header ─▶ put: a block for every relation ─▶ finish: calibrator, directory,
 *   header, and the file gets its name (base/new_file.h) */
#ifndef ACQ_PREDICT_COMPLETION_OUTPUT_H
#define ACQ_PREDICT_COMPLETION_OUTPUT_H

#include "base/new_file.h"
#include "predict/completion_format.h"

typedef struct acq_completion_output {
    acq_new_file file;
    uint64_t at; /* length so far */
    acq_completion_header header;
    const void *calibrator;        /* padded with zeros, borrowed; NULL: none */
    acq_completion_entry *entries; /* offset 0: not yet written */
    char name[ACQ_COMPLETION_NAME_MOST + 1 + 8];
} acq_completion_output;

/* facts: numbers of entities and relations, fingerprints, floor, flags, length of the calibrator,
 * shard; the rest of the header is made here. Deinit also after an error. */
acq_status acq_completion_output_init(acq_completion_output *output, const char *path,
                                      const acq_completion_header *facts, const char *name,
                                      const void *calibrator, acq_error *error);

/* A block of acq_completion_block_length bytes. Each relation once. */
acq_status acq_completion_output_put(acq_completion_output *output, acq_rel relation,
                                     const void *block, uint32_t n_heads, uint32_t n_links,
                                     acq_error *error);

acq_status acq_completion_output_finish(acq_completion_output *output, acq_error *error);
void acq_completion_output_deinit(acq_completion_output *output); /* a zeroed one is legal */

#endif
