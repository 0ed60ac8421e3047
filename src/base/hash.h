/* hash.h - one 64-bit hash of bytes for dictionaries, fingerprints and checksums.
 *
 * Eight bytes at a time: multiply, fold the high half down; the length and a SplitMix64
 * finaliser close it. Words are read as little-endian, so a value stored in a file means
 * the same everywhere. Not cryptographic: it tells graphs apart, it does not protect them. */
#ifndef ACQ_BASE_HASH_H
#define ACQ_BASE_HASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"

static inline uint64_t acq_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    return hash ^ (hash >> 29);
}

static inline uint64_t acq_hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed ^ 0x51afd7ed558ccd25ULL;
    uint64_t word;
    size_t left = length;
    for (; left >= 8; left -= 8, p += 8) {
        memcpy(&word, p, 8);
        hash = acq_hash_word(hash, le64toh(word));
    }
    word = 0;
    if (left > 0)
        memcpy(&word, p, left);
    hash = acq_hash_word(hash, le64toh(word));
    return acq_random_mix(hash ^ (uint64_t)length);
}

#endif
