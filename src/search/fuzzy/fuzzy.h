/* fuzzy.h - queries by fuzzy sets: every node of a tree-shaped query gets a set of entities with
 * degrees between 0 and 1, from the constants up to the free variable. One pass scores all
 * candidates, so these engines rank.
 *
 *   QTO   and = x y             or = x + y - x y    not = 1 - min(1, c x)     (Bai et al. 2023)
 *   FIT   and = min(x, y)       or = max(x, y)      not = 1 - min(1, c x)     (Yin et al. 2024)
 *         projection: out[t] = max over h of v[h] link(h, r, t), in both; FIT also with one norm
 *         for everything (acq_t_norm), and on queries with cycles (cycles.c)
 *   networks   QTO's connectives; a projection is one pass of a network
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

/* ---- network ----
 *
 * Projections by a network, as UltraQuery makes them over ULTRA.
 *
 * One projection is one pass for all heads at once: the boundary of entity n is the degree of n
 * times the query's vector, and the sigmoid of the last layer is the degree of each tail. There is
 * no maximum over heads, and observed facts are not set to 1. Degrees below `least` may be left
 * out of the boundary (UltraQuery with plain ULTRA weights: 0.8; with its own: 0). */

typedef struct acq_fuzzy_network acq_fuzzy_network;

/* The model must have score_set (models/model.h) and outlive the network, which is for one thread. */
acq_status acq_fuzzy_network_new(const acq_row_model *model, double least, acq_fuzzy_network **out,
                                 acq_error *error);
void acq_fuzzy_network_free(acq_fuzzy_network *network);

/* For acq_fuzzy_params: project, with the network as context. */
acq_status acq_fuzzy_network_project(acq_fuzzy_run *run, acq_rel relation,
                                     const acq_fuzzy_set *from, acq_fuzzy_set *out,
                                     acq_error *error);

/* ---- cycles ----
 *
 * FIT on any conjunction of literals with one free variable, by the algorithm of its
 * paper (Yin et al. 2024): cycles, parallel atoms, loops, atoms between constants, negated atoms
 * between variables.
 *
 *   constant        its literals change the set of the variable at their other end
 *   leaf            a variable with one neighbour v: set(v) = set(v) and max over x of
 *                   carry(set(leaf)[x], what the literals between them say of x and v)
 *   free variable   with one neighbour: the rest is solved for that one, then carried over
 *   cycle           the variable with the fewest candidates takes every value in turn, and is a
 *                   constant then; of the results the largest counts
 *
 * "And" and "carry" are those of fuzzy.h. With one norm for both, a degree is the best value of
 * that norm over all assignments; with FIT's usual two it lies between the product and the minimum.
 * Values that cannot have a degree (no link to any member of a neighbour's set) are left out first.
 *
 * The values that cycles make it try are bounded before it starts: get_bound. */

typedef struct acq_fuzzy_cycles acq_fuzzy_cycles;

/* Everything that no cycle needs: constants are used, the bound is known. *is_done false: the time
 * was over. ACQ_ERR_INPUT, which says what is in the way, for a query with another number of free
 * variables than one, equalities, or an "or" over several variables. Borrows all but params; rows
 * of a relation are made as a whole. */
acq_status acq_fuzzy_cycles_new(const acq_problem *problem, const acq_predictor *predictor,
                                const acq_fuzzy_params *params, acq_fuzzy_cycles **out,
                                bool *is_done, acq_error *error);
void acq_fuzzy_cycles_free(acq_fuzzy_cycles *cycles); /* NULL is legal */

/* Most assignments of variables on cycles that a run tries; 1: there is no cycle. */
double acq_fuzzy_cycles_get_bound(const acq_fuzzy_cycles *cycles);

acq_status acq_fuzzy_cycles_run(acq_fuzzy_cycles *cycles, bool *is_done, acq_error *error);

/* Of the free variable, after a run that was done. */
const acq_fuzzy_set *acq_fuzzy_cycles_get_root(const acq_fuzzy_cycles *cycles);

/* Values of all variables for the free one's value in values[0], one after the other the best ones:
 * with one norm they give it its degree. Variables that occur nowhere keep what is there. */
acq_status acq_fuzzy_cycles_trace(acq_fuzzy_cycles *cycles, acq_ent *values, bool *is_done,
                                  acq_error *error);

#endif
