/* query_random.h - seeded random queries for tests, and equality of queries. */
#ifndef ACQ_TESTS_QUERY_RANDOM_H
#define ACQ_TESTS_QUERY_RANDOM_H

#include "base/hash.h"
#include "query/query.h"

typedef struct query_random_params {
    unsigned most_depth;
    unsigned n_free, n_exists; /* at most this many variables */
    unsigned n_constants, n_relations;
    bool plain_names; /* c0, r0 instead of names full of special characters */
    bool equalities, inverses, limits;
    bool conjunctive; /* only literals below one AND */
} query_random_params;

/* A canonical query, as a parser would make it; NULL when memory is out. */
acq_query *query_random_new(acq_random *random, const query_random_params *params);

/* Same trees, tables and limit; names only when asked for. Places and head names do not count. */
bool query_same(const acq_query *a, const acq_query *b, bool names);

#endif
