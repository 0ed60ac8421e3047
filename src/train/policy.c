/* policy.c - the training of the policy network; see train.h.
 *
 * Seeds are trained side by side, one thread each while there are threads; what is left of the
 * threads works inside a seed, on units of a batch: small queries a few at a time, hub-like ones
 * alone. Each unit has its own gradient; they are added up in order.
 *
 * From three fifths of the schedule on the averaged weights are judged a few times on the queries
 * kept aside, and the best are kept, in the checkpoint too: weights a few hundred batches apart
 * differ by more than most options do. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/threads.h"
#include "train/options.h"
#include "train/source.h"
#include "train/trainer.h"

enum { UNIT_QUERIES = 4, N_JUDGED = 5 };

static const double JUDGED_FROM = .6;
static const double SOLVED_KEEP = .98; /* of the running share of solved episodes, per batch */
static const double POINT_SECONDS = 2; /* between points of the curve */

void acq_train_policy_params_init(acq_train_policy_params *params)
{
    *params = (acq_train_policy_params){
        .dim = 32,
        .uses_pe = true,
        .seed = 1,
        .n_seeds = 2,
        .queries = 16,
        .rollouts = 4,
        .steps = 20,
        .baseline = true,
        .discount = .85,
        .floor = 1e-5,
        .score_scale = 5,
        .reward_shift = 5,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 4000,
        .hub_share = .5,
        .hub_from = .8,
        .hub = ACQ_HUB_DEFAULT,
        .check_share = .4,
        .held_queries = 200,
        .held_steps = 200,
        .held_hub = ACQ_HUB_DEFAULT,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 7e-4;
    params->optimizer.last_rate = 7e-5;
    params->optimizer.average = .99;
    params->hub.most_atoms = 40;
    params->held_hub.most_atoms = 50;
    params->held_hub.least_terms = 12;
    params->held_hub.most_terms = 18;
}

void acq_train_policy_params_init_paper(acq_train_policy_params *params)
{
    acq_train_policy_params_init(params);
    params->dim = 128;
    params->steps = 15;
    params->discount = .75;
    params->n_seeds = 1;
    params->queries = 4;
    params->rollouts = 1;
    params->baseline = false;
    params->optimizer.rate = 5e-6;
    params->optimizer.last_rate = 5e-7;
    params->optimizer.average = 0;
    params->batches = 500000;
    params->hub_share = 0;
    params->check_share = 0;
    params->mix = ACQ_MIX_BETAE;
}

void acq_train_policy_params_init_paper_nell(acq_train_policy_params *params)
{
    acq_train_policy_params_init_paper(params);
    params->steps = 12;
    params->queries = 1;
    params->batches = 200000;
    params->reward_shift = 4;
}

/* Queries that one thread works on together. */
typedef struct seed_unit {
    size_t first, n; /* queries */
} seed_unit;

/* What all seeds share. */
typedef struct school {
    const acq_train_policy_params *params;
    acq_train_source source;
    acq_train_policy_result *result;
    pthread_mutex_t lock;                    /* of result->curve, progress and should_stop */
    unsigned side_by_side, threads_per_seed; /* seeds; threads of each */
    double seconds, kept;                    /* of each seed; of these, not for training */
    const char *identity;
} school;

typedef struct seed_run {
    school *school;
    uint64_t seed;
    acq_trainer trainer;
    acq_policy *policy;  /* being trained */
    acq_policy *average; /* packed to be judged */
    acq_policy *best;
    double best_solved, best_steps, n_judged;
    acq_optimizer optimizer;
    acq_episode_room **rooms; /* of the threads */
    acq_episode_query *queries;
    seed_unit *units;
    size_t n_units;
    size_t n_small;             /* units of small queries */
    float *gradients;           /* [units x parameters] */
    acq_episode_counts *counts; /* of the units */
    double episodes;
    double solved; /* running share */
    int64_t last_point;
    acq_episode_counts since; /* the last point: all */
    acq_episode_counts hub_since;
    uint64_t batches_since;
    char *checkpoint; /* path; NULL: none */
    bool stopped;
    acq_error error;
} seed_run;

/* Queries of a batch: the small ones first, so that units are alike. */
static acq_status draw_batch(seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    bool with_hubs = run->solved >= params->hub_from;
    size_t n = params->queries;
    size_t n_hubs = with_hubs ? (size_t)lround(params->hub_share * (double)n) : 0;
    uint64_t batch_key = acq_random_start(run->seed, run->trainer.step).key;
    for (size_t i = 0; i < n; i++) {
        acq_status status =
            acq_train_source_draw(&run->school->source, acq_random_start(batch_key, i).key,
                                  i < n - n_hubs ? NULL : &params->hub, params->check_share,
                                  &run->queries[i], &run->error);
        if (status != ACQ_OK)
            return status;
    }
    run->n_units = 0;
    for (size_t i = 0; i < n; i += run->units[run->n_units++].n) {
        size_t left = n - n_hubs - i;
        size_t size = i >= n - n_hubs ? 1 : left < UNIT_QUERIES ? left : UNIT_QUERIES;
        run->units[run->n_units] = (seed_unit){.first = i, .n = size};
        run->n_small = i < n - n_hubs ? run->n_units + 1 : run->n_small;
    }
    if (n_hubs == n)
        run->n_small = 0;
    return ACQ_OK;
}

static void free_batch(seed_run *run)
{
    for (size_t i = 0; i < run->school->params->queries; i++) {
        acq_problem_free(run->queries[i].problem);
        run->queries[i].problem = NULL;
    }
}

static acq_status work_unit(void *context, size_t i, unsigned thread)
{
    seed_run *run = context;
    const acq_train_policy_params *params = run->school->params;
    acq_episode_params episode = {.rollouts = params->rollouts,
                                  .steps = params->steps,
                                  .baseline = params->baseline,
                                  .discount = params->discount,
                                  .floor = params->floor,
                                  .score_scale = params->score_scale,
                                  .rewards = params->rewards,
                                  .reward_shift = params->reward_shift,
                                  .weight = 1.0 / ((double)params->queries * params->rollouts)};
    size_t n = run->policy->parameters.n;
    float *gradient = run->gradients + i * n;
    acq_error error = {0};
    memset(gradient, 0, n * sizeof *gradient);
    run->counts[i] = (acq_episode_counts){0};
    if (acq_ranks_is_others(params->ranks, i))
        return ACQ_OK;
    acq_status status =
        acq_episodes_run(run->rooms[thread], run->policy, run->queries + run->units[i].first,
                         run->units[i].n, &episode, gradient, &run->counts[i], &error);
    if (status != ACQ_OK) {
        pthread_mutex_lock(&run->school->lock);
        acq_fail(&run->error, status, "%s", error.message);
        pthread_mutex_unlock(&run->school->lock);
    }
    return status;
}

static void add_counts(acq_episode_counts *sum, const acq_episode_counts *counts)
{
    sum->episodes += counts->episodes;
    sum->solved += counts->solved;
    sum->steps += counts->steps;
    sum->reward += counts->reward;
    sum->loss += counts->loss;
    sum->flops += counts->flops;
}

/* The running share of solved small queries decides when hub-like ones begin. */
static void count_batch(seed_run *run)
{
    acq_episode_counts small = {0};
    for (size_t i = 0; i < run->n_units; i++) {
        add_counts(i < run->n_small ? &small : &run->hub_since, &run->counts[i]);
        add_counts(&run->since, &run->counts[i]);
        run->episodes += (double)run->counts[i].episodes;
    }
    run->batches_since++;
    if (small.episodes > 0)
        run->solved = SOLVED_KEEP * run->solved +
                      (1.0 - SOLVED_KEEP) * (double)small.solved / (double)small.episodes;
}

/* What other ranks made of theirs. */
static acq_status join_units(seed_run *run)
{
    const acq_ranks *ranks = run->school->params->ranks;
    size_t n = run->n_units * run->policy->parameters.n;
    acq_status status =
        acq_ranks_join(ranks, run->gradients, n, sizeof *run->gradients, &run->error);
    return status == ACQ_OK
               ? acq_ranks_join(ranks, run->counts, run->n_units, sizeof *run->counts, &run->error)
               : status;
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    seed_run *run = self;
    size_t n = run->policy->parameters.n;
    (void)step;
    (void)error; /* the run's own: threads share it */
    acq_status status = draw_batch(run);
    if (status == ACQ_OK)
        status = acq_threads_run(run->school->threads_per_seed, run->n_units, work_unit, run);
    free_batch(run);
    if (status == ACQ_OK)
        status = join_units(run);
    if (status != ACQ_OK)
        return status;
    *loss = run->counts[0].loss;
    for (size_t i = 1; i < run->n_units; i++) {
        run->policy->kernels->add(n, run->gradients + i * n, run->gradients);
        *loss += run->counts[i].loss;
    }
    count_batch(run);
    return ACQ_OK;
}

static void pack(void *self)
{
    seed_run *run = self;
    acq_policy_pack(run->policy);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? (double)NAN : (double)part / (double)whole;
}

static acq_status add_point(seed_run *run, double held)
{
    school *all = run->school;
    const acq_optimizer_params *o = &all->params->optimizer;
    const acq_episode_counts *since = &run->since;
    double n_episodes = (double)since->episodes, n_batches = (double)run->batches_since;
    acq_curve_point point = {.seed = run->seed,
                             .batch = run->trainer.step,
                             .episodes = (uint64_t)run->episodes,
                             .seconds = acq_trainer_get_seconds(&run->trainer),
                             .solved = share(since->solved, since->episodes),
                             .reward = n_episodes == 0 ? (double)NAN : since->reward / n_episodes,
                             .steps = share(since->steps, since->episodes),
                             .loss = n_batches == 0 ? (double)NAN : since->loss / n_batches,
                             .norm = run->trainer.norm,
                             .rate = o->rate + (o->last_rate - o->rate) *
                                                   acq_trainer_get_share(&run->trainer),
                             .hub_solved = share(run->hub_since.solved, run->hub_since.episodes),
                             .held_solved = held};
    pthread_mutex_lock(&all->lock);
    acq_status status = acq_curve_add(&all->result->curve, &point);
    if (all->params->progress != NULL)
        all->params->progress(all->params->context, &point);
    pthread_mutex_unlock(&all->lock);
    run->since = run->hub_since = (acq_episode_counts){0};
    run->batches_since = 0;
    run->last_point = acq_clock_ns();
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(&run->error);
}

static void copy_weights(acq_policy *to, const acq_policy *from)
{
    memcpy(to->parameters.values, from->parameters.values,
           from->parameters.n * sizeof *from->parameters.values);
    acq_policy_pack(to);
}

/* Judges the averaged weights and keeps them if they are the best so far, or the last count. */
static acq_status judge(seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    acq_held_result held;
    acq_optimizer_copy_average(&run->optimizer, run->policy->parameters.values,
                               run->average->parameters.values);
    acq_policy_pack(run->average);
    acq_status status =
        acq_train_source_judge(&run->school->source, run->average, params->held_steps,
                               run->school->threads_per_seed, &held, &run->error);
    if (status != ACQ_OK)
        return status;
    bool is_better = held.solved > run->best_solved ||
                     (held.solved == run->best_solved && held.steps < run->best_steps);
    if (run->n_judged++ == 0 || is_better || params->keeps_last) {
        run->best_solved = held.solved;
        run->best_steps = held.steps;
        copy_weights(run->best, run->average);
    }
    return add_point(run, held.solved);
}

static bool is_judgement_due(const seed_run *run)
{
    double next = JUDGED_FROM + (1.0 - JUDGED_FROM) * run->n_judged / (N_JUDGED - 1);
    return run->n_judged < N_JUDGED - 1 && acq_trainer_get_share(&run->trainer) >= next;
}

static acq_status look_around(void *self, bool *saves, acq_error *error)
{
    seed_run *run = self;
    (void)error;
    if (is_judgement_due(run)) {
        *saves = true;
        return judge(run);
    }
    bool is_due = (double)(acq_clock_ns() - run->last_point) * 1e-9 >= POINT_SECONDS;
    return is_due ? add_point(run, (double)NAN) : ACQ_OK;
}

static bool goes_on(void *context, const acq_train_progress *now)
{
    seed_run *run = context;
    school *all = run->school;
    (void)now;
    if (all->params->should_stop == NULL)
        return true;
    pthread_mutex_lock(&all->lock);
    run->stopped = all->params->should_stop(all->params->context);
    pthread_mutex_unlock(&all->lock);
    return !run->stopped;
}

/* The checkpoint of seed number `i`, "MODEL.seedN.checkpoint"; freed with acq_free, NULL: out of
 * memory. */
static char *copy_path(const acq_train_policy_params *params, uint32_t i)
{
    size_t room = strlen(params->checkpoint) + 48;
    char *path = acq_alloc(room, 1);
    if (path != NULL)
        snprintf(path, room, "%s.seed%llu.checkpoint", params->checkpoint,
                 (unsigned long long)(params->seed + i));
    return path;
}

void acq_train_policy_remove_checkpoints(const acq_train_policy_params *params)
{
    for (uint32_t i = 0; i < params->n_seeds && params->checkpoint != NULL; i++) {
        char *path = copy_path(params, i);
        if (path != NULL)
            (void)unlink(path);
        acq_free(path);
    }
}

static acq_status allocate(seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    unsigned n_threads = run->school->threads_per_seed;
    size_t n = run->policy->parameters.n;
    run->queries = acq_zalloc(params->queries, sizeof *run->queries);
    run->units = acq_zalloc(params->queries, sizeof *run->units);
    run->counts = acq_zalloc(params->queries, sizeof *run->counts);
    run->gradients = acq_alloc((size_t)params->queries * n, sizeof *run->gradients);
    run->rooms = acq_zalloc(n_threads, sizeof *run->rooms);
    if (run->queries == NULL || run->units == NULL || run->counts == NULL ||
        run->gradients == NULL || run->rooms == NULL)
        return acq_fail_memory(&run->error);
    for (unsigned i = 0; i < n_threads; i++)
        if (acq_episode_room_new(&run->rooms[i]) != ACQ_OK)
            return acq_fail_memory(&run->error);
    return acq_optimizer_init(&run->optimizer, &params->optimizer, run->policy->parameters.values,
                              n, &run->error);
}

static acq_status open_run(seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    acq_status status =
        acq_policy_new(params->dim, run->seed, params->uses_pe, true, &run->policy, &run->error);
    if (status == ACQ_OK)
        status = acq_policy_new(params->dim, run->seed, params->uses_pe, false, &run->average,
                                &run->error);
    if (status == ACQ_OK)
        status =
            acq_policy_new(params->dim, run->seed, params->uses_pe, false, &run->best, &run->error);
    return status == ACQ_OK ? allocate(run) : status;
}

static void close_run(seed_run *run)
{
    for (unsigned i = 0; run->rooms != NULL && i < run->school->threads_per_seed; i++)
        acq_episode_room_free(run->rooms[i]);
    acq_free(run->rooms);
    acq_free(run->queries);
    acq_free(run->units);
    acq_free(run->counts);
    acq_free(run->gradients);
    acq_optimizer_deinit(&run->optimizer);
    acq_policy_free(run->policy);
    acq_policy_free(run->average);
    acq_policy_free(run->best);
    acq_free(run->checkpoint);
}

static void start_trainer(seed_run *run)
{
    static const acq_trainer_ops ops = {
        .compute = compute, .changed = pack, .between = look_around};
    const acq_train_policy_params *params = run->school->params;
    run->trainer = (acq_trainer){.ops = &ops,
                                 .self = run,
                                 .phase = "training",
                                 .n_steps = params->batches,
                                 .seconds = run->school->seconds,
                                 .kept = run->school->kept,
                                 .parameters = &run->policy->parameters,
                                 .optimizer = &run->optimizer,
                                 .gradient = run->gradients,
                                 .parts = {{"best", run->best->parameters.values, false}},
                                 .n_parts = 1,
                                 .numbers = {{"episodes", &run->episodes},
                                             {"solved", &run->solved},
                                             {"best_solved", &run->best_solved},
                                             {"best_steps", &run->best_steps},
                                             {"judged", &run->n_judged}},
                                 .n_numbers = 5,
                                 .identity = run->school->identity,
                                 .checkpoint = run->checkpoint,
                                 .checkpoint_seconds = params->checkpoint_seconds,
                                 .resume = params->resume && run->checkpoint != NULL,
                                 .progress = goes_on,
                                 .context = run,
                                 .ranks = params->ranks};
}

static acq_status train_seed(void *context, size_t i, unsigned thread)
{
    seed_run *run = (seed_run *)context + i;
    const acq_train_policy_params *params = run->school->params;
    (void)thread;
    acq_status status = open_run(run);
    if (status == ACQ_OK && params->checkpoint != NULL) {
        run->checkpoint = copy_path(params, (uint32_t)i);
        if (run->checkpoint == NULL)
            status = acq_fail_memory(&run->error);
    }
    if (status != ACQ_OK)
        return status;
    start_trainer(run);
    run->last_point = acq_clock_ns();
    status = acq_trainer_run(&run->trainer, &run->error);
    acq_policy_pack(run->best); /* which a checkpoint may have brought */
    if (status == ACQ_ERR_INTERRUPTED) {
        run->error = (acq_error){0};
        run->stopped = true; /* also where another rank was told so */
        return ACQ_OK;
    }
    return status == ACQ_OK ? judge(run) : status;
}

static bool is_better(const seed_run *a, const seed_run *b)
{
    return a->best_solved > b->best_solved ||
           (a->best_solved == b->best_solved && a->best_steps < b->best_steps);
}

static acq_status gather(school *s, seed_run *runs)
{
    acq_train_policy_result *result = s->result;
    size_t best = 0, n = s->params->n_seeds;
    result->seeds_held = acq_zalloc(n, sizeof *result->seeds_held);
    if (result->seeds_held == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        best = is_better(&runs[i], &runs[best]) ? i : best;
        result->seeds_held[i] = runs[i].best_solved;
        result->episodes += (uint64_t)runs[i].episodes;
        result->batches += runs[i].trainer.step;
        result->stopped = result->stopped || runs[i].stopped;
        result->seconds += runs[i].trainer.seconds_before / s->side_by_side;
    }
    result->n_held_hubs = s->source.n_held_hubs;
    result->seed = runs[best].seed;
    result->held_solved = runs[best].best_solved;
    result->policy = runs[best].best;
    runs[best].best = NULL;
    return ACQ_OK;
}

static acq_status check_params(const acq_train_policy_params *p, size_t n_graphs, acq_error *error)
{
    if (n_graphs == 0 || p->n_seeds == 0 || p->queries == 0 || p->rollouts == 0 || p->steps == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "training needs a graph, a seed, a query, a rollout and a step at least");
    if (p->batches == 0 && !(p->seconds > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a number of batches or a time");
    if (p->held_queries == 0 || p->held_steps == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "training needs queries kept aside, and steps to search them");
    return ACQ_OK;
}

/* What it takes to judge n hub-like queries and their small ones. */
static acq_status time_judging(const school *s, size_t n, double *seconds, acq_error *error)
{
    acq_train_source few = s->source;
    acq_policy *policy = NULL;
    acq_held_result held;
    int64_t before = acq_clock_ns();
    acq_status status =
        acq_policy_new(s->params->dim, s->params->seed, s->params->uses_pe, false, &policy, error);
    few.n_held = few.n_held_hubs = n;
    if (status == ACQ_OK)
        status = acq_train_source_judge(&few, policy, s->params->held_steps, s->threads_per_seed,
                                        &held, error);
    acq_policy_free(policy);
    *seconds = (double)(acq_clock_ns() - before) * 1e-9;
    return status;
}

/* Seeds that do not train side by side share the time. A fifth of it is for judging: where all
 * queries kept aside would take more, some are. Untrained weights, which take longest, tell. */
static acq_status share_out_time(school *s, acq_error *error)
{
    static const double JUDGING = .2;
    const acq_train_policy_params *params = s->params;
    size_t n_rounds = (params->n_seeds + s->side_by_side - 1) / s->side_by_side;
    double one = 0;
    s->seconds = params->seconds / (double)n_rounds;
    if (!(params->seconds > 0) || params->begin_ns == 0)
        return ACQ_OK;
    acq_status status = time_judging(s, 1, &one, error);
    if (status == ACQ_OK)
        status = acq_ranks_follow(params->ranks, &one, sizeof one, error);
    double most = JUDGING * s->seconds / N_JUDGED / fmax(one, 1e-6);
    acq_train_source_shrink(&s->source, most < 1 ? 1 : (size_t)fmin(most, 1e6));
    double lead = (double)(acq_clock_ns() - params->begin_ns) * 1e-9;
    s->kept = lead / (double)n_rounds + one * (double)s->source.n_held_hubs + .03 * s->seconds;
    return status == ACQ_OK ? acq_ranks_follow(params->ranks, &s->kept, sizeof s->kept, error)
                            : status;
}

static acq_status run_seeds(school *s, acq_error *error)
{
    const acq_train_policy_params *params = s->params;
    seed_run *runs = acq_zalloc(params->n_seeds, sizeof *runs);
    if (runs == NULL)
        return acq_fail_memory(error);
    unsigned n_threads = params->n_threads == 0 ? 1 : params->n_threads;
    s->side_by_side = params->ranks != NULL         ? 1
                      : n_threads < params->n_seeds ? n_threads
                                                    : params->n_seeds;
    s->threads_per_seed = n_threads / s->side_by_side;
    for (size_t i = 0; i < params->n_seeds; i++)
        runs[i] = (seed_run){.school = s, .seed = params->seed + i};
    acq_status status = share_out_time(s, error);
    if (status == ACQ_OK)
        status = acq_threads_run(s->side_by_side, params->n_seeds, train_seed, runs);
    if (status == ACQ_OK && gather(s, runs) != ACQ_OK)
        status = acq_fail_memory(error);
    for (size_t i = 0; i < params->n_seeds; i++) {
        if (status != ACQ_OK && runs[i].error.code != ACQ_OK) {
            acq_fail(error, runs[i].error.code, "%s", runs[i].error.message);
            acq_error_set_file(error, runs[i].error.file);
        }
        close_run(&runs[i]);
    }
    acq_free(runs);
    return status;
}

acq_status acq_train_policy(const acq_graph *const *graphs, size_t n_graphs,
                            const acq_train_policy_params *params, acq_train_policy_result *result,
                            acq_error *error)
{
    school all = {.params = params, .result = result};
    int64_t began = acq_clock_ns();
    acq_text identity;
    *result = (acq_train_policy_result){0};
    acq_status status = check_params(params, n_graphs, error);
    if (status != ACQ_OK)
        return status;
    acq_text_init(&identity);
    status = acq_train_print_identity(ACQ_TRAIN_POLICY, params, graphs, n_graphs,
                                      params->rewards == NULL ? NULL : &params->rewards->parameters,
                                      &identity, error);
    all.identity = identity.bytes;
    if (status == ACQ_OK)
        status = acq_train_source_init(&all.source, graphs, n_graphs, params, error);
    pthread_mutex_init(&all.lock, NULL);
    if (status == ACQ_OK)
        status = run_seeds(&all, error);
    pthread_mutex_destroy(&all.lock);
    acq_train_source_deinit(&all.source);
    acq_text_deinit(&identity);
    result->seconds += (double)(acq_clock_ns() - began) * 1e-9;
    return status;
}

void acq_train_policy_result_deinit(acq_train_policy_result *result)
{
    acq_policy_free(result->policy);
    acq_free(result->seeds_held);
    acq_curve_deinit(&result->curve);
    *result = (acq_train_policy_result){0};
}
