/* completion_format.h - inside the predict module: the bytes of a completion file.
 *
 *   [ header | name | block of relation | block | ... | calibrator | directory ]
 *
 * All numbers are little-endian; structs below are the bytes (no padding inside). A block is
 *   heads u32[n_heads]  offsets u32[n_heads + 1]  tails u32[n_links]  codes u16[n_links]
 * padded with zeros to a multiple of 8. The calibrator is a safetensors file, padded alike, or
 * nothing. The directory has one entry per relation id. Version 1 has a header of 96 bytes, without
 * calibrator and shard; what needs neither is still written so. */
#ifndef ACQ_PREDICT_COMPLETION_FORMAT_H
#define ACQ_PREDICT_COMPLETION_FORMAT_H

#include "predict/completion.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "completion files are little-endian");

#define ACQ_COMPLETION_MAGIC                                                                       \
    "\x89"                                                                                         \
    "ACQC\r\n\x1a"

enum { ACQ_COMPLETION_VERSION = 2, ACQ_COMPLETION_CERTAIN = 1 };

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
    uint32_t shard_part; /* from 0 */
    uint32_t shard_of;   /* 0: the whole */
} acq_completion_header;

typedef struct acq_completion_entry {
    uint64_t offset;
    uint64_t length;
    uint32_t n_heads;
    uint32_t n_links;
    uint64_t checksum; /* of the block, seeded with the relation id */
} acq_completion_entry;

_Static_assert(sizeof(acq_completion_header) == 120, "header bytes");
_Static_assert(sizeof(acq_completion_entry) == 32, "directory entry bytes");

/* Multiple of 8 that holds n bytes. */
static inline uint64_t acq_pad8(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

/* Bytes of the header in a file of its version. */
static inline uint32_t acq_completion_get_header_size(const acq_completion_header *header)
{
    return header->version == 1 ? offsetof(acq_completion_header, calibrator_length)
                                : sizeof *header;
}

/* Where the blocks end and the calibrator begins. */
static inline uint64_t acq_completion_get_blocks_end(const acq_completion_header *header)
{
    return header->directory_offset - acq_pad8(header->calibrator_length);
}

uint64_t acq_completion_block_length(uint32_t n_heads, uint32_t n_links);
uint64_t acq_completion_header_checksum(const acq_completion_header *header, const char *name);
uint64_t acq_completion_block_checksum(const void *block, size_t length, acq_rel relation);
uint64_t acq_completion_calibrator_checksum(const void *padded, uint64_t length);
uint64_t acq_completion_directory_checksum(const acq_completion_entry *entries, uint32_t n);

/* NULL, or why the header cannot be used; `length` is that of the file. name is padded. */
const char *acq_completion_check_frame(const acq_completion_header *header, uint64_t length);
const char *acq_completion_check_header(const acq_completion_header *header, const char *name,
                                        uint64_t length);
const char *acq_completion_check_directory(const acq_completion_header *header,
                                           const acq_completion_entry *entries);

#endif
