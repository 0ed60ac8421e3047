/* policy.h - trains the policy network by REINFORCE on generated queries.
 *
 * A batch is `queries` queries with `rollouts` episodes each. An episode starts from a uniform
 * assignment and takes `steps` steps or until it is solved. Reward of a step: how much it improves
 * on the best score so far (+-score_scale for satisfied or not). Loss: minus the mean over steps of
 * log P(step) times the discounted sum of this and later rewards, less the mean of the other
 * rollouts of the same query (baseline). Adam, gradient clipped, averaged weights.
 *
 * Everything random comes from (seed, batch, query, rollout, step), gradients are summed in the
 * order of the queries: a seed fixes the weights at any number of threads. */
#ifndef ACQ_TRAIN_POLICY_H
#define ACQ_TRAIN_POLICY_H

#include "search/policy/model.h"
#include "tensor/optimizer.h"
#include "train/curve.h"
#include "query/sample/sampler.h"

typedef struct acq_train_policy_params {
    uint32_t dim;
    bool uses_pe;
    uint64_t seed; /* the first; n_seeds of them in a row */
    uint32_t n_seeds;
    uint32_t queries, rollouts, steps;
    bool baseline; /* leave-one-out over the rollouts */
    double discount;
    double floor;       /* in log(p + floor) */
    double score_scale; /* 5: a satisfied assignment scores 5, any other -5 */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time alone */
    double seconds;   /* most per seed; 0: no limit. With batches 0 the schedule follows it */
    double hub_share; /* of the queries, once small ones are solved */
    double hub_from;  /* share of solved episodes at which hub-like queries begin */
    acq_hub_params hub;
    double check_share; /* of the queries: the first variable has its value, as in classification */
    uint32_t held_queries, held_steps; /* hub-like queries that choose the seed, with small ones */
    acq_hub_params held_hub;
    unsigned n_threads;
    const char *checkpoint; /* path: .seedN.checkpoint and .seedN.best follow; NULL: none */
    double checkpoint_seconds;
    bool resume;
    void (*progress)(void *context, const acq_curve_point *point);
    bool (*should_stop)(void *context); /* asked between batches; may be NULL */
    void *context;
} acq_train_policy_params;

/* Defaults where they were measured best on two cores; the paper's: d = 128, batches of 4, no
 * baseline, Adam 5e-6 to a tenth over 500,000 batches, small shapes only, no averaging. */
void acq_train_policy_params_init(acq_train_policy_params *params);
void acq_train_policy_params_init_paper(acq_train_policy_params *params);

typedef struct acq_train_policy_result {
    acq_policy *policy; /* averaged weights of the best seed */
    uint64_t seed;
    double held_solved;         /* of the best */
    double *seeds_held;         /* of each seed */
    uint64_t episodes, batches; /* over all seeds */
    double seconds;             /* earlier runs that were resumed included */
    bool stopped; /* by should_stop: checkpoints are written, the policy is the best judged */
    acq_curve curve;
} acq_train_policy_result;

/* graphs: each a training graph of its own; the predictor is the graph itself. */
acq_status acq_train_policy(const acq_graph *const *graphs, size_t n_graphs,
                            const acq_train_policy_params *params, acq_train_policy_result *result,
                            acq_error *error);
/* Takes them away; for when the model has been written. */
void acq_train_policy_remove_checkpoints(const acq_train_policy_params *params);
void acq_train_policy_result_deinit(acq_train_policy_result *result);

/* The options that shape a run as text, for checkpoints and model cards. */
acq_status acq_train_policy_print_options(const acq_train_policy_params *params, char *out,
                                          size_t size);

#endif
