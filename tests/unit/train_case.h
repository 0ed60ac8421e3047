/* train_case.h - a graph with its sampler, and beside it a plain table of the facts that says
 * whether a query is true for an answer, whether it is connected, and what it left out. */
#ifndef ACQ_TESTS_UNIT_TRAIN_CASE_H
#define ACQ_TESTS_UNIT_TRAIN_CASE_H

#include "graph/build.h"
#include "query/sample/sampler.h"

enum {
    TRAIN_CASE_MOST_ENTITIES = 800,
    TRAIN_CASE_MOST_PAIRS = 5, /* of a relation and its inverse */
    TRAIN_CASE_MOST_TERMS = 20,
};

typedef struct train_case {
    uint32_t n_entities, n_relations;
    bool *facts; /* [relation pair][head][tail] */
    acq_graph_builder *builder;
    acq_graph *graph;
    acq_sampler *sampler;
} train_case;

void train_case_init(train_case *c, uint32_t n_entities, uint32_t n_pairs);
void train_case_add(train_case *c, acq_ent head, acq_rel relation, acq_ent tail);
void train_case_finish(train_case *c); /* graph and sampler are there from now on */
void train_case_deinit(train_case *c);

/* A random graph of random size: few facts or many, some of an entity to itself. */
void train_case_init_random(train_case *c, uint64_t seed);
/* A random graph of this size, the same at every call. */
void train_case_init_dense(train_case *c, uint32_t n_entities, uint32_t n_pairs, uint32_t n_facts);

bool train_case_has(const train_case *c, acq_ent head, acq_rel relation, acq_ent tail);

/* Fails the test unless the problem is well formed, positive literals are facts under the answer
 * and negated ones are not. */
void train_case_check(const train_case *c, const acq_problem *problem, const acq_ent *answer);

/* Fails the test when two literals are one fact under the answer, in either direction. */
void train_case_check_distinct(const acq_problem *problem, const acq_ent *answer);

/* The terms of a query under its answer: the variables first. */
typedef struct train_terms {
    acq_ent entities[TRAIN_CASE_MOST_TERMS];
    uint32_t n, n_constants;
    bool is_connected; /* the query, by its literals */
} train_terms;

void train_terms_init(train_terms *terms, const acq_problem *problem, const acq_ent *answer);

/* Facts between two different terms of which one is a variable, inverses not counted. */
uint32_t train_terms_count_facts(const train_terms *terms, const train_case *c);

#endif
