/* complex_case.c - see complex_case.h. */
#include "unit/complex_case.h"

#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

acq_graph *complex_case_build(uint32_t n_entities, uint32_t n_names, const acq_triple *facts,
                              size_t n_facts)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    uint32_t id;
    char name[16];
    assert_non_null(builder);
    for (uint32_t i = 0; i < n_entities; i++) {
        int length = snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, (size_t)length, &id), ACQ_OK);
    }
    for (uint32_t i = 0; i < n_names; i++) {
        int length = snprintf(name, sizeof name, "r%u", i);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, (size_t)length, &id),
                         ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_add_facts(builder, facts, n_facts), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

acq_graph *complex_case_ring(uint32_t n)
{
    acq_triple *facts = calloc(2 * (size_t)n, sizeof *facts);
    assert_non_null(facts);
    for (uint32_t i = 0; i < n; i++) {
        facts[2 * i] = (acq_triple){i, 0, (i + 1) % n};
        facts[2 * i + 1] = (acq_triple){i, 2, (i + 2) % n};
    }
    acq_graph *graph = complex_case_build(n + 2, 2, facts, 2 * (size_t)n);
    free(facts);
    return graph;
}

static double complex get(const float *vector, uint32_t rank, uint32_t i)
{
    return (double)vector[i] + (double)vector[rank + i] * I;
}

double complex_case_score(const float *head, const float *relation, const float *tail,
                          uint32_t rank, bool is_inverse)
{
    double complex sum = 0;
    for (uint32_t i = 0; i < rank; i++) {
        double complex r = get(relation, rank, i);
        sum += get(head, rank, i) * (is_inverse ? conj(r) : r) * conj(get(tail, rank, i));
    }
    return creal(sum);
}
