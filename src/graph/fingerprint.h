/* fingerprint.h - what tells graphs apart: sums of hashes, so that the order of insertion does
 * not matter and a store can keep them up to date one name or fact at a time. */
#ifndef ACQ_GRAPH_FINGERPRINT_H
#define ACQ_GRAPH_FINGERPRINT_H

#include "base/hash.h"
#include "graph/links.h"

typedef struct acq_graph_sums {
    uint64_t n_entities; /* ids in use, named or not */
    uint64_t entities;   /* sum of acq_hash_name over the keys */
    uint64_t n_relations;
    uint64_t relations;
    uint64_t facts; /* sum of acq_hash_fact over the facts of even relations */
} acq_graph_sums;

static inline uint64_t acq_hash_name(uint32_t id, const char *name, size_t length)
{
    return acq_hash_bytes(name, length, (uint64_t)id + 1);
}

static inline uint64_t acq_hash_fact(acq_rel relation, acq_ent head, acq_ent tail)
{
    uint64_t seed = acq_hash_word((uint64_t)relation + 1, head);
    return acq_random_mix(acq_hash_word(seed, tail));
}

static inline uint64_t acq_sums_hash_dictionary(const acq_graph_sums *sums)
{
    return acq_random_mix(acq_hash_word(acq_random_mix(sums->n_entities + sums->entities),
                                        acq_random_mix(sums->n_relations + sums->relations)));
}

static inline uint64_t acq_sums_hash_graph(const acq_graph_sums *sums)
{
    return acq_random_mix(acq_hash_word(acq_sums_hash_dictionary(sums), sums->facts));
}

#endif
