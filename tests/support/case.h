/* case.h - a random small problem: scored links as a dense table, a random query tree over it,
 * and the brute force that defines the right answer. Nothing of src/search or src/answer is used,
 * so this is an independent oracle for both. */
#ifndef ACQ_TESTS_SUPPORT_CASE_H
#define ACQ_TESTS_SUPPORT_CASE_H

#include "base/hash.h"
#include "predict/predictor.h"
#include "query/query.h"

enum { CASE_MOST_ENTITIES = 70, CASE_MOST_RELATIONS = 6, CASE_MOST_VARIABLES = 5 };

typedef enum case_feature {
    CASE_CYCLE,
    CASE_IDENTICAL,
    CASE_PARALLEL,
    CASE_LOOP,
    CASE_CONSTANT,
    CASE_SEVERAL_FREE,
    CASE_NEGATION,
    CASE_CLAUSE,
    CASE_INEQUALITY,
    CASE_SCORED,
    CASE_N_FEATURES
} case_feature;

extern const char *const case_feature_names[CASE_N_FEATURES];

typedef struct test_case {
    acq_predictor predictor; /* answers from `table` through real acq_links */
    uint32_t n_entities, n_relations;
    float table[CASE_MOST_RELATIONS][CASE_MOST_ENTITIES][CASE_MOST_ENTITIES];
    acq_links *links[CASE_MOST_RELATIONS];
    acq_query *query; /* bound: constants and relations carry ids */
    acq_scoring scoring;
    bool features[CASE_N_FEATURES];
} test_case;

/* Everything follows from the seed. */
void case_init(test_case *c, uint64_t seed);
void case_deinit(test_case *c);

/* The links that score 1, as the observed graph. */
acq_graph *case_build_graph(const test_case *c);

/* The score of the query under one assignment, from the table and the tree alone. */
double case_score(const test_case *c, const acq_ent *values);

typedef struct case_tuple {
    acq_ent values[CASE_MOST_VARIABLES]; /* of the free variables */
    double score;                        /* best over the others */
} case_tuple;

/* Every tuple of the free variables with its score, by enumeration. Returns how many; *out is
 * malloc'ed. */
size_t case_brute_force(const test_case *c, case_tuple **out);

#endif
