/* seed_run.h - inside training: what all seeds share, the state of one seed, and its files.
 *
 *   CHECKPOINT.seedN.checkpoint   where the run is (checkpoint.h)
 *   CHECKPOINT.seedN.best         the best weights judged so far, how good they are, and how often
 *                                 weights were judged */
#ifndef ACQ_TRAIN_SEED_RUN_H
#define ACQ_TRAIN_SEED_RUN_H

#include <pthread.h>

#include "train/policy.h"
#include "train/source.h"

enum { ACQ_SEED_OPTIONS_LENGTH = 1024 };

/* Queries that one thread works on together. */
typedef struct acq_seed_unit {
    size_t first, n; /* queries */
} acq_seed_unit;

/* What all seeds share. */
typedef struct acq_school {
    const acq_train_policy_params *params;
    acq_train_source source;
    acq_train_policy_result *result;
    pthread_mutex_t lock;                    /* of result->curve, progress and should_stop */
    unsigned side_by_side, threads_per_seed; /* seeds; threads of each */
    char options[ACQ_SEED_OPTIONS_LENGTH];
} acq_school;

typedef struct acq_seed_run {
    acq_school *school;
    uint64_t seed;
    acq_policy *policy;  /* being trained */
    acq_policy *average; /* packed to be judged */
    acq_policy *best;
    acq_held_result best_held;
    unsigned n_judged;
    acq_optimizer optimizer;
    acq_episode_room **rooms; /* of the threads */
    acq_episode_query *queries;
    acq_seed_unit *units;
    size_t n_units;
    size_t n_small;             /* units of small queries */
    float *gradients;           /* [units x parameters] */
    acq_episode_counts *counts; /* of the units */
    uint64_t batch, episodes;
    double solved;         /* running share */
    double seconds_loaded; /* of earlier runs */
    int64_t began, last_point, last_checkpoint;
    acq_episode_counts since; /* the last point: all */
    acq_episode_counts hub_since;
    double norm;
    bool stopped;
    acq_error error;
} acq_seed_run;

double acq_seed_get_seconds(const acq_seed_run *run); /* of earlier runs too */
bool acq_seed_is_over(const acq_seed_run *run);

/* Both do nothing where no files were asked for. Errors are the run's. */
acq_status acq_seed_write_checkpoint(acq_seed_run *run);
acq_status acq_seed_write_best(acq_seed_run *run);

/* With params->resume: goes on from the files, if there is a checkpoint. Else the best weights of
 * an earlier run are taken away, so that they are not mistaken for this one's. */
acq_status acq_seed_load(acq_seed_run *run);

#endif
