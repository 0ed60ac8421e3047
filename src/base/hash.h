/* hash.h - one mixer of 64 bits and what is made of it: random numbers by counter, a hash of bytes. */
#ifndef ACQ_BASE_HASH_H
#define ACQ_BASE_HASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- random numbers ----
 *
 * By counter: value = mix(seed, stream, counter).
 *
 * No state is shared, so a seed fixes a run at any thread count (DESIGN: numbers repeat).
 * The mixer is the finaliser of SplitMix64, applied once per word of the key. */

typedef struct acq_random {
    uint64_t key;
    uint64_t counter;
} acq_random;

static inline uint64_t acq_random_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* An independent sequence for each (seed, stream). */
static inline acq_random acq_random_start(uint64_t seed, uint64_t stream)
{
    return (acq_random){.key = acq_random_mix(acq_random_mix(seed) ^ stream), .counter = 0};
}

static inline uint64_t acq_random_next(acq_random *random)
{
    return acq_random_mix(random->key + 0x9e3779b97f4a7c15ULL * ++random->counter);
}

/* Uniform in [0, n), n > 0, by multiply-shift (bias below n / 2^64). */
static inline uint64_t acq_random_below(acq_random *random, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)acq_random_next(random) * n) >> 64);
}

/* Uniform in [0, 1) with 53 bits. */
static inline double acq_random_unit(acq_random *random)
{
    return (double)(acq_random_next(random) >> 11) * 0x1.0p-53;
}

/* ---- hash ----
 *
 * One 64-bit hash of bytes for dictionaries, fingerprints and checksums. Eight bytes at a time:
 * multiply, fold the high half down; the length and a SplitMix64 finaliser close it. Words are read
 * as little-endian, so a value stored in a file means the same everywhere. Not cryptographic: it
 * tells graphs apart, it does not protect them. */

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

/* The last `left` bytes (below 8) as a word, in pieces of 4, 2 and 1. Without a copy of variable
 * length, which is a call: it took two thirds of the time of a name. */
static inline uint64_t acq_hash_load_rest(const unsigned char *p, size_t left, size_t length)
{
    uint32_t four = 0;
    uint16_t two = 0;
    uint8_t one = 0;
    if (left > 0 && length >= 8)
        return acq_hash_load(p + left - 8) >> (64 - 8 * left);
    if ((left & 4) != 0)
        memcpy(&four, p, sizeof four);
    if ((left & 2) != 0)
        memcpy(&two, p + (left & 4), sizeof two);
    if ((left & 1) != 0)
        memcpy(&one, p + (left & 6), sizeof one);
    return le32toh(four) | (uint64_t)le16toh(two) << 8 * (left & 4) |
           (uint64_t)one << 8 * (left & 6);
}

static inline uint64_t acq_hash_start(uint64_t seed)
{
    return seed ^ 0x51afd7ed558ccd25ULL;
}

/* length is a multiple of 8. */
static inline uint64_t acq_hash_go_on(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < length; i += 8)
        hash = acq_hash_word(hash, acq_hash_load(p + i));
    return hash;
}

/* The last bytes, fewer than 8, of `length` in all. */
static inline uint64_t acq_hash_end(uint64_t hash, const void *bytes, uint64_t length)
{
    hash = acq_hash_word(hash, acq_hash_load_rest(bytes, (size_t)(length % 8), (size_t)length));
    return acq_random_mix(hash ^ length);
}

static inline uint64_t acq_hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    size_t whole = length - length % 8;
    uint64_t hash = acq_hash_go_on(acq_hash_start(seed), bytes, whole);
    return acq_hash_end(hash, (const unsigned char *)bytes + whole, length);
}

#endif
