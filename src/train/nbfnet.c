/* nbfnet.c - the loop of a training of NBFNet, see nbfnet.h.
 *
 * A batch depends on the seed and its number alone, so a run that was stopped goes on from its
 * checkpoint with the batches it would have had. */
#include "train/nbfnet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "train/checkpoint.h"
#include "train/nbfnet_batch.h"
#include "train/nbfnet_gradient.h"

enum { OPTIONS_ROOM = 512 };

static const double loss_keep = 0.98; /* of the smoothed loss */

typedef struct training {
    const acq_train_nbfnet_params *params;
    acq_edges world;
    float *scales;
    acq_nbfnet *model;
    acq_optimizer optimizer;
    acq_nbfnet_batch batch;
    acq_nbfnet_gradient gradient;
    char options[OPTIONS_ROOM];
    uint64_t done; /* batches */
    double loss;   /* smoothed */
    int64_t began, last_checkpoint;
    double seconds_before; /* of runs that were resumed */
} training;

/* Subgraphs of 1000 entities: a batch takes a nineteenth of what one over all of FB15k-237 does. */
void acq_train_nbfnet_params_init(acq_train_nbfnet_params *params)
{
    *params = (acq_train_nbfnet_params){
        .batch = 16,
        .negatives = 128,
        .temperature = 0.2,
        .edge_dropout = 0.25,
        .drops_pairs = true,
        .most_entities = 1000,
        .most_near = 6,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 10000,
        .seed = 1,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 5e-3;
    params->optimizer.last_rate = 1e-4;
}

static acq_status check_params(const acq_train_nbfnet_params *p, acq_error *error)
{
    if (p->batch == 0 || p->negatives == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "training needs a query per batch and a negative per query at least");
    if (p->batches == 0 && !(p->seconds > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "training needs a number of batches or a time");
    if (!(p->temperature >= 0) || !isfinite(p->temperature))
        return acq_fail(error, ACQ_ERR_USAGE, "the temperature must be a number from 0 on");
    if (!(p->edge_dropout >= 0 && p->edge_dropout <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "the edge dropout must be a share from 0 to 1");
    return ACQ_OK;
}

/* What a checkpoint must agree with. The time is not in it: a run may be given more. */
static void print_options(training *t, const acq_graph *graph)
{
    const acq_train_nbfnet_params *p = t->params;
    snprintf(t->options, sizeof t->options,
             "nbfnet batch=%" PRIu32 " negatives=%" PRIu32 " temperature=%g edge_dropout=%g "
             "drops_pairs=%d most_entities=%" PRIu32 " most_edges=%" PRIu32 " most_near=%" PRIu32
             " rate=%g last_rate=%g decay=%g clip=%g average=%g batches=%" PRIu64 " seed=%" PRIu64
             " warm=%d graph=%016" PRIx64,
             p->batch, p->negatives, p->temperature, p->edge_dropout, p->drops_pairs,
             p->most_entities, p->most_edges, p->most_near, p->optimizer.rate,
             p->optimizer.last_rate, p->optimizer.decay, p->optimizer.clip, p->optimizer.average,
             p->batches, p->seed, p->warm != NULL, acq_graph_get_fingerprint(graph));
}

static double get_seconds(const training *t)
{
    return t->seconds_before + (double)(acq_clock_ns() - t->began) * 1e-9;
}

/* The share of the schedule that is over, by batches or by time, whichever is further. */
static double get_share(const training *t)
{
    const acq_train_nbfnet_params *p = t->params;
    double by_batches = p->batches > 0 ? (double)t->done / (double)p->batches : 0;
    double by_time = p->seconds > 0 ? get_seconds(t) / p->seconds : 0;
    return fmin(1, fmax(by_batches, by_time));
}

static acq_checkpoint get_checkpoint(training *t)
{
    return (acq_checkpoint){.parameters = &t->model->parameters,
                            .optimizer = &t->optimizer,
                            .options = t->options,
                            .seed = t->params->seed,
                            .batch = t->done,
                            .seconds = get_seconds(t),
                            .solved = t->loss,
                            .finished = get_share(t) >= 1};
}

static acq_status write_checkpoint(training *t, acq_error *error)
{
    acq_checkpoint checkpoint = get_checkpoint(t);
    t->last_checkpoint = acq_clock_ns();
    if (t->params->checkpoint == NULL)
        return ACQ_OK;
    return acq_checkpoint_write(&checkpoint, t->params->checkpoint, error);
}

static acq_status read_checkpoint(training *t, acq_error *error)
{
    acq_checkpoint checkpoint = get_checkpoint(t);
    if (t->params->checkpoint == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "resuming needs the path of a checkpoint");
    acq_status status = acq_checkpoint_read(&checkpoint, t->params->checkpoint, error);
    if (status != ACQ_OK)
        return status;
    t->done = checkpoint.batch;
    t->loss = checkpoint.solved;
    t->seconds_before = checkpoint.seconds;
    return ACQ_OK;
}

static acq_status open_world(training *t, const acq_graph *graph, acq_error *error)
{
    acq_status status = acq_edges_init(&t->world, graph, error);
    if (status != ACQ_OK)
        return status;
    if (t->world.n_edges == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the graph has no facts to learn from; import some first");
    t->scales = acq_alloc(t->world.n_nodes, sizeof *t->scales);
    if (t->scales == NULL)
        return acq_fail_memory(error);
    acq_nbfnet_fill_scales(&t->world, t->scales);
    return ACQ_OK;
}

static acq_status open_model(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_nbfnet *warm = t->params->warm;
    uint32_t n = acq_graph_get_n_relations(graph);
    if (warm != NULL && warm->n_relations != n)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the model to start from has %u relations and the graph %u; start from "
                        "one of the same relations",
                        warm->n_relations, n);
    acq_status status = acq_nbfnet_new(n, t->params->seed, &t->model, error);
    if (status == ACQ_OK && warm != NULL)
        memcpy(t->model->parameters.values, warm->parameters.values,
               warm->parameters.n * sizeof *warm->parameters.values);
    return status;
}

static acq_status open_training(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_train_nbfnet_params *params = t->params;
    acq_status status = open_world(t, graph, error);
    if (status == ACQ_OK)
        status = open_model(t, graph, error);
    if (status == ACQ_OK)
        status = acq_optimizer_init(&t->optimizer, &params->optimizer, t->model->parameters.values,
                                    t->model->parameters.n, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_batch_init(&t->batch, params, &t->world, t->scales, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_init(&t->gradient, t->model, params, error);
    if (status == ACQ_OK && params->resume)
        status = read_checkpoint(t, error);
    return status;
}

static void close_training(training *t)
{
    acq_nbfnet_gradient_deinit(&t->gradient);
    acq_nbfnet_batch_deinit(&t->batch);
    acq_optimizer_deinit(&t->optimizer);
    acq_nbfnet_free(t->model);
    acq_free(t->scales);
    acq_edges_deinit(&t->world);
}

static acq_status train_batch(training *t, acq_error *error)
{
    double loss, share = get_share(t);
    acq_status status = acq_nbfnet_batch_draw(&t->batch, t->done, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_gradient_compute(&t->gradient, &t->batch, &loss, error);
    if (status != ACQ_OK)
        return status;
    double norm =
        acq_optimizer_update(&t->optimizer, share, t->gradient.values, t->model->parameters.values);
    if (!isfinite(norm))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the training went astray at batch %" PRIu64
                        ": the gradient is no number; train with a smaller rate",
                        t->done);
    t->loss = t->done == 0 ? loss : loss_keep * t->loss + (1 - loss_keep) * loss;
    t->done++;
    return ACQ_OK;
}

/* What happens between batches. */
static acq_status look_around(training *t, acq_error *error)
{
    const acq_train_nbfnet_params *params = t->params;
    double share = get_share(t), waited = (double)(acq_clock_ns() - t->last_checkpoint) * 1e-9;
    acq_train_progress now = {.phase = "training",
                              .done = (double)t->done,
                              .total = share > 0 ? (double)t->done / share : 0,
                              .loss = t->loss,
                              .seconds = get_seconds(t)};
    bool goes_on = params->progress == NULL || params->progress(params->context, &now);
    if (!goes_on || waited >= params->checkpoint_seconds) {
        acq_status status = write_checkpoint(t, error);
        if (status != ACQ_OK)
            return status;
    }
    return goes_on ? ACQ_OK : acq_fail(error, ACQ_ERR_INTERRUPTED, "the training was stopped");
}

static acq_status train(training *t, acq_error *error)
{
    acq_status status = write_checkpoint(t, error); /* it can be written, and is there */
    while (status == ACQ_OK && get_share(t) < 1) {
        status = train_batch(t, error);
        if (status == ACQ_OK)
            status = look_around(t, error);
    }
    return status == ACQ_OK ? write_checkpoint(t, error) : status;
}

acq_status acq_train_nbfnet(const acq_graph *graph, const acq_train_nbfnet_params *params,
                            acq_nbfnet **out, acq_error *error)
{
    training t = {.params = params, .began = acq_clock_ns()};
    acq_status status = check_params(params, error);
    if (status != ACQ_OK)
        return status;
    print_options(&t, graph);
    status = open_training(&t, graph, error);
    if (status == ACQ_OK)
        status = train(&t, error);
    if (status == ACQ_OK) {
        float *values = t.model->parameters.values;
        acq_optimizer_copy_average(&t.optimizer, values, values);
        *out = t.model;
        t.model = NULL;
    }
    close_training(&t);
    return status;
}
