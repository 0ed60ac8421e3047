/* source.h - inside training: graphs with their samplers and predictors, queries drawn from them,
 * and the queries kept aside to compare weights. */
#ifndef ACQ_TRAIN_SOURCE_H
#define ACQ_TRAIN_SOURCE_H

#include "models/complex/model.h"
#include "search/policy/network.h"
#include "search/policy/walk.h"
#include "train/train.h"

/* ---- episodes ----
 *
 * runs the rollouts of a few training queries together and adds up the gradient.
 *
 * Forward: all rollouts of all queries of a unit in one batch; a rollout that is solved leaves.
 * The slope of log P(step) by the logits is kept at each step, because classes split afterwards;
 * it is weighted when the returns are known. Backward: the steps in reverse order.
 *
 * An assignment scores +-score_scale for solved or not, and an episode ends when it is solved. With
 * `rewards` it scores the least of its literals, a literal its link's score by that model less
 * reward_shift, negated ones the opposite; an episode then takes all of its steps. */

typedef struct acq_episode_query {
    acq_problem *problem;
    const acq_predictor *predictor;
    uint64_t key; /* of its random numbers */
} acq_episode_query;

typedef struct acq_episode_params {
    uint32_t rollouts, steps;
    bool baseline;
    double discount, floor, score_scale;
    const acq_complex *rewards; /* NULL: solved or not */
    double reward_shift;
    double weight; /* of one episode in the loss: 1 / episodes of the batch */
} acq_episode_params;

typedef struct acq_episode_counts {
    uint64_t episodes, solved, steps;
    double reward, loss; /* sums */
    double flops;        /* of forward passes */
} acq_episode_counts;

typedef struct acq_episode_room acq_episode_room; /* of one thread; reused */

acq_status acq_episode_room_new(acq_episode_room **out);
void acq_episode_room_free(acq_episode_room *room);

/* Adds to gradient[parameters.n] and to counts. */
acq_status acq_episodes_run(acq_episode_room *room, const acq_policy *policy,
                            const acq_episode_query *queries, size_t n_queries,
                            const acq_episode_params *params, float *gradient,
                            acq_episode_counts *counts, acq_error *error);

typedef struct acq_train_source {
    size_t n_graphs;
    acq_sampler **samplers;
    acq_predictor **predictors; /* the graphs themselves */
    acq_episode_query *held;    /* hub-like ones first, then small ones */
    size_t n_held, n_held_hubs;
    acq_shape_mix mix;
    const acq_ranks *ranks; /* that share the judging; NULL: none */
} acq_train_source;

acq_status acq_train_source_init(acq_train_source *source, const acq_graph *const *graphs,
                                 size_t n_graphs, const acq_train_policy_params *params,
                                 acq_error *error);
void acq_train_source_deinit(acq_train_source *source);

/* The query that `key` stands for; hub NULL: one of the nine small shapes. With a share of
 * check_share its first variable is replaced by the value of a known answer; of several such small
 * queries the one is taken whose constants leave the most assignments, because most are trivial. */
acq_status acq_train_source_draw(const acq_train_source *source, uint64_t key,
                                 const acq_hub_params *hub, double check_share,
                                 acq_episode_query *out, acq_error *error);

typedef struct acq_held_result {
    double solved; /* mean of the shares of hub-like and of small queries */
    double steps;  /* mean over all, an unsolved one counts all of its steps */
} acq_held_result;

/* Keeps no more than so many hub-like queries aside, with their small ones. */
void acq_train_source_shrink(acq_train_source *source, size_t n_hubs);

/* Searches for answers to the queries kept aside: hub-like ones with at most `steps` steps, small
 * ones (whose first variable has its value) with a tenth of them, as the paper searches both. */
acq_status acq_train_source_judge(const acq_train_source *source, const acq_policy *policy,
                                  uint32_t steps, unsigned n_threads, acq_held_result *out,
                                  acq_error *error);

#endif
