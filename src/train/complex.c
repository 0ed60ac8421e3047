/* complex.c - the training of ComplEx; see train.h, and models/complex/model.h for a step. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "train/batch.h"
#include "train/trainer.h"

enum { VECTORS = 32 }; /* that a thread updates at a time */

static const float WARM_EPOCHS = 8; /* that a warm start counts as trained for */

void acq_train_complex_params_init(acq_train_complex_params *params)
{
    *params = (acq_train_complex_params){
        .rank = 256,
        .rate = .1,
        .last_rate = .1,
        .batch = 64,
        .candidates = 600,
        .n3 = .07,
        .relation_weight = -1,
        .scale = 1e-3,
        .buckets = 1,
        .epochs = 14,
        .n_threads = acq_threads_available(),
        .checkpoint_seconds = 60,
    };
}

bool acq_train_complex_is_half(const acq_train_complex_params *params)
{
    return params->precision == ACQ_PRECISION_BF16 ||
           (params->precision == ACQ_PRECISION_AUTO && acq_bf16_is_fast());
}

static acq_status check_number(const char *name, double value, bool may_be_zero, acq_error *error)
{
    if (isfinite(value) && (value > 0 || (may_be_zero && value == 0)))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "%s of ComplEx must %s 0, not %g", name,
                    may_be_zero ? "not be below" : "be above", value);
}

static acq_status check_numbers(const acq_train_complex_params *params, acq_error *error)
{
    const struct {
        const char *name;
        double value;
        bool may_be_zero;
    } numbers[] = {{"the rate", params->rate, false},
                   {"the last rate", params->last_rate, false},
                   {"the scale", params->scale, false},
                   {"the number of epochs", params->epochs, false},
                   {"the weight of N3", params->n3, true},
                   {"the weight of relations", fabs(params->relation_weight), true},
                   {"the time", params->seconds, true}};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == ACQ_OK; i++)
        status = check_number(numbers[i].name, numbers[i].value, numbers[i].may_be_zero, error);
    return status;
}

static acq_status check_warm(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_error *error)
{
    const acq_complex *warm = params->warm;
    if (warm == NULL)
        return ACQ_OK;
    if (warm->rank != params->rank)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the vectors to start from have rank %u, not %u; ask for the same rank",
                        warm->rank, params->rank);
    if (warm->is_reciprocal != params->reciprocal)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the vectors to start from are %sreciprocal; give --reciprocal to both "
                        "trainings or to none",
                        warm->is_reciprocal ? "" : "not ");
    if (warm->n_entities > acq_graph_get_n_entities(graph) ||
        warm->n_relations > acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the vectors to start from are of a larger graph; start from random ones");
    return ACQ_OK;
}

static acq_status check_params(const acq_graph *graph, const acq_train_complex_params *params,
                               acq_error *error)
{
    acq_status status =
        acq_complex_check_sizes(acq_graph_get_n_relations(graph), params->rank, error);
    if (status == ACQ_OK && params->batch == 0)
        status = acq_fail(error, ACQ_ERR_USAGE, "a batch of ComplEx needs at least one row");
    if (status == ACQ_OK && params->candidates == 1)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "ComplEx draws at least two candidates, or takes all with 0");
    if (status == ACQ_OK)
        status = check_numbers(params, error);
    if (status == ACQ_OK && params->buckets > 1 && (params->warm != NULL || params->ranks != NULL))
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "vectors in buckets begin as random ones and are trained by one process; "
                          "leave --buckets out");
    if (status == ACQ_OK && params->buckets > acq_graph_get_n_entities(graph) / 2)
        status = params->buckets < 2
                     ? ACQ_OK
                     : acq_fail(error, ACQ_ERR_USAGE, "%u buckets for %u entities; use fewer",
                                params->buckets, acq_graph_get_n_entities(graph));
    return status == ACQ_OK ? check_warm(graph, params, error) : status;
}

static acq_status init_arrays(acq_complex_trainer *self, acq_error *error)
{
    self->squares = acq_zalloc(self->model->parameters.n, sizeof *self->squares);
    self->relation_counts = acq_zalloc(self->g.n_vectors, sizeof *self->relation_counts);
    self->met = acq_zalloc(self->g.n_entities, sizeof *self->met);
    self->near = acq_alloc(self->g.n_entities, sizeof *self->near);
    if (self->squares == NULL || self->relation_counts == NULL || self->met == NULL ||
        self->near == NULL)
        return acq_fail_memory(error);
    return acq_complex_list_rows(self, error);
}

acq_status acq_complex_trainer_init(acq_complex_trainer *self, const acq_graph *graph,
                                    const acq_train_complex_params *params, acq_error *error)
{
    *self = (acq_complex_trainer){.graph = graph, .params = params};
    acq_status status = (params->reciprocal ? acq_complex_new_reciprocal : acq_complex_new)(
        acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph), params->rank,
        params->scale, params->seed, &self->model, error);
    return status == ACQ_OK ? acq_complex_trainer_open(self, error) : status;
}

acq_status acq_complex_trainer_open(acq_complex_trainer *self, acq_error *error)
{
    const acq_train_complex_params *params = self->params;
    acq_status status =
        acq_complex_gradient_init(&self->g, self->model, params->batch, params->n_threads, error);
    self->g.is_half = acq_train_complex_is_half(params);
    return status == ACQ_OK ? init_arrays(self, error) : status;
}

void acq_complex_trainer_deinit(acq_complex_trainer *self)
{
    acq_complex_gradient_deinit(&self->g);
    acq_complex_free(self->model);
    acq_free(self->squares);
    acq_free(self->links);
    acq_free(self->rows);
    acq_free(self->batches);
    acq_free(self->fact_order);
    acq_free(self->order);
    acq_free(self->relation_counts);
    acq_free(self->met);
    acq_free(self->near);
}

/* The vectors of warm over the random ones. */
static void start_warm(const acq_complex *warm, acq_complex *model)
{
    size_t bytes = 2 * (size_t)model->rank * sizeof(float);
    if (warm == NULL)
        return;
    memcpy(acq_complex_get_entity(model, 0), acq_complex_get_entity(warm, 0),
           warm->n_entities * bytes);
    memcpy(acq_complex_get_relation(model, 0), acq_complex_get_relation(warm, 0),
           acq_complex_get_vector(warm->is_reciprocal, warm->n_relations) * bytes);
}

typedef struct update_work {
    const acq_complex_trainer *self;
    float rate;
} update_work;

/* The sums of squares of a vector of the model. */
static float *get_squares(const acq_complex_trainer *self, const float *vector)
{
    return self->squares + (vector - self->model->parameters.values);
}

static acq_status update_entities(void *context, size_t item, unsigned thread)
{
    const update_work *work = context;
    const acq_complex_gradient *g = &work->self->g;
    size_t first = item * VECTORS, end = first + VECTORS;
    (void)thread;
    for (size_t i = first; i < end && i < g->batch.n_touched; i++) {
        float *vector = g->entities + g->batch.entities[i] * g->width;
        float n3 = (float)(work->self->params->n3 * g->batch.counts[i]);
        g->kernels->adagrad_n3(g->rank, g->rank, work->rate, n3, g->gradient.at + i * g->ld,
                               get_squares(work->self, vector), vector);
    }
    return ACQ_OK;
}

static void update_relation(const update_work *work, size_t pair)
{
    const acq_complex_gradient *g = &work->self->g;
    size_t at = pair * g->width;
    float n3 = (float)(work->self->params->n3 * work->self->relation_counts[pair]);
    g->kernels->adagrad_n3(g->rank, g->rank, work->rate, n3, g->relation_gradient + at,
                           get_squares(work->self, g->relations + at), g->relations + at);
}

/* Blocks of entities, then blocks of relations. */
static acq_status update_vectors(void *context, size_t item, unsigned thread)
{
    const update_work *work = context;
    const acq_complex_gradient *g = &work->self->g;
    size_t n = acq_complex_count_blocks(g->batch.n_touched, VECTORS);
    if (item < n)
        return update_entities(context, item, thread);
    for (size_t i = (item - n) * VECTORS; i < (item - n + 1) * VECTORS && i < g->n_vectors; i++)
        update_relation(work, i);
    return ACQ_OK;
}

void acq_complex_update(acq_complex_trainer *self, double rate)
{
    update_work work = {self, (float)rate};
    acq_pool_run(self->g.pool,
                 acq_complex_count_blocks(self->g.batch.n_touched, VECTORS) +
                     acq_complex_count_blocks(self->g.n_vectors, VECTORS),
                 update_vectors, &work);
}

/* With ranks the state has the components of this one, and `whole` those of all: a checkpoint's,
 * and in the end the model's. */
typedef struct training {
    acq_complex_trainer state;
    acq_trainer trainer;
    const acq_train_complex_params *params;
    acq_train_complex_params own; /* the same, with the components of this rank */
    uint32_t first;               /* of these components */
    acq_complex *whole;           /* NULL: the state has all */
    float *whole_squares;
} training;

/* Adagrad's first step from sums of zero is as long as the rate, whatever the slope: it would
 * undo what was learnt. So the first epoch of a warm start moves nothing and only fills the sums,
 * which then count as those of a longer training. */
static bool is_warming(const training *t)
{
    return t->state.params->warm != NULL && t->trainer.step < acq_complex_count_batches(&t->state);
}

static void end_warming(training *t)
{
    if (t->state.params->warm != NULL && t->trainer.step == acq_complex_count_batches(&t->state))
        t->state.g.kernels->scale(t->state.model->parameters.n, WARM_EPOCHS, t->state.squares);
}

/* Constant for the first half, then linear down to its last share. */
double acq_complex_get_rate(const acq_train_complex_params *params, double share)
{
    double late = share < .5 ? 0 : share < 1 ? 2 * share - 1 : 1;
    return params->rate * (1 + late * (params->last_rate - 1));
}

static double get_rate(const training *t, double share)
{
    return is_warming(t) ? 0 : acq_complex_get_rate(t->state.params, share);
}

/* What is shown: the mean over facts of each loss. */
static double get_mean_loss(const acq_complex_gradient *g, double tails, double relations)
{
    const acq_complex_batch *batch = &g->batch;
    uint64_t n = 0, n_facts = (g->is_reciprocal ? 1 : 2) * (uint64_t)batch->n_facts;
    for (size_t i = 0; i < batch->n_rows; i++)
        n += batch->rows[i].n_tails;
    return tails / (double)n + (n_facts == 0 ? 0 : relations / (double)n_facts);
}

acq_status acq_complex_compute(acq_complex_trainer *self, uint64_t step, double *loss,
                               acq_error *error)
{
    double tails = 0, relations = 0;
    acq_status status = acq_complex_choose(self, step);
    if (status == ACQ_OK)
        status = acq_complex_gradient_compute(&self->g, &tails, &relations);
    if (status == ACQ_ERR_IO)
        return acq_fail(error, status, "the ranks cannot add up their scores");
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    *loss = get_mean_loss(&self->g, tails, relations);
    return ACQ_OK;
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    training *t = self;
    end_warming(t);
    return acq_complex_compute(&t->state, step, loss, error);
}

double acq_complex_finish(acq_complex_trainer *self, double rate)
{
    if (!acq_complex_gradient_is_finite(&self->g))
        return (double)NAN;
    acq_complex_update(self, rate);
    acq_complex_forget(self);
    return 0;
}

static void update(void *self, double share, double *norm)
{
    training *t = self;
    *norm = acq_complex_finish(&t->state, get_rate(t, share));
}

/* ---- ranks ---- */

/* The components of this rank, to or from a block of all. */
static void copy_components(const training *t, float *all, float *own, bool into_all)
{
    const acq_parameters *parameters = &t->whole->parameters;
    size_t n = t->own.rank * sizeof *own, step = t->params->rank, width = t->own.rank;
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        float *whole = all + parameters->tensors[i].offset + t->first;
        float *part = own + t->state.model->parameters.tensors[i].offset;
        for (size_t half = 0; half < 2 * (size_t)parameters->tensors[i].rows; half++)
            memcpy(into_all ? whole + half * step : part + half * width,
                   into_all ? part + half * width : whole + half * step, n);
    }
}

static acq_status gather(const training *t, float *all, float *own, acq_error *error)
{
    size_t n = t->whole->parameters.n;
    memset(all, 0, n * sizeof *all);
    copy_components(t, all, own, true);
    return acq_ranks_join(t->params->ranks, all, n, sizeof *all, error);
}

/* What a checkpoint keeps, from all ranks. */
static acq_status shape(void *self, const acq_safetensors *file, acq_error *error)
{
    training *t = self;
    if (t->whole == NULL || file != NULL)
        return ACQ_OK;
    acq_status status =
        gather(t, t->whole->parameters.values, t->state.model->parameters.values, error);
    return status == ACQ_OK ? gather(t, t->whole_squares, t->state.squares, error) : status;
}

static acq_status take(void *self, acq_error *error)
{
    training *t = self;
    (void)error;
    if (t->whole != NULL) {
        copy_components(t, t->whole->parameters.values, t->state.model->parameters.values, false);
        copy_components(t, t->whole_squares, t->state.squares, false);
    }
    return ACQ_OK;
}

/* How many components this rank has, and the first of them. */
static acq_status divide(training *t, acq_error *error)
{
    const acq_ranks *ranks = t->params->ranks;
    t->own = *t->params;
    if (ranks == NULL)
        return ACQ_OK;
    if (ranks->n > t->params->rank)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "vectors of rank %u cannot be shared out over %u processes; start fewer",
                        t->params->rank, ranks->n);
    t->first = (uint32_t)((uint64_t)t->params->rank * ranks->rank / ranks->n);
    t->own.rank = (uint32_t)((uint64_t)t->params->rank * (ranks->rank + 1) / ranks->n) - t->first;
    return ACQ_OK;
}

static acq_status open_whole(training *t, const acq_graph *graph, acq_error *error)
{
    const acq_train_complex_params *p = t->params;
    if (p->ranks == NULL)
        return ACQ_OK;
    acq_status status = (p->reciprocal ? acq_complex_new_reciprocal : acq_complex_new)(
        acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph), p->rank, p->scale,
        p->seed, &t->whole, error);
    if (status != ACQ_OK)
        return status;
    t->whole_squares = acq_zalloc(t->whole->parameters.n, sizeof *t->whole_squares);
    return t->whole_squares == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* ---- the run ---- */

static acq_status start(training *t, const acq_graph *graph, acq_error *error)
{
    acq_status status = divide(t, error);
    if (status == ACQ_OK)
        status = acq_complex_trainer_init(&t->state, graph, &t->own, error);
    t->state.g.ranks = t->params->ranks;
    if (status == ACQ_OK)
        status = open_whole(t, graph, error);
    if (status != ACQ_OK)
        return status;
    start_warm(t->params->warm, t->whole == NULL ? t->state.model : t->whole);
    return take(t, error);
}

static acq_status run(training *t, acq_error *error)
{
    static const acq_trainer_ops ops = {
        .compute = compute, .update = update, .shape = shape, .take = take};
    const acq_train_complex_params *params = t->params;
    acq_complex *kept = t->whole == NULL ? t->state.model : t->whole;
    acq_trainer_origin from = {ACQ_TRAIN_COMPLEX, params, &t->state.graph, 1,
                               params->warm == NULL ? NULL : &params->warm->parameters};
    double n_steps = ceil(params->epochs * (double)acq_complex_count_batches(&t->state));
    t->trainer = (acq_trainer){
        .ops = &ops,
        .self = t,
        .phase = "training ComplEx",
        .n_steps = (uint64_t)n_steps,
        .epochs = params->epochs,
        .parameters = &kept->parameters,
        .parts = {{"squares", t->whole == NULL ? t->state.squares : t->whole_squares, true}},
        .n_parts = 1,
        ACQ_TRAINER_OF_PARAMS(params)};
    acq_status status = acq_trainer_run_from(&t->trainer, &from, error);
    return status == ACQ_OK ? shape(t, NULL, error) : status;
}

acq_status acq_train_complex(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_complex **out, acq_error *error)
{
    training t = {.params = params};
    acq_status status = check_params(graph, params, error);
    if (status != ACQ_OK)
        return status;
    if (params->buckets > 1)
        return acq_complex_train_buckets(graph, params, out, error);
    status = start(&t, graph, error);
    if (status == ACQ_OK)
        status = run(&t, error);
    if (status == ACQ_OK) {
        acq_complex **kept = t.whole == NULL ? &t.state.model : &t.whole;
        *out = *kept;
        *kept = NULL;
    }
    acq_complex_trainer_deinit(&t.state);
    acq_complex_free(t.whole);
    acq_free(t.whole_squares);
    return status;
}
