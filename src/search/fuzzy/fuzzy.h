/* fuzzy.h - queries by fuzzy sets: every node of a tree-shaped query gets a set of entities with
 * degrees between 0 and 1, from the constants up to the free variable. One pass scores all
 * candidates, so these engines rank.
 *
 *   QTO   and = x y             or = x + y - x y    not = 1 - min(1, c x)     (Bai et al. 2023)
 *   FIT   and = min(x, y)       or = max(x, y)      not = 1 - min(1, c x)     (Yin et al. 2024)
 *         projection: out[t] = max over h of v[h] link(h, r, t), in both; FIT also with one norm
 *         for everything (acq_t_norm), and on queries with cycles (cycles.h)
 *   networks   QTO's connectives; a projection is one pass of a network (network.h)
 *
 * c is 1, as the AnyCQ paper's authors ran both; QTO's own repository has 3 and 6. With the maximum
 * over h, QTO's degree of a candidate is the best product over all assignments, and FIT's the best
 * value of its mixed connectives, as long as no negated path branches: the search is exact. */
#ifndef ACQ_SEARCH_FUZZY_FUZZY_H
#define ACQ_SEARCH_FUZZY_FUZZY_H

#include "base/budget.h"
#include "predict/predictor.h"
#include "query/sets.h"

/* Degrees of some entities, sorted; all others have `rest`. */
typedef struct acq_fuzzy_set {
    acq_ent *entities;
    double *degrees;
    uint32_t n;
    double rest;
} acq_fuzzy_set;

double acq_fuzzy_set_get(const acq_fuzzy_set *set, acq_ent entity); /* O(log n) */
acq_status acq_fuzzy_set_init(acq_fuzzy_set *set, uint32_t room); /* n is 0, rest is 0 */
void acq_fuzzy_set_deinit(acq_fuzzy_set *set);

typedef struct acq_fuzzy_run acq_fuzzy_run;
typedef struct acq_fuzzy_params acq_fuzzy_params;

/* Both sets joined by "and" or "or". */
acq_status acq_fuzzy_set_join(const acq_fuzzy_params *params, bool is_and, const acq_fuzzy_set *a,
                              const acq_fuzzy_set *b, acq_fuzzy_set *out);
acq_status acq_fuzzy_set_copy(const acq_fuzzy_set *from, acq_fuzzy_set *out);

/* How a relation leads on: *out gets the degrees of its tails. */
typedef acq_status (*acq_fuzzy_project_fn)(acq_fuzzy_run *run, acq_rel relation,
                                           const acq_fuzzy_set *from, acq_fuzzy_set *out,
                                           acq_error *error);

struct acq_fuzzy_params {
    bool is_minimum;              /* and = min, or = max; else products */
    bool is_minimum_along;        /* a projection: the minimum of degree and link; else product */
    double negation_scale;        /* c above */
    acq_fuzzy_project_fn project; /* NULL: the maximum over the predictor's links */
    void *context;                /* for project */
    int64_t deadline_ns;          /* 0: none */
    acq_stop stop;
};

static inline double acq_fuzzy_join(const acq_fuzzy_params *params, bool is_and, double x, double y)
{
    if (params->is_minimum)
        return is_and ? (x < y ? x : y) : (x > y ? x : y);
    return is_and ? x * y : x + y - x * y;
}

/* A degree carried along a link. */
static inline double acq_fuzzy_carry(const acq_fuzzy_params *params, double degree, double link)
{
    return !params->is_minimum_along ? degree * link : degree < link ? degree : link;
}

static inline double acq_fuzzy_negate(const acq_fuzzy_params *params, double x)
{
    x *= params->negation_scale;
    return x < 1 ? 1 - x : 0;
}

#define ACQ_FUZZY_DEFAULT ((acq_fuzzy_params){.negation_scale = 1.0})

/* The sets of all nodes, kept until it is freed. */
struct acq_fuzzy_run {
    const acq_set_tree *tree;
    const acq_predictor *predictor;
    acq_fuzzy_params params;
    uint32_t n_entities;
    acq_fuzzy_set *sets; /* by node number */
    double *best;        /* scratch of a projection: n_entities zeros */
    acq_ent *touched;
    uint64_t n_rows; /* that were read */
};

/* *is_done false: the time was over, or a stop was wanted, before the root had its set. Deinit also
 * after an error. */
acq_status acq_fuzzy_run_tree(acq_fuzzy_run *run, const acq_set_tree *tree,
                              const acq_predictor *predictor, const acq_fuzzy_params *params,
                              bool *is_done, acq_error *error);
void acq_fuzzy_run_deinit(acq_fuzzy_run *run);

/* Of the free variable. */
const acq_fuzzy_set *acq_fuzzy_run_get_root(const acq_fuzzy_run *run);

/* For an answer: the values of all variables that give it its degree, or, with a network, the
 * members of largest degree. values[0] is set by the caller; others of the tree are filled in. */
void acq_fuzzy_run_trace(const acq_fuzzy_run *run, acq_ent *values);

/* Is the time over? */
bool acq_fuzzy_run_must_end(const acq_fuzzy_run *run);

#endif
