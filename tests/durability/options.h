/* options.h - how long a test of durability runs: PROGRAM [COMMAND] [ROUNDS [SEED]]. */
#ifndef TEST_DURABILITY_OPTIONS_H
#define TEST_DURABILITY_OPTIONS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct test_options {
    uint64_t rounds;
    uint64_t seed;
} test_options;

static inline test_options test_options_read(int argc, char **argv, uint64_t rounds)
{
    test_options options = {.rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : rounds,
                            .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    printf("%s: %llu rounds, seed %llu\n", argv[0], (unsigned long long)options.rounds,
           (unsigned long long)options.seed);
    return options;
}

#endif
