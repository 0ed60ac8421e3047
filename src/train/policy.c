/* policy.c - see policy.h.
 *
 * Seeds are trained side by side, one thread each while there are threads; what is left of the
 * threads works inside a seed, on units of a batch: small queries a few at a time, hub-like ones
 * alone. Each unit has its own gradient; they are added up in order.
 *
 * From three fifths of the schedule on the averaged weights are judged a few times on the queries
 * kept aside, and the best are kept: checkpoints differ by more than most options do. */
#include "train/policy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/threads.h"
#include "train/seed_run.h"

enum { UNIT_QUERIES = 4, N_JUDGED = 5 };

static const double JUDGED_FROM = .6;
static const double SOLVED_KEEP = .98; /* of the running share of solved episodes, per batch */

double acq_seed_get_seconds(const acq_seed_run *run)
{
    return run->seconds_loaded + (double)(acq_clock_ns() - run->began) * 1e-9;
}

static double get_progress(const acq_seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    double progress = params->batches > 0 ? (double)run->batch / (double)params->batches
                                          : acq_seed_get_seconds(run) / params->seconds;
    return fmin(progress, 1.0);
}

bool acq_seed_is_over(const acq_seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    return (params->batches > 0 && run->batch >= params->batches) ||
           (params->seconds > 0 && acq_seed_get_seconds(run) >= params->seconds);
}

/* Queries of a batch: the small ones first, so that units are alike. */
static acq_status draw_batch(acq_seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    bool with_hubs = run->solved >= params->hub_from;
    size_t n = params->queries;
    size_t n_hubs = with_hubs ? (size_t)lround(params->hub_share * (double)n) : 0;
    uint64_t batch_key = acq_random_start(run->seed, run->batch).key;
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
        run->units[run->n_units] = (acq_seed_unit){.first = i, .n = size};
        run->n_small = i < n - n_hubs ? run->n_units + 1 : run->n_small;
    }
    if (n_hubs == n)
        run->n_small = 0;
    return ACQ_OK;
}

static void free_batch(acq_seed_run *run)
{
    for (size_t i = 0; i < run->school->params->queries; i++) {
        acq_problem_free(run->queries[i].problem);
        run->queries[i].problem = NULL;
    }
}

static acq_status work_unit(void *context, size_t i, unsigned thread)
{
    acq_seed_run *run = context;
    const acq_train_policy_params *params = run->school->params;
    acq_episode_params episode = {.rollouts = params->rollouts,
                                  .steps = params->steps,
                                  .baseline = params->baseline,
                                  .discount = params->discount,
                                  .floor = params->floor,
                                  .score_scale = params->score_scale,
                                  .weight = 1.0 / ((double)params->queries * params->rollouts)};
    size_t n = run->policy->parameters.n;
    float *gradient = run->gradients + i * n;
    acq_error error = {0};
    memset(gradient, 0, n * sizeof *gradient);
    run->counts[i] = (acq_episode_counts){0};
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
static void count_batch(acq_seed_run *run)
{
    acq_episode_counts small = {0};
    for (size_t i = 0; i < run->n_units; i++) {
        add_counts(i < run->n_small ? &small : &run->hub_since, &run->counts[i]);
        add_counts(&run->since, &run->counts[i]);
        run->episodes += run->counts[i].episodes;
    }
    if (small.episodes > 0)
        run->solved = SOLVED_KEEP * run->solved +
                      (1.0 - SOLVED_KEEP) * (double)small.solved / (double)small.episodes;
}

static acq_status train_batch(acq_seed_run *run)
{
    acq_status status = draw_batch(run);
    if (status == ACQ_OK)
        status = acq_threads_run(run->school->threads_per_seed, run->n_units, work_unit, run);
    free_batch(run);
    if (status != ACQ_OK)
        return status;
    const acq_kernels *kernels = run->policy->kernels;
    size_t n = run->policy->parameters.n;
    for (size_t i = 1; i < run->n_units; i++)
        kernels->add(n, run->gradients + i * n, run->gradients);
    run->norm = acq_optimizer_update(&run->optimizer, get_progress(run), run->gradients,
                                     run->policy->parameters.values);
    acq_policy_pack(run->policy);
    count_batch(run);
    run->batch++;
    return ACQ_OK;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? (double)NAN : (double)part / (double)whole;
}

static acq_status add_point(acq_seed_run *run, double held)
{
    acq_school *all = run->school;
    const acq_optimizer_params *o = &all->params->optimizer;
    const acq_episode_counts *since = &run->since;
    acq_curve_point point = {
        .seed = run->seed,
        .batch = run->batch,
        .episodes = run->episodes,
        .seconds = acq_seed_get_seconds(run),
        .solved = share(since->solved, since->episodes),
        .reward = since->episodes == 0 ? (double)NAN : since->reward / (double)since->episodes,
        .steps = share(since->steps, since->episodes),
        .loss = since->loss,
        .norm = run->norm,
        .rate = o->rate + (o->last_rate - o->rate) * get_progress(run),
        .hub_solved = share(run->hub_since.solved, run->hub_since.episodes),
        .held_solved = held};
    pthread_mutex_lock(&all->lock);
    acq_status status = acq_curve_add(&all->result->curve, &point);
    if (all->params->progress != NULL)
        all->params->progress(all->params->context, &point);
    pthread_mutex_unlock(&all->lock);
    run->since = run->hub_since = (acq_episode_counts){0};
    run->last_point = acq_clock_ns();
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(&run->error);
}

static void copy_weights(acq_policy *to, const acq_policy *from)
{
    memcpy(to->parameters.values, from->parameters.values,
           from->parameters.n * sizeof *from->parameters.values);
    acq_policy_pack(to);
}

/* Judges the averaged weights and keeps them if they are the best so far. */
static acq_status judge(acq_seed_run *run)
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
    bool is_better = held.solved > run->best_held.solved ||
                     (held.solved == run->best_held.solved && held.steps < run->best_held.steps);
    if (run->n_judged++ == 0 || is_better) {
        run->best_held = held;
        copy_weights(run->best, run->average);
    }
    status = acq_seed_write_best(run);
    return status == ACQ_OK ? add_point(run, held.solved) : status;
}

static bool is_judgement_due(const acq_seed_run *run)
{
    double next = JUDGED_FROM + (1.0 - JUDGED_FROM) * run->n_judged / (N_JUDGED - 1);
    return run->n_judged < N_JUDGED - 1 && get_progress(run) >= next;
}

static acq_status allocate(acq_seed_run *run)
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

static acq_status open_run(acq_seed_run *run)
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
    if (status == ACQ_OK)
        status = allocate(run);
    return status == ACQ_OK ? acq_seed_load(run) : status;
}

static void close_run(acq_seed_run *run)
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
}

static const double POINT_SECONDS = 2;

/* What happens between batches. */
static acq_status look_around(acq_seed_run *run)
{
    const acq_train_policy_params *params = run->school->params;
    int64_t now = acq_clock_ns();
    acq_status status = ACQ_OK;
    if (is_judgement_due(run))
        status = judge(run);
    else if ((double)(now - run->last_point) * 1e-9 >= POINT_SECONDS)
        status = add_point(run, (double)NAN);
    if (status == ACQ_OK &&
        (double)(now - run->last_checkpoint) * 1e-9 >= params->checkpoint_seconds)
        status = acq_seed_write_checkpoint(run);
    return status;
}

static bool is_stopped(acq_seed_run *run)
{
    acq_school *all = run->school;
    if (all->params->should_stop == NULL)
        return false;
    pthread_mutex_lock(&all->lock);
    run->stopped = all->params->should_stop(all->params->context);
    pthread_mutex_unlock(&all->lock);
    return run->stopped;
}

static acq_status train_seed(void *context, size_t i, unsigned thread)
{
    acq_seed_run *run = (acq_seed_run *)context + i;
    (void)thread;
    run->began = run->last_point = run->last_checkpoint = acq_clock_ns();
    acq_status status = open_run(run);
    if (status == ACQ_OK)
        status = acq_seed_write_checkpoint(run); /* others see that this model is in the making */
    while (status == ACQ_OK && !acq_seed_is_over(run) && !is_stopped(run)) {
        status = train_batch(run);
        if (status == ACQ_OK)
            status = look_around(run);
    }
    if (status == ACQ_OK)
        status = acq_seed_write_checkpoint(run);
    if (status == ACQ_OK && !run->stopped)
        status = judge(run);
    return status;
}

static acq_status gather(acq_school *s, acq_seed_run *runs)
{
    acq_train_policy_result *result = s->result;
    size_t best = 0, n = s->params->n_seeds;
    result->seeds_held = acq_zalloc(n, sizeof *result->seeds_held);
    if (result->seeds_held == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const acq_held_result *a = &runs[i].best_held, *b = &runs[best].best_held;
        if (a->solved > b->solved || (a->solved == b->solved && a->steps < b->steps))
            best = i;
        result->seeds_held[i] = a->solved;
        result->episodes += runs[i].episodes;
        result->batches += runs[i].batch;
        result->stopped = result->stopped || runs[i].stopped;
        result->seconds += runs[i].seconds_loaded / s->side_by_side;
    }
    result->seed = runs[best].seed;
    result->held_solved = runs[best].best_held.solved;
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

static acq_status run_seeds(acq_school *s, acq_error *error)
{
    const acq_train_policy_params *params = s->params;
    acq_seed_run *runs = acq_zalloc(params->n_seeds, sizeof *runs);
    if (runs == NULL)
        return acq_fail_memory(error);
    unsigned n_threads = params->n_threads == 0 ? 1 : params->n_threads;
    s->side_by_side = n_threads < params->n_seeds ? n_threads : params->n_seeds;
    s->threads_per_seed = n_threads / s->side_by_side;
    for (size_t i = 0; i < params->n_seeds; i++)
        runs[i] = (acq_seed_run){.school = s, .seed = params->seed + i};
    acq_status status = acq_threads_run(s->side_by_side, params->n_seeds, train_seed, runs);
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

/* What a checkpoint must agree with: options and graphs. */
static void print_identity(const acq_train_policy_params *params, const acq_graph *const *graphs,
                           size_t n_graphs, char *out)
{
    uint64_t key = 0;
    for (size_t i = 0; i < n_graphs; i++)
        key = acq_random_mix(key ^ acq_graph_get_fingerprint(graphs[i]));
    acq_train_policy_print_options(params, out, ACQ_SEED_OPTIONS_LENGTH);
    size_t used = strlen(out);
    snprintf(out + used, ACQ_SEED_OPTIONS_LENGTH - used, " graphs=%016" PRIx64, key);
}

acq_status acq_train_policy(const acq_graph *const *graphs, size_t n_graphs,
                            const acq_train_policy_params *params, acq_train_policy_result *result,
                            acq_error *error)
{
    acq_school all = {.params = params, .result = result};
    int64_t began = acq_clock_ns();
    *result = (acq_train_policy_result){0};
    acq_status status = check_params(params, n_graphs, error);
    if (status != ACQ_OK)
        return status;
    print_identity(params, graphs, n_graphs, all.options);
    status = acq_train_source_init(&all.source, graphs, n_graphs, params, error);
    pthread_mutex_init(&all.lock, NULL);
    if (status == ACQ_OK)
        status = run_seeds(&all, error);
    pthread_mutex_destroy(&all.lock);
    acq_train_source_deinit(&all.source);
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
