/* synthetic.h - a synthetic knowledge graph of any size: triples drawn one by one from a seed.
 *
 * Degrees are skewed as in real graphs. A rank comes from a power law in octaves: first an octave
 * [2^j, 2^(j+1)) with weight ratio^j, then a place in it; ratio 1 is Zipf's law, 2 is uniform.
 * Only integers and products of doubles are involved, so that a seed gives the same graph on
 * every machine.
 *
 *   entities  in neighbourhoods of 24, each of one of 16 classes, by Zipf's law
 *   head      a mild power law, after each entity has been a head once
 *   relation  Zipf; each class of heads has relations of its own
 *   tail      a third: of the head's neighbourhood, so that there are cycles; else Zipf over the
 *             entities in one of 16 orders, so that relations have hubs that some of them share
 *
 * All triples are distinct and none links an entity to itself. Memory: 16 bytes a triple, so
 * that 20 million of them take about 320 MB. */
#ifndef BENCH_SYNTHETIC_H
#define BENCH_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

enum {
    SYNTHETIC_MOST_ENTITIES = 1 << 26,
    SYNTHETIC_MOST_RELATIONS = 1 << 12,
    SYNTHETIC_NAME_BYTES = 40,
};

typedef struct synthetic_triple {
    uint32_t head, relation, tail;
} synthetic_triple;

typedef struct synthetic {
    uint32_t n_entities, n_relations;
    uint32_t n_triples;
    uint64_t seed;
    uint64_t *packed; /* head, relation, tail: 26, 12 and 26 bits */
} synthetic;

/* Draws all triples; ends the program when that cannot be done. */
void synthetic_init(synthetic *graph);
void synthetic_deinit(synthetic *graph);

synthetic_triple synthetic_get(const synthetic *graph, uint32_t i);

/* A relation as likely as in the graph's triples. `random` is any random word. */
uint32_t synthetic_draw_relation(const synthetic *graph, uint64_t random);

/* Names, NUL-terminated, without tabs, quotes or backslashes. They return the length. Entities
 * have about 9 to 30 bytes, some beyond ASCII; relations are words of the query language. */
size_t synthetic_name_entity(const synthetic *graph, uint32_t entity,
                             char out[SYNTHETIC_NAME_BYTES]);
size_t synthetic_name_relation(const synthetic *graph, uint32_t relation,
                               char out[SYNTHETIC_NAME_BYTES]);

#endif
