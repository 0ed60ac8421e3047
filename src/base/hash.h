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

static inline uint64_t acq_hash_load(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

/* The last `left` bytes (below 8) as a word. Without a copy of variable length, which is a call:
 * it took two thirds of the time of a name. */
static inline uint64_t acq_hash_load_rest(const unsigned char *p, size_t left, size_t length)
{
    uint64_t word = 0;
    if (left > 0 && length >= 8)
        return acq_hash_load(p + left - 8) >> (64 - 8 * left);
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

static inline uint64_t acq_hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed ^ 0x51afd7ed558ccd25ULL;
    size_t left = length;
    for (; left >= 8; left -= 8, p += 8)
        hash = acq_hash_word(hash, acq_hash_load(p));
    hash = acq_hash_word(hash, acq_hash_load_rest(p, left, length));
    return acq_random_mix(hash ^ (uint64_t)length);
}

#endif
