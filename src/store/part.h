/* part.h - a part of the links of one direction of a relation, as bytes.
 *
 *   offset 0   "ACQL"                  all numbers little-endian, 32 bits each unless said
 *          4   directed relation
 *          8   part number, from 0
 *         12   n_heads
 *         16   n_links
 *         20   0
 *         24   checksum, 64 bits: of everything else
 *         32   heads[n_heads]          rising
 *              lengths[n_heads]        links of each head, at least 1
 *              tails[n_links]          rising within a head
 *
 * Parts follow each other by head, then tail; a row that is too long for one part goes on in the
 * next, which then begins with the same head. A relation without links has no parts. */
#ifndef ACQ_STORE_PART_H
#define ACQ_STORE_PART_H

#include "base/types.h"

enum {
    ACQ_PART_HEADER = 32,
    ACQ_PART_LINKS = 1 << 18,      /* that we write: a megabyte or three */
    ACQ_PART_MOST_LINKS = 1 << 22, /* that we read */
};

/* A part in the making; zero it once, then begin. */
typedef struct acq_part {
    acq_rel directed;
    uint32_t number;
    uint32_t *heads, *lengths, *tails;
    size_t n_heads, n_links;
    size_t heads_capacity, lengths_capacity, tails_capacity;
    unsigned char *body; /* what acq_part_encode made */
    size_t body_length, body_capacity;
} acq_part;

void acq_part_begin(acq_part *part, acq_rel directed, uint32_t number); /* keeps the memory */
void acq_part_deinit(acq_part *part);

/* Links come in order of head, then tail, each once. The caller starts a new part when this one
 * has ACQ_PART_LINKS. ACQ_ERR_MEMORY. */
acq_status acq_part_add(acq_part *part, acq_ent head, acq_ent tail);

/* The bytes into part->body, and their checksum. ACQ_ERR_MEMORY. */
acq_status acq_part_encode(acq_part *part, uint64_t *checksum);

/* ---- reading ---- */

typedef struct acq_part_header {
    acq_rel directed;
    uint32_t number, n_heads, n_links;
    uint64_t checksum;
} acq_part_header;

/* NULL, or what is wrong with the first bytes of a body of this length. */
const char *acq_part_read_header(const unsigned char bytes[ACQ_PART_HEADER], uint64_t body_length,
                                 acq_part_header *out);

/* Of the header's numbers and the arrays as they are in the body. */
uint64_t acq_part_checksum(const acq_part_header *header, const void *heads, const void *lengths,
                           const void *tails);

/* Between the numbers of a body and those of this machine, in place. */
void acq_part_swap(uint32_t *numbers, size_t n);

#endif
