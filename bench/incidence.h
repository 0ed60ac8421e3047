/* incidence.h - which triples of a synthetic graph touch an entity, at either end.
 *
 * A list of triple numbers per entity, end to end: 8 bytes a triple. Questions about a pair scan
 * the shorter of the two lists. */
#ifndef BENCH_INCIDENCE_H
#define BENCH_INCIDENCE_H

#include <stdbool.h>

#include "synthetic.h"

typedef struct incidence {
    const synthetic *graph;
    uint32_t *offsets; /* entity e: triples[offsets[e] .. offsets[e + 1]) */
    uint32_t *triples;
} incidence;

void incidence_init(incidence *index, const synthetic *graph);
void incidence_deinit(incidence *index);

static inline uint32_t incidence_degree(const incidence *index, uint32_t entity)
{
    return index->offsets[entity + 1] - index->offsets[entity];
}

static inline synthetic_triple incidence_get(const incidence *index, uint32_t entity, uint32_t i)
{
    return synthetic_get(index->graph, index->triples[index->offsets[entity] + i]);
}

/* The first triples between two entities, either way; at most `most` are written to out. */
uint32_t incidence_between(const incidence *index, uint32_t a, uint32_t b, synthetic_triple *out,
                           uint32_t most);

bool incidence_has(const incidence *index, synthetic_triple triple);

#endif
