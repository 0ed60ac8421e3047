/* episodes.h - runs the rollouts of a few training queries together and adds up the gradient.
 *
 * Forward: all rollouts of all queries of a unit in one batch; a rollout that is solved leaves.
 * The slope of log P(step) by the logits is kept at each step, because classes split afterwards;
 * it is weighted when the returns are known. Backward: the steps in reverse order. */
#ifndef ACQ_TRAIN_EPISODES_H
#define ACQ_TRAIN_EPISODES_H

#include "search/policy/choice.h"
#include "search/policy/network.h"

typedef struct acq_episode_query {
    acq_problem *problem;
    const acq_predictor *predictor;
    uint64_t key; /* of its random numbers */
} acq_episode_query;

typedef struct acq_episode_params {
    uint32_t rollouts, steps;
    bool baseline;
    double discount, floor, score_scale;
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

#endif
