/* world_spec.h - the table that a made-up world (world.h) is made by, and tables drawn by a seed.
 */
#ifndef ACQ_TESTS_SUPPORT_WORLD_SPEC_H
#define ACQ_TESTS_SUPPORT_WORLD_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_TYPES = 12, MOST_RELATIONS = 24, MOST_STEPS = 3 };

typedef enum kind {
    ONE,      /* at most one tail */
    MANY,     /* some tails */
    PARENT,   /* one tail of the same type, made earlier: a hierarchy */
    SYMMETRIC /* both directions */
} kind;

typedef struct type_spec {
    const char *name;
    double share; /* of the entities; below 0: a fixed number */
} type_spec;

typedef struct relation_spec {
    const char *name;
    kind kind;
    const char *from, *to;
    double cover;     /* of the heads that have tails */
    double mean;      /* tails of these */
    double copy;      /* probability of a tail by the path */
    const char *path; /* relations with blanks between, ~: backwards; NULL: chance alone */
    double group;     /* before that: probability of a tail that the head's group favours */
} relation_spec;

typedef struct world_spec {
    const char *name;
    type_spec types[MOST_TYPES];
    relation_spec relations[MOST_RELATIONS];
} world_spec;

/* A table that nobody wrote: types, kinds of relations, paths and probabilities by chance. */
typedef struct random_spec random_spec;
random_spec *random_spec_new(uint64_t seed); /* freed with free; NULL: out of memory */
const world_spec *random_spec_get(const random_spec *drawn);

#endif
