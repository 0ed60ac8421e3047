/* completion_file.h - inside the predict module: the bytes of a completion file, how its pieces are
 * read and how it grows.
 *
 *   [ header | name | block of relation | block | ... | calibrator | reasons | directory ]
 *
 * All numbers are little-endian; structs below are the bytes (no padding inside). A block is
 *   heads u32[n_heads]  offsets u32[n_heads + 1]  tails u32[n_links]  codes u16[n_links]
 * padded with zeros to a multiple of 8. The calibrator is a safetensors file, padded alike, or
 * nothing; so are the reasons, whatever they hold. The directory has one entry per relation id.
 * Version 1 has a header of 96 bytes, without calibrator and shard, version 2 one of 120, without
 * reasons; what needs no more is still written so. */
#ifndef ACQ_PREDICT_COMPLETION_FILE_H
#define ACQ_PREDICT_COMPLETION_FILE_H

#include "base/file.h"
#include "graph/links.h"
#include "predict/completion.h"

/* ---- scores in 16 bits, even on the logit scale ----
 *
 *   code   0       1        ...   39320   ...   65534    65535
 *   score  absent  0.000001       0.5           0.9999   1
 *
 * Between 1 and 65534 the logit grows by 0.000351 a code, so a score of 0.003 is kept to within
 * 0.0000006, and 0.5, 0.9999 and 1 are exact. Codes and scores grow together. */

enum {
    ACQ_CODE_LEAST = 1,
    ACQ_CODE_HALF = 39320,
    ACQ_CODE_PREDICTED = 65534, /* 0.9999 */
    ACQ_CODE_CERTAIN = 65535,   /* 1 */
    ACQ_CODES = 65536
};

/* Score of a code; 0 for code 0. */
float acq_score_decode(uint16_t code);

/* Nearest code of a score in (0, 1]; a score in (0.9999, 1) becomes 0.9999. */
uint16_t acq_score_encode(float score);

/* The lowest code that scores at least `floor`; 1 for floors below the least score. */
uint16_t acq_score_encode_floor(double floor);

/* ---- the frame ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "completion files are little-endian");

#define ACQ_COMPLETION_MAGIC                                                                       \
    "\x89"                                                                                         \
    "ACQC\r\n\x1a"

enum { ACQ_COMPLETION_VERSION = 3, ACQ_COMPLETION_CERTAIN = 1 };

typedef struct acq_completion_header {
    char magic[8];
    uint32_t version;
    uint32_t header_length; /* with the padded name */
    uint32_t n_entities;
    uint32_t n_relations;
    uint64_t dictionary_fingerprint;
    uint64_t graph_fingerprint;
    double floor;
    uint64_t file_length;
    uint64_t directory_offset;
    uint64_t directory_checksum;
    uint64_t n_links;
    uint32_t name_length;
    uint32_t flags;
    uint64_t checksum;          /* of all bytes around it and the padded name */
    uint64_t calibrator_length; /* 0: none */
    uint64_t calibrator_checksum;
    uint32_t shard_part;     /* from 0 */
    uint32_t shard_of;       /* 0: the whole */
    uint64_t reasons_length; /* 0: none */
    uint64_t reasons_checksum;
} acq_completion_header;

typedef struct acq_completion_entry {
    uint64_t offset;
    uint64_t length;
    uint32_t n_heads;
    uint32_t n_links;
    uint64_t checksum; /* of the block, seeded with the relation id */
} acq_completion_entry;

_Static_assert(sizeof(acq_completion_header) == 136, "header bytes");
_Static_assert(sizeof(acq_completion_entry) == 32, "directory entry bytes");

/* Multiple of 8 that holds n bytes. */
static inline uint64_t acq_pad8(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

/* Bytes of the header in a file of its version. */
static inline uint32_t acq_completion_get_header_size(const acq_completion_header *header)
{
    return header->version == 1   ? offsetof(acq_completion_header, calibrator_length)
           : header->version == 2 ? offsetof(acq_completion_header, reasons_length)
                                  : sizeof *header;
}

/* Where the reasons begin. */
static inline uint64_t acq_completion_get_reasons_begin(const acq_completion_header *header)
{
    return header->directory_offset - acq_pad8(header->reasons_length);
}

/* Where the blocks end and the calibrator begins. */
static inline uint64_t acq_completion_get_blocks_end(const acq_completion_header *header)
{
    return acq_completion_get_reasons_begin(header) - acq_pad8(header->calibrator_length);
}

uint64_t acq_completion_block_length(uint32_t n_heads, uint32_t n_links);
uint64_t acq_completion_header_checksum(const acq_completion_header *header, const char *name);
uint64_t acq_completion_block_checksum(const void *block, size_t length, acq_rel relation);
uint64_t acq_completion_attached_checksum(const void *padded, uint64_t length);
uint64_t acq_completion_directory_checksum(const acq_completion_entry *entries, uint32_t n);

/* ---- reading: pieces are checked when they are read ---- */

/* A block as it lies in memory, 4-aligned. */
typedef struct acq_completion_block {
    acq_links rows; /* heads, offsets, tails; no scores, no bitmap */
    const uint16_t *codes;
} acq_completion_block;

/* The same value for the two directions of a relation and for no two other blocks. O(links). */
uint64_t acq_completion_hash_block(const acq_completion_block *block, bool inverse);

/* An open file whose header and directory have been checked. */
typedef struct acq_completion_stored {
    int file;
    uint64_t length;
    acq_completion_header header;
    char name[ACQ_COMPLETION_NAME_MOST + 1 + 8]; /* padded with zeros */
    acq_completion_entry *entries;
} acq_completion_stored;

/* After an error there is nothing to close. The error names the file. */
acq_status acq_completion_stored_open(acq_completion_stored *in, const char *path,
                                      acq_error *error);
void acq_completion_stored_close(acq_completion_stored *in);

/* The block of a relation in fresh memory, freed with acq_free; checked by itself. */
acq_status acq_completion_stored_read_block(const acq_completion_stored *in, acq_rel relation,
                                            void **bytes, acq_completion_block *block,
                                            acq_error *error);

/* One row alone, found where it lies: a few small reads, whatever the size of the relation. Its ids
 * and codes are checked, a checksum covers only whole blocks. */
typedef struct acq_completion_row {
    acq_ent *tails;
    uint16_t *codes;
    size_t n, tails_room, codes_room;
} acq_completion_row;

acq_status acq_completion_stored_read_row(const acq_completion_stored *in, acq_rel relation,
                                          acq_ent head, acq_completion_row *row, acq_error *error);
void acq_completion_row_deinit(acq_completion_row *row);

/* The calibrator as it lies in the file, padding included; freed with acq_free. */
acq_status acq_completion_stored_read_calibrator(const acq_completion_stored *in, void **bytes,
                                                 acq_error *error);

/* The reasons, in the same way. */
acq_status acq_completion_stored_read_reasons(const acq_completion_stored *in, void **bytes,
                                              acq_error *error);

/* The one form of "this file is no good". */
acq_status acq_completion_fail(const char *reason, acq_error *error);

/* ---- writing ----
 *
 *   init: room for the header ─▶ put: a block for every relation ─▶ finish: calibrator, directory,
 *   header, and the file gets its name (base/file.h) */

typedef struct acq_completion_output {
    acq_new_file file;
    uint64_t at; /* length so far */
    acq_completion_header header;
    const void *calibrator;        /* padded with zeros, borrowed; NULL: none */
    const void *reasons;           /* the same */
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

/* The same where the bytes have been put into output->file at output->at. */
acq_status acq_completion_output_note(acq_completion_output *output, acq_rel relation,
                                      uint32_t n_heads, uint32_t n_links, uint64_t checksum,
                                      acq_error *error);

acq_status acq_completion_output_finish(acq_completion_output *output, acq_error *error);
void acq_completion_output_deinit(acq_completion_output *output); /* a zeroed one is legal */

/* ---- a writer ---- */

/* Also of completion_stream.c. */
struct acq_completion_writer {
    const acq_graph *graph;
    acq_completion_output output;
    acq_shard shard;
    bool certain; /* keep scores of 1 */
    float floor;  /* at least the least score that has a code */
    uint16_t floor_code;
    void *calibrator, *reasons; /* as bytes, padded with zeros */
};

/* Code of one link; 0: below the floor. Sets the header's flag for an unobserved 1. */
uint16_t acq_completion_writer_encode(acq_completion_writer *writer, float score, bool observed);

/* May links of this relation be added? */
acq_status acq_completion_writer_check(const acq_completion_writer *writer, acq_rel relation,
                                       acq_error *error);

#endif
