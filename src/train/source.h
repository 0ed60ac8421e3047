/* source.h - inside training: graphs with their samplers and predictors, queries drawn from them,
 * and the queries kept aside to compare weights. */
#ifndef ACQ_TRAIN_SOURCE_H
#define ACQ_TRAIN_SOURCE_H

#include "train/episodes.h"
#include "train/train.h"

typedef struct acq_train_source {
    size_t n_graphs;
    acq_sampler **samplers;
    acq_predictor **predictors; /* the graphs themselves */
    acq_episode_query *held;    /* hub-like ones first, then small ones */
    size_t n_held, n_held_hubs;
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

/* Searches for answers to the queries kept aside: hub-like ones with at most `steps` steps, small
 * ones (whose first variable has its value) with a tenth of them, as the paper searches both. */
acq_status acq_train_source_judge(const acq_train_source *source, const acq_policy *policy,
                                  uint32_t steps, unsigned n_threads, acq_held_result *out,
                                  acq_error *error);

#endif
