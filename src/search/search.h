/* search.h - what every search takes and gives. Searches never include each other. */
#ifndef ACQ_SEARCH_SEARCH_H
#define ACQ_SEARCH_SEARCH_H

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "predict/predictor.h"
#include "query/problem.h"

struct acq_policy;   /* search/policy/model.h */
struct acq_sql_base; /* search/sql/sql.h */

/* What only the policy search reads. */
typedef struct acq_policy_options {
    const struct acq_policy *policy; /* weights; the policy search needs them */
    uint64_t restart;                /* start anew after so many steps; 0: never */
    bool closed_world_pe;            /* PE labels from the observed graph, not the predictor */
    bool all_steps;                  /* never stop early, to measure what steps cost */
    acq_trace_fn trace;              /* told of every step; NULL: none */
    void *context;
} acq_policy_options;

/* How the engine fit joins degrees: the minimum within a variable and the product along a link, or
 * one of them for both. */
typedef enum acq_t_norm {
    ACQ_NORM_MIXED,
    ACQ_NORM_PRODUCT,
    ACQ_NORM_MINIMUM,
    ACQ_N_NORMS
} acq_t_norm;

typedef struct acq_search_params {
    acq_scoring scoring;
    uint64_t limit;      /* K best distinct tuples of the free variables; 0: all of them */
    double seconds;      /* <= 0: no deadline */
    acq_stop stop;       /* a search that it ends gives what it has found */
    size_t memory_bytes; /* 0: no limit */
    uint64_t steps;      /* most assignments tried; 0: 10,000 (policy: 200) */
    uint64_t work;       /* exact: most units of work (base/budget.h); 0: any */
    uint64_t seed;
    uint64_t stream; /* number of the query: makes its random numbers its own */
    acq_policy_options policy;
    struct acq_sql_base *sql; /* sql: the facts in tables; NULL: made for this question, */
    const char *sql_library;  /* in DuckDB, whose library this is; NULL: in SQLite */
    double negation_scale;    /* qto, fit: not x is 1 - min(1, this x); 0: 1 */
    acq_t_norm t_norm;        /* fit */
    double input_threshold;   /* gnnqe, ultraquery: lesser degrees do not enter a projection */
} acq_search_params;

#define ACQ_SEARCH_DEFAULT                                                                         \
    ((acq_search_params){.scoring = ACQ_SCORING_DEFAULT, .limit = 1, .seconds = 60.0, .seed = 1})

typedef enum acq_outcome {
    ACQ_ANSWERED,
    ACQ_NONE,      /* proved: nothing reaches the threshold */
    ACQ_UNDECIDED, /* the budget ran out first */
} acq_outcome;

typedef struct acq_assignment {
    double score;
    acq_ent *values; /* n_variables of the problem; fixed variables hold ACQ_NO_ID */
} acq_assignment;

/* What a search has done; zero where it does not count that. */
typedef struct acq_search_effort {
    uint64_t nodes;     /* values tried in branching, or steps */
    uint64_t revisions; /* domain revisions */
    size_t memory_peak; /* bytes */
    double flops;       /* of networks */
    uint64_t classes;   /* of values at the end, all terms together: policy */
} acq_search_effort;

typedef struct acq_search_result {
    acq_arena arena; /* owns answers */
    acq_outcome outcome;
    bool complete;           /* the answers are proved to be the K best, or all */
    acq_spent spent;         /* what ran out when not complete */
    acq_assignment *answers; /* best first, then by values; distinct on the free variables */
    size_t n_answers;
    acq_search_effort effort;
    const char *note; /* a sentence that the user should see, in the arena; NULL: none */
} acq_search_result;

void acq_search_result_deinit(acq_search_result *result);

/* A search fills *result (initialised by it, deinit by the caller, also after an error). */
typedef acq_status (*acq_search_fn)(const acq_problem *problem, const acq_predictor *predictor,
                                    const acq_search_params *params, acq_search_result *result,
                                    acq_error *error);

acq_status acq_search_exact(const acq_problem *problem, const acq_predictor *predictor,
                            const acq_search_params *params, acq_search_result *result,
                            acq_error *error);
acq_status acq_search_random(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error);
acq_status acq_search_climb(const acq_problem *problem, const acq_predictor *predictor,
                            const acq_search_params *params, acq_search_result *result,
                            acq_error *error);
/* One SELECT over the facts of a 0/1 predictor. */
acq_status acq_search_sql(const acq_problem *problem, const acq_predictor *predictor,
                          const acq_search_params *params, acq_search_result *result,
                          acq_error *error);
/* The AnyCQ network; params->policy.policy holds the weights. */
acq_status acq_search_policy(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error);

/* The same for n problems over one predictor, their rows in shared products. Problem i has the
 * stream params->stream + i; results are those of n single searches, bit for bit. */
acq_status acq_search_policy_batch(const acq_problem *const *problems, size_t n,
                                   const acq_predictor *predictor, const acq_search_params *params,
                                   acq_search_result *results, acq_error *error);

/* ---- collect ----
 *
 * The K best distinct answers seen so far.
 *
 * Bounded: a heap with the worst kept answer on top, so a better one replaces it in O(log K).
 * Unbounded (limit 0): a growing list. Finishing sorts best first, then by values. */

typedef struct acq_collector {
    acq_search_result *result;
    uint32_t n_variables;
    uint64_t limit; /* 0: none */
    size_t capacity;
    acq_assignment *answers; /* heap memory until finish */
} acq_collector;

void acq_collector_init(acq_collector *collector, acq_search_result *result, uint32_t n_variables,
                        uint64_t limit);
void acq_collector_deinit(acq_collector *collector);

/* Copies the answer if it is among the K best; the caller offers each tuple once. */
acq_status acq_collector_offer(acq_collector *collector, const acq_ent *values, double score);

/* The least score a new answer needs to be kept: `floor` until K answers are there, then more
 * than the worst of them. Above 1: nothing can be added. */
double acq_collector_get_bar(const acq_collector *collector, double floor);

/* Moves the answers to the result, sorted. */
acq_status acq_collector_finish(acq_collector *collector);

/* ---- guess ----
 *
 * What the incomplete searches share: a current assignment, the best one so far, and
 * the way they end. They answer or stay undecided; only a score at
 * the bound is known to be the best. */

enum { ACQ_GUESS_STEPS = 10000 }; /* when the caller gives none */

typedef struct acq_guess {
    const acq_problem *problem;
    const acq_predictor *predictor;
    const acq_search_params *params;
    acq_search_result *result;
    acq_budget budget;
    acq_random random;
    uint64_t steps_left;
    size_t n_literals; /* of the problem, those in clauses too: the work of one step */
    acq_ent *values;   /* the current assignment */
    acq_ent *best;     /* the best one so far */
    double score, best_score;
    double bound; /* no assignment scores more: 1 until something better is known */
} acq_guess;

/* Initialises *result too. Memory comes from the result's arena. */
acq_status acq_guess_init(acq_guess *guess, const acq_problem *problem,
                          const acq_predictor *predictor, const acq_search_params *params,
                          acq_search_result *result, acq_error *error);

/* A new assignment, every variable uniform over all entities. */
void acq_guess_draw(acq_guess *guess);

/* Scores the current assignment and keeps it if it is the best. Counts one step; false: stop. */
bool acq_guess_step(acq_guess *guess);

/* Fills the result from the best assignment. */
acq_status acq_guess_finish(acq_guess *guess, acq_error *error);

#endif
