/* store_seal.h - makes the checksums of a tampered store right again, so that a test can reach the
 * checks behind them; and SQL functions to craft rows with. */
#ifndef TEST_STORE_SEAL_H
#define TEST_STORE_SEAL_H

#include "store/catalog.h"

/* part(directed, number, heads, lengths, tails): a body with its checksum, lists as '1,2,3';
 * entity_checksum(id, key, label). */
void seal_add_functions(sqlite3 *db);

typedef enum seal_depth {
    SEAL_ROWS,    /* checksums of relation and meta */
    SEAL_PARTS,   /* and the sums of parts */
    SEAL_CHANGES, /* and the numbers and sums of changes */
} seal_depth;

void seal(const acq_db *db, seal_depth depth);

#endif
