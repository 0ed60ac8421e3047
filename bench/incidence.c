/* incidence.c - see incidence.h. */
#include "incidence.h"

#include "common.h"

#include "base/memory.h"

void incidence_init(incidence *index, const synthetic *graph)
{
    index->graph = graph;
    index->offsets = acq_zalloc((size_t)graph->n_entities + 2, sizeof *index->offsets);
    index->triples = acq_alloc(graph->n_triples, 2 * sizeof *index->triples);
    if (index->offsets == NULL || index->triples == NULL)
        bench_die("out of memory");
    uint32_t *next = index->offsets + 1; /* while filling: where the next one of e goes */
    for (uint32_t i = 0; i < graph->n_triples; i++) {
        synthetic_triple t = synthetic_get(graph, i);
        next[t.head + 1]++;
        next[t.tail + 1]++;
    }
    for (uint32_t e = 0; e < graph->n_entities; e++)
        next[e + 1] += next[e];
    for (uint32_t i = 0; i < graph->n_triples; i++) {
        synthetic_triple t = synthetic_get(graph, i);
        index->triples[next[t.head]++] = i;
        index->triples[next[t.tail]++] = i;
    }
}

void incidence_deinit(incidence *index)
{
    acq_free(index->offsets);
    acq_free(index->triples);
}

static uint32_t less_linked(const incidence *index, uint32_t a, uint32_t b)
{
    return incidence_degree(index, a) <= incidence_degree(index, b) ? a : b;
}

uint32_t incidence_between(const incidence *index, uint32_t a, uint32_t b, synthetic_triple *out,
                           uint32_t most)
{
    uint32_t from = less_linked(index, a, b), other = from == a ? b : a, n = 0;
    for (uint32_t i = 0; i < incidence_degree(index, from) && n < most; i++) {
        synthetic_triple t = incidence_get(index, from, i);
        if (t.head == other || t.tail == other)
            out[n++] = t;
    }
    return n;
}

bool incidence_has(const incidence *index, synthetic_triple triple)
{
    uint32_t from = less_linked(index, triple.head, triple.tail);
    for (uint32_t i = 0; i < incidence_degree(index, from); i++) {
        synthetic_triple t = incidence_get(index, from, i);
        if (t.head == triple.head && t.relation == triple.relation && t.tail == triple.tail)
            return true;
    }
    return false;
}
