/* format.h - the tables of a store and what protects their rows; docs/formats.md shows them.
 *
 *   meta      counts, sums and sources; `checksum` over all its other rows
 *   entity    id, key, label; a checksum in each row
 *   relation  one row per pair of ids: names, how many links and parts, sums of the parts and of
 *             the changes; a checksum in each row, the sum of them in meta
 *   links     id = directed relation << 24 | part; bodies as below
 *   change    facts added and removed since the links were written
 *   graph     format 4: the named graphs that facts stand in; a checksum in each row, the sum of
 *             them in meta
 *
 * Everything but the entities hangs on meta.checksum, so a row that is missing, altered or older
 * than the rest is noticed. Numbers of 64 bits are stored as SQLite's signed ones. */
#ifndef ACQ_STORE_FORMAT_H
#define ACQ_STORE_FORMAT_H

#include "base/types.h"
#include "graph/stored.h"
#include "store/database.h"
#include "store/store.h"

enum { ACQ_STORE_PAGE = 16384, ACQ_STORE_PART_BITS = 24 };

/* Where a part is kept in `links`. */
static inline int64_t acq_part_id(acq_rel directed, uint32_t part)
{
    return (int64_t)((uint64_t)directed << ACQ_STORE_PART_BITS | part);
}

/* The tables and marks of an empty store of the newest format, without indexes: they are made
 * last where many rows come first. */
acq_status acq_format_create_tables(const acq_db *db, acq_error *error);
acq_status acq_format_create_indexes(const acq_db *db, acq_error *error);

/* The table of graphs, with which a store has format 4. */
acq_status acq_format_add_graphs(const acq_db *db, acq_error *error);

/* Is this a store that we can read? *format is 1 to 4. The schema is compared letter by letter,
 * so that every later statement means what it says. */
acq_status acq_format_check(const acq_db *db, uint32_t *format, acq_error *error);

/* From an older format to the newest, inside the caller's transaction; meta is the caller's to
 * write. */
acq_status acq_format_upgrade(const acq_db *db, uint32_t format, acq_error *error);

/* ---- meta ---- */

typedef struct acq_store_meta {
    uint64_t n_entities;
    uint64_t entity_sum;    /* of acq_hash_name over the keys */
    uint64_t n_relations;   /* ids, both directions: even */
    uint64_t n_facts;       /* with the changes */
    uint64_t fact_sum;      /* of acq_hash_fact over them, even relations */
    uint64_t n_changes;     /* rows of `change` */
    uint64_t n_labels;      /* of entities */
    uint64_t relation_rows; /* sum of the checksums of the rows of `relation` */
    uint64_t imported;      /* acq_meta_hash of what the import wrote */
    uint64_t salt;          /* of the checksums of entities; 0: none, as before format 3 */
    uint64_t graph_rows;    /* sum of the checksums of the rows of `graph` */
    bool is_rdf;
    char sources[sizeof((acq_store_info *)0)->sources];
} acq_store_meta;

acq_status acq_meta_read(const acq_db *db, acq_store_meta *out, acq_error *error);
acq_status acq_meta_write(const acq_db *db, const acq_store_meta *meta, acq_error *error);

/* What tells one content from another: the counts and sums of names and facts. */
uint64_t acq_meta_hash(const acq_store_meta *meta);

/* Is the content another than the import's? */
static inline bool acq_meta_is_changed(const acq_store_meta *meta)
{
    return meta->imported != acq_meta_hash(meta);
}

/* Cuts at the end of a character when the text is too long. */
void acq_meta_set_sources(acq_store_meta *meta, const char *sources);

/* ---- changes ---- */

static inline uint64_t acq_change_hash(acq_rel relation, acq_ent head, acq_ent tail, bool is_added)
{
    return acq_hash_word(acq_hash_fact(relation, head, tail), is_added ? 1 : 2);
}

/* ---- part ----
 *
 * A part of the links of one direction of a relation, as bytes.
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

/* ---- graphs ----
 *
 * A row of `graph` holds facts of one named graph: id is graph << 24 | part, both from 0; body has
 * relation, head and tail of each, 32 bits little-endian, rising over the parts of the graph. */

enum { ACQ_GRAPH_PART_FACTS = 1 << 18 };

uint64_t acq_graph_row_checksum(int64_t id, const char *name, size_t length, const void *body,
                                size_t body_length);

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
