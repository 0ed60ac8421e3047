/* ultra.c - see ultra.h.
 *
 * The groups of a batch are units of work for the threads; each has its own gradient, and these are
 * summed in order, so that the weights do not depend on the number of threads. A run whose length
 * is given in seconds has its schedule follow the clock; only one that is given in batches repeats
 * to the last bit. */
#include "train/ultra.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/threads.h"
#include "train/checkpoint.h"
#include "train/ultra_unit.h"

enum { OPTIONS_LENGTH = 512 };

static const double LOSS_KEEP = .99;

typedef struct school {
    const acq_train_ultra_params *params;
    acq_ultra *model;
    acq_ultra_packed packed;
    acq_optimizer optimizer;
    acq_ultra_world *worlds;
    size_t n_worlds;
    acq_ultra_room **rooms; /* one per thread */
    float *gradients;       /* one per group */
    double *losses;
    acq_error *errors; /* one per group */
    uint64_t batch;
    double loss, loss_weight; /* smoothed, with a start-up correction */
    double seconds_loaded;
    int64_t began, last_checkpoint;
    char options[OPTIONS_LENGTH];
} school;

void acq_train_ultra_params_init(acq_train_ultra_params *params)
{
    *params = (acq_train_ultra_params){
        .batch = 16,
        .group = 2,
        .tails = 4,
        .negatives = 256,
        .temperature = 1,
        .most_entities = 2400,
        .most_edges = 100000,
        .most_near = 50,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 8000,
        .seed = 1,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 2e-3;
    params->optimizer.last_rate = 1e-5;
    params->optimizer.decay = .01;
    params->optimizer.average = .995;
}

static double get_seconds(const school *s)
{
    return s->seconds_loaded + (double)(acq_clock_ns() - s->began) * 1e-9;
}

/* The share of the schedule that is over. */
static double get_progress(const school *s)
{
    const acq_train_ultra_params *params = s->params;
    double by_batches = params->batches > 0 ? (double)s->batch / (double)params->batches : 0;
    double by_time = params->seconds > 0 ? get_seconds(s) / params->seconds : 0;
    double progress = by_batches > by_time ? by_batches : by_time;
    return progress < 1 ? progress : 1;
}

static acq_status run_group(void *context, size_t i, unsigned thread)
{
    school *s = context;
    size_t n = s->model->parameters.n;
    float *gradient = s->gradients + i * n;
    uint64_t key = acq_random_start(s->params->seed, s->batch + 1).key;
    memset(gradient, 0, n * sizeof *gradient);
    s->errors[i] = (acq_error){0};
    return acq_ultra_room_run(s->rooms[thread], acq_random_start(key, i).key, gradient,
                              &s->losses[i], &s->errors[i]);
}

static acq_status copy_first_error(const acq_error *errors, size_t n, acq_status status,
                                   acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (errors[i].code != ACQ_OK)
            return acq_fail(error, errors[i].code, "%s", errors[i].message);
    return acq_fail(error, status, "the training failed");
}

static acq_status train_batch(school *s, acq_error *error)
{
    size_t n_groups = s->params->batch / s->params->group, n = s->model->parameters.n;
    acq_status status = acq_threads_run(s->params->n_threads, n_groups, run_group, s);
    if (status != ACQ_OK)
        return copy_first_error(s->errors, n_groups, status, error);
    double loss = s->losses[0];
    for (size_t i = 1; i < n_groups; i++) {
        acq_kernels_get_best()->add(n, s->gradients + i * n, s->gradients);
        loss += s->losses[i];
    }
    acq_optimizer_update(&s->optimizer, get_progress(s), s->gradients, s->model->parameters.values);
    acq_ultra_packed_fill(&s->packed, s->model);
    s->loss = LOSS_KEEP * s->loss + (1 - LOSS_KEEP) * loss / s->params->batch;
    s->loss_weight = LOSS_KEEP * s->loss_weight + (1 - LOSS_KEEP);
    s->batch++;
    return ACQ_OK;
}

static acq_checkpoint get_checkpoint(school *s)
{
    return (acq_checkpoint){.parameters = &s->model->parameters,
                            .optimizer = &s->optimizer,
                            .options = s->options,
                            .seed = s->params->seed,
                            .batch = s->batch,
                            .episodes = s->batch * s->params->batch,
                            .seconds = get_seconds(s),
                            .solved = s->loss_weight > 0 ? s->loss / s->loss_weight : 0,
                            .finished = get_progress(s) >= 1};
}

static acq_status write_checkpoint(school *s, acq_error *error)
{
    s->last_checkpoint = acq_clock_ns();
    if (s->params->checkpoint == NULL)
        return ACQ_OK;
    acq_checkpoint checkpoint = get_checkpoint(s);
    return acq_checkpoint_write(&checkpoint, s->params->checkpoint, error);
}

static acq_status read_checkpoint(school *s, acq_error *error)
{
    if (!s->params->resume || s->params->checkpoint == NULL ||
        access(s->params->checkpoint, F_OK) != 0)
        return ACQ_OK;
    acq_checkpoint checkpoint = get_checkpoint(s);
    acq_status status = acq_checkpoint_read(&checkpoint, s->params->checkpoint, error);
    if (status != ACQ_OK)
        return status;
    s->batch = checkpoint.batch;
    s->seconds_loaded = checkpoint.seconds;
    s->loss = checkpoint.solved;
    s->loss_weight = 1;
    return ACQ_OK;
}

/* What shapes a run, the graphs included: a checkpoint must agree with it. */
static void print_options(school *s, const acq_graph *const *graphs)
{
    const acq_train_ultra_params *p = s->params;
    const acq_optimizer_params *o = &p->optimizer;
    uint64_t key = 0;
    for (size_t i = 0; i < s->n_worlds; i++)
        key = acq_random_mix(key ^ acq_graph_get_fingerprint(graphs[i]));
    snprintf(s->options, sizeof s->options,
             "batch=%" PRIu32 " group=%" PRIu32 " tails=%" PRIu32 " negatives=%" PRIu32
             " temperature=%g entities=%" PRIu32 " edges=%" PRIu32 " near=%" PRIu32
             " rate=%g last_rate=%g decay=%g clip=%g average=%g batches=%" PRIu64
             " seconds=%g warm=%d graphs=%016" PRIx64,
             p->batch, p->group, p->tails, p->negatives, p->temperature, p->most_entities,
             p->most_edges, p->most_near, o->rate, o->last_rate, o->decay, o->clip, o->average,
             p->batches, p->seconds, p->warm != NULL, key);
}

static acq_status open_worlds(school *s, const acq_graph *const *graphs, acq_error *error)
{
    acq_status status = ACQ_OK;
    uint64_t n_edges = 0;
    s->worlds = acq_zalloc(s->n_worlds, sizeof *s->worlds);
    if (s->worlds == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < s->n_worlds && status == ACQ_OK; i++) {
        status = acq_ultra_world_init(&s->worlds[i], graphs[i], error);
        n_edges += s->worlds[i].edges.n_edges;
    }
    if (status == ACQ_OK && n_edges == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "there is no fact to train on; give another graph");
    return status;
}

static acq_status open_model(school *s, acq_error *error)
{
    const acq_train_ultra_params *params = s->params;
    acq_status status = acq_ultra_new(params->seed, &s->model, error);
    if (status != ACQ_OK)
        return status;
    acq_parameters *to = &s->model->parameters;
    if (params->warm != NULL)
        memcpy(to->values, params->warm->parameters.values, to->n * sizeof *to->values);
    status = acq_optimizer_init(&s->optimizer, &params->optimizer, to->values, to->n, error);
    if (status == ACQ_OK)
        status = read_checkpoint(s, error);
    if (status == ACQ_OK && acq_ultra_packed_init(&s->packed) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        acq_ultra_packed_fill(&s->packed, s->model);
    return status;
}

static acq_status open_rooms(school *s, acq_error *error)
{
    size_t n_groups = s->params->batch / s->params->group;
    unsigned n_threads = s->params->n_threads == 0 ? 1 : s->params->n_threads;
    s->rooms = acq_zalloc(n_threads, sizeof(acq_ultra_room *));
    s->gradients = acq_alloc(n_groups * s->model->parameters.n, sizeof *s->gradients);
    s->losses = acq_zalloc(n_groups, sizeof *s->losses);
    s->errors = acq_zalloc(n_groups, sizeof *s->errors);
    if (s->rooms == NULL || s->gradients == NULL || s->losses == NULL || s->errors == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (unsigned i = 0; i < n_threads && status == ACQ_OK; i++)
        status = acq_ultra_room_new(s->worlds, s->n_worlds, s->params, s->model, &s->packed,
                                    &s->rooms[i], error);
    return status;
}

static void close_school(school *s)
{
    unsigned n_threads = s->params->n_threads == 0 ? 1 : s->params->n_threads;
    for (unsigned i = 0; s->rooms != NULL && i < n_threads; i++)
        acq_ultra_room_free(s->rooms[i]);
    for (size_t i = 0; s->worlds != NULL && i < s->n_worlds; i++)
        acq_ultra_world_deinit(&s->worlds[i]);
    acq_free(s->rooms);
    acq_free(s->worlds);
    acq_free(s->gradients);
    acq_free(s->losses);
    acq_free(s->errors);
    acq_optimizer_deinit(&s->optimizer);
    acq_ultra_packed_deinit(&s->packed);
    acq_ultra_free(s->model);
}

/* False: the caller wants to stop. */
static bool report(const school *s)
{
    const acq_train_ultra_params *params = s->params;
    double share = get_progress(s);
    acq_train_progress now = {.phase = "training",
                              .done = (double)s->batch,
                              .total = share > 0 ? (double)s->batch / share : 0,
                              .loss = s->loss_weight > 0 ? s->loss / s->loss_weight : 0,
                              .seconds = get_seconds(s)};
    return params->progress == NULL || params->progress(params->context, &now);
}

static acq_status train(school *s, acq_error *error)
{
    acq_status status = ACQ_OK;
    bool goes_on = true;
    while (status == ACQ_OK && goes_on && get_progress(s) < 1) {
        status = train_batch(s, error);
        goes_on = status != ACQ_OK || report(s);
        double since = (double)(acq_clock_ns() - s->last_checkpoint) * 1e-9;
        if (status == ACQ_OK && since >= s->params->checkpoint_seconds)
            status = write_checkpoint(s, error);
    }
    if (status == ACQ_OK)
        status = write_checkpoint(s, error);
    if (status == ACQ_OK && !goes_on)
        return acq_fail(error, ACQ_ERR_INTERRUPTED, "the training was stopped; --resume goes on");
    return status;
}

static acq_status check_params(const acq_train_ultra_params *p, size_t n_graphs, acq_error *error)
{
    if (n_graphs == 0 || p->negatives == 0 || p->tails == 0 || p->group == 0 || p->batch == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "training needs a graph, a query, a tail and a negative at least");
    if (p->batch % p->group != 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "a batch of %" PRIu32 " queries does not consist of groups of %" PRIu32,
                        p->batch, p->group);
    if (p->batches == 0 && !(p->seconds > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a number of batches or a time");
    return ACQ_OK;
}

acq_status acq_train_ultra(const acq_graph *const *graphs, size_t n_graphs,
                           const acq_train_ultra_params *params, acq_ultra **out, acq_error *error)
{
    acq_status status = check_params(params, n_graphs, error);
    if (status != ACQ_OK)
        return status;
    school s = {.params = params, .n_worlds = n_graphs};
    s.began = s.last_checkpoint = acq_clock_ns();
    print_options(&s, graphs);
    status = open_worlds(&s, graphs, error);
    if (status == ACQ_OK)
        status = open_model(&s, error);
    if (status == ACQ_OK)
        status = open_rooms(&s, error);
    if (status == ACQ_OK)
        status = train(&s, error);
    if (status == ACQ_OK) {
        float *values = s.model->parameters.values;
        if (params->optimizer.average > 0)
            acq_optimizer_copy_average(&s.optimizer, NULL, values);
        *out = s.model;
        s.model = NULL;
    }
    close_school(&s);
    return status;
}
