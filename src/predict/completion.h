/* completion.h - scored links of a predictor, written once and read by every search.
 *
 * The file (docs/formats.md has it byte by byte) holds, per relation and direction, sparse rows
 * with 16-bit scores (quantise.h), the fingerprints of dictionary and graph, and checksums.
 * acq_predictor_new_completion of predictor.h reads it. */
#ifndef ACQ_PREDICT_COMPLETION_H
#define ACQ_PREDICT_COMPLETION_H

#include "predict/predictor.h"

enum { ACQ_COMPLETION_NAME_MOST = 1023 }; /* bytes of a predictor's name in a file */

/* A share of the work of several machines: the pairs of relations (2k, 2k + 1) whose k modulo `of`
 * is `part`. Messages count parts from 1. A file of one shard is no predictor yet:
 * acq_completion_merge_files makes one of all.
 */
typedef struct acq_shard {
    uint32_t part; /* from 0, below `of` */
    uint32_t of;   /* 0 and 1: the whole */
} acq_shard;

static inline bool acq_shard_has(acq_shard shard, acq_rel relation)
{
    return shard.of <= 1 || relation / 2 % shard.of == shard.part;
}

typedef struct acq_completion_info {
    uint32_t version;
    uint32_t n_entities;
    uint32_t n_relations;
    uint64_t n_links; /* both directions */
    uint64_t dictionary_fingerprint;
    uint64_t graph_fingerprint;
    double floor;
    bool certain; /* some links score 1 without being observed: a 0/1 predictor */
    bool has_calibrator;
    bool has_reasons;
    acq_shard shard; /* of 0: the whole */
    char predictor[ACQ_COMPLETION_NAME_MOST + 1];
} acq_completion_info;

/* Reads and checks the header and directory. The error names the file. */
acq_status acq_completion_read_info(const char *path, acq_completion_info *out, acq_error *error);

/* The calibrator that the file of a predictor from acq_predictor_new_completion holds, as bytes
 * freed with acq_free; *length 0: none. The error names the file. */
acq_status acq_completion_copy_calibrator(const acq_predictor *predictor, void **out,
                                          size_t *length, acq_error *error);

/* The same for the reasons that it holds (calibrate/reasons.h). */
bool acq_completion_has_reasons(const acq_predictor *predictor);
acq_status acq_completion_copy_reasons(const acq_predictor *predictor, void **out, size_t *length,
                                       acq_error *error);

typedef struct acq_completion_write_params {
    double floor;    /* links that score less are left out */
    acq_shard shard; /* no other relation of the predictor is opened; {0}: all */
    /* Before each relation and at the end; false stops with ACQ_ERR_INTERRUPTED. NULL: none. */
    bool (*progress)(void *context, uint64_t done, uint64_t of);
    void *context;
} acq_completion_write_params;

/* Writes the links of `predictor`, and its calibrator if it has one. The file appears whole under
 * its name or not at all. O(links); memory for the largest relation. */
acq_status acq_completion_write(const char *path, const acq_predictor *predictor,
                                const acq_completion_write_params *params, acq_error *error);

/* All shards of a completion, in any order, become the file that one machine alone would have
 * written, byte for byte (if it adds all relations, in rising order). An error names the
 * file: a shard that is missing or there twice, of another dictionary, graph, predictor, floor,
 * calibrator or number of shards, or damaged. What is copied is checked against its checksum.
 * Progress as of acq_completion_write. */
acq_status acq_completion_merge_files(const char *const *paths, size_t n, const char *output,
                                      bool (*progress)(void *context, uint64_t done, uint64_t of),
                                      void *context, acq_error *error);

/* The same in pieces, for predictors that make their links relation by relation. */
typedef struct acq_completion_writer acq_completion_writer;

typedef struct acq_completion_params {
    const char *predictor;  /* its name as on the command line */
    double floor;           /* links that score less are left out */
    bool certain;           /* false: a score above 0.9999 of an unobserved link becomes 0.9999 */
    const void *calibrator; /* as bytes (calibrate/calibrator.h), kept inside; NULL: none */
    size_t calibrator_length;
    bool has_reasons; /* they will be attached before finish */
    acq_shard shard;  /* only its relations may be added; {0}: all */
} acq_completion_params;

acq_status acq_completion_writer_open(const char *path, const acq_graph *graph,
                                      const acq_completion_params *params,
                                      acq_completion_writer **out, acq_error *error);

/* Links of one relation, in either direction: the other one is made here, so both score the
 * same. Each pair of relations once, in any order; pairs never added are empty. */
acq_status acq_completion_writer_add(acq_completion_writer *writer, acq_rel relation,
                                     const acq_links *links, acq_error *error);

/* Links of one even relation in pieces, in any order, none of them observed or there twice; read
 * again and again. The observed facts are added by the writer. */
typedef struct acq_link_pieces {
    size_t n;
    /* Borrowed until the next call. */
    acq_status (*read)(void *context, size_t piece, const acq_link **links, size_t *n_links,
                       acq_error *error);
    void *context;
} acq_link_pieces;

/* The same as acq_completion_writer_add, in bounded memory: about `most` links are held at a time,
 * or one row if that is longer, and 8 bytes for each entity. The pieces are read once for each
 * `most` links and direction, and once more. */
acq_status acq_completion_writer_add_pieces(acq_completion_writer *writer, acq_rel relation,
                                            const acq_link_pieces *pieces, size_t most,
                                            acq_error *error);

/* What reasons need of what is gone afterwards, as bytes; once, and only after has_reasons. */
acq_status acq_completion_writer_attach_reasons(acq_completion_writer *writer, const void *bytes,
                                                size_t length, acq_error *error);

/* Puts the file in place. Afterwards only close is legal. */
acq_status acq_completion_writer_finish(acq_completion_writer *writer, acq_error *error);

/* Frees the writer; removes what was written unless finish succeeded. NULL is legal. */
void acq_completion_writer_close(acq_completion_writer *writer);

#endif
