/* names.h - a dictionary: string <-> dense id, without a heap block per name.
 *
 *   slots    [ . | hash,id | . | hash,id | ... ]   open addressing, at most half full
 *   entries  [ (start, length) | ... ]             by id; NO_START: the id has no name
 *   pool     "Paris\0Berlin\0..."                  all names, NUL-terminated
 *
 * Names hold no NUL byte. Finding costs O(1) expected plus the comparison of one name. Whoever
 * knows the hash of a name already passes it on: the functions with _hashed. */
#ifndef ACQ_GRAPH_NAMES_H
#define ACQ_GRAPH_NAMES_H

#include "base/hash.h"
#include "base/types.h"

typedef struct acq_name_entry {
    uint64_t start : 48; /* in the pool; all ones: this id has no name */
    uint64_t length : 16;
} acq_name_entry;

typedef struct acq_names {
    char *pool;
    size_t pool_used, pool_capacity;
    acq_name_entry *entries;
    size_t n_ids, ids_capacity;
    uint64_t *slots;
    size_t n_slots; /* 0 or a power of two */
    size_t n_names;
} acq_names;

enum { ACQ_NAME_MOST = 65535 }; /* bytes of one name */

void acq_names_init(acq_names *names); /* never fails */
void acq_names_deinit(acq_names *names);
void acq_names_clear(acq_names *names); /* keeps the memory */

/* ACQ_NO_ID when unknown. */
uint32_t acq_names_find(const acq_names *names, const char *name, size_t length);

/* Gives an unnamed id an unknown name; the caller has checked both. Ids in between stay
 * unnamed. ACQ_ERR_LIMIT when the id is ACQ_NO_ID, ACQ_ERR_INPUT for a NUL byte. */
acq_status acq_names_put(acq_names *names, uint32_t id, const char *name, size_t length);

/* Id of a name; a new name gets the lowest multiple of `step` past all ids. */
acq_status acq_names_add(acq_names *names, const char *name, size_t length, uint32_t step,
                         uint32_t *out);

/* Borrowed, NULL when the id has no name. */
const char *acq_names_get(const acq_names *names, uint32_t id);

/* What the table goes by; equal for equal names. */
static inline uint32_t acq_names_hash(const char *name, size_t length)
{
    return (uint32_t)(acq_hash_bytes(name, length, 0) >> 32);
}

/* As acq_names_add; the caller has seen that there is no NUL byte. */
acq_status acq_names_add_hashed(acq_names *names, const char *name, size_t length, uint32_t hash,
                                uint32_t step, uint32_t *out);

/* Adds every name of `from`, whose ids are dense, in the order of its ids: ids[i] is the id here
 * of its name i, hashes[i] that name's hash. Faster than one by one: memory is fetched ahead. */
acq_status acq_names_add_all(acq_names *names, const acq_names *from, const uint32_t *hashes,
                             uint32_t step, uint32_t *ids);

/* Gives back spare room; harmless when it cannot. */
void acq_names_trim(acq_names *names);

/* What a name adds to the fingerprint of its dictionary: a sum, so that the order of insertion
 * does not matter. */
static inline uint64_t acq_hash_name(uint32_t id, const char *name, size_t length)
{
    return acq_hash_bytes(name, length, (uint64_t)id + 1);
}

/* Sum of acq_hash_name over all names: the same for any order of insertion. O(bytes). */
uint64_t acq_names_sum(const acq_names *names);

#endif
