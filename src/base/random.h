/* random.h - counter-based random numbers: value = mix(seed, stream, counter).
 *
 * No state is shared, so a seed fixes a run at any thread count (DESIGN: numbers repeat).
 * The mixer is the finaliser of SplitMix64, applied once per word of the key. */
#ifndef ACQ_BASE_RANDOM_H
#define ACQ_BASE_RANDOM_H

#include <stdint.h>

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

#endif
