/* policy_run.h - the policy search on a list of queries: traced, repeated, summed up.
 *
 * A run fixes its random numbers by the number of the query, so repeated runs must take the same
 * steps to the same score with the same classes; the benchmark ends when they do not. */
#ifndef BENCH_POLICY_RUN_H
#define BENCH_POLICY_RUN_H

#include <jansson.h>

#include "engine/engine.h"
#include "eval/eval.h"
#include "search/policy/model.h"

enum { POLICY_STEPS = 200, POLICY_MARKS = 5 };

/* Steps whose classes are reported, the last one being POLICY_STEPS. */
extern const uint64_t policy_marks[POLICY_MARKS];

/* A query with names, whose answers the engine verifies, or one that was drawn from a graph. */
typedef struct policy_case {
    acq_query *query;     /* bound; NULL: drawn, then */
    acq_problem *problem; /* is what is searched */
    uint64_t stream;      /* its number */
} policy_case;

typedef struct policy_outcome {
    bool answered;
    double score;
    double ms;       /* normal form, search, verification */
    double cpu_ms;   /* the same in processor time, which other work does not lengthen */
    double setup_ms; /* of these: board, first classes, first assignment */
    uint64_t steps;
    double flops;
    uint32_t classes[POLICY_MARKS]; /* that the step ran on; 0: it was not reached */
    uint64_t last_classes;
    size_t memory; /* bytes */
} policy_outcome;

typedef struct policy_setting {
    const acq_predictor *predictor;
    const acq_policy *policy;
    bool all_steps; /* no early stop */
} policy_setting;

/* values, if not NULL, gets the best assignment of a drawn query that was answered. */
policy_outcome policy_search(const policy_case *one, const policy_setting *how, acq_ent *values);

typedef struct policy_tally {
    size_t n, n_answered;
    size_t n_at_once; /* ended before the first step, without an answer */
    acq_times ms;     /* over the queries, each the median of its runs */
    double cpu_ms;    /* mean, like all below */
    double setup_ms;
    double step_ms; /* without set-up; over all steps of all queries */
    double steps;
    double last_classes;
    double classes[POLICY_MARKS]; /* over the queries that reached the step; NAN: none */
    double gflop;
    double gflops; /* during steps, by processor time */
    double memory_mb;
} policy_tally;

/* n at least 1; `cases` points to the ones taken. */
policy_tally policy_measure(const policy_case *const *cases, size_t n, const policy_setting *how);

json_t *policy_pack_tally(const policy_tally *tally);

#endif
