/* plan.h - one planted query in the making: terms, which are entities, and atoms between them. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "incidence.h"

#include "base/hash.h"

enum {
    PLAN_LEAST_TERMS = 12,
    PLAN_MOST_TERMS = 20,
    PLAN_MOST_ATOMS = 96,
};

typedef struct plan_atom {
    uint32_t head, relation, tail; /* head and tail: terms */
    bool is_negated;
} plan_atom;

typedef struct plan {
    uint32_t entities[PLAN_MOST_TERMS]; /* what each term stands for */
    bool is_constant[PLAN_MOST_TERMS];
    bool is_free[PLAN_MOST_TERMS];
    uint32_t n_terms;
    plan_atom atoms[PLAN_MOST_ATOMS];
    uint32_t n_atoms;
} plan;

/* A query that its own entities answer; false: this walk gave none, try another. */
bool plan_make(plan *p, const incidence *index, acq_random *random);

/* Denies one or two links that are not there; the planted answer stays one. */
void plan_deny(plan *p, const incidence *index, acq_random *random);

/* Changes one atom so that the query has no answer, and that is certain; false: not possible. */
bool plan_break(plan *p, const incidence *index, acq_random *random);

#endif
