/* world.h - small made-up worlds with relations of many kinds, for tests of probabilities.
 *
 * A world is a table of types and relations. A relation copies what a path of earlier relations
 * says (somebody lives where the team is based) with a probability that the seed draws, else it is
 * chance: so hidden facts can be guessed in part. Every number of the table varies with the seed.
 * A fact is hidden with the same probability, whatever it says. */
#ifndef ACQ_TESTS_SUPPORT_WORLD_H
#define ACQ_TESTS_SUPPORT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct world_fact {
    uint32_t head, relation, tail;
    bool is_hidden;
} world_fact;

typedef struct world world;

/* name: company, hospital, university, supply, or random: a table that the seed draws. About n_facts facts. NULL: no such name, or out of
 * memory. */
world *world_new(const char *name, size_t n_facts, double hidden_share, uint64_t seed);
void world_free(world *made);

size_t world_count(const world *made);
const world_fact *world_get_fact(const world *made, size_t i);
const char *world_get_relation(const world *made, uint32_t relation);
void world_print_entity(const world *made, uint32_t entity, char *out, size_t size);

/* Tab-separated triples, hidden ones only with `all`. */
void world_write(const world *made, bool all, FILE *out);

#endif
