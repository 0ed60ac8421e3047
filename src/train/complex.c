/* complex.c - the loop of a ComplEx training; see complex.h, and complex_trainer.h for a step. */
#include "train/complex.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "models/complex/parts.h"
#include "train/complex_trainer.h"

static const double SMOOTH = .98;   /* what the shown loss keeps at each step */
static const float WARM_EPOCHS = 8; /* that a warm start counts as trained for */

/* The random vectors of the model, those of warm over them. */
static void start_vectors(acq_complex_trainer *self, const acq_complex *model)
{
    const acq_complex *warm = self->params->warm;
    size_t bytes = self->width * sizeof(float);
    memcpy(self->entities, acq_complex_get_entity(model, 0), self->n_entities * bytes);
    memcpy(self->relations, acq_complex_get_relation(model, 0), self->n_pairs * bytes);
    if (warm == NULL)
        return;
    memcpy(self->entities, acq_complex_get_entity(warm, 0), warm->n_entities * bytes);
    memcpy(self->relations, acq_complex_get_relation(warm, 0), warm->n_relations / 2 * bytes);
}

static void finish_vectors(const acq_complex_trainer *self, acq_complex *model)
{
    size_t bytes = self->width * sizeof(float);
    memcpy(acq_complex_get_entity(model, 0), self->entities, self->n_entities * bytes);
    memcpy(acq_complex_get_relation(model, 0), self->relations, self->n_pairs * bytes);
}

/* Adagrad's first step from sums of zero is as long as the rate, whatever the slope: it would
 * undo what was learnt. So the first epoch of a warm start moves nothing and only fills the sums,
 * which then count as those of a longer training. */
static bool is_warming(const acq_complex_trainer *self)
{
    return self->params->warm != NULL && self->step < acq_complex_count_batches(self);
}

static void end_warming(acq_complex_trainer *self)
{
    if (self->params->warm == NULL || self->step != acq_complex_count_batches(self))
        return;
    for (size_t tensor = 2; tensor < 4; tensor++)
        self->kernels->scale(acq_tensor_get_length(&self->state.tensors[tensor]), WARM_EPOCHS,
                             self->state.values + self->state.tensors[tensor].offset);
}

/* Constant for the first half, then linear down to its last share. */
static double get_rate(const acq_complex_trainer *self, double progress)
{
    const acq_train_complex_params *params = self->params;
    if (is_warming(self))
        return 0;
    double late = progress < .5 ? 0 : progress < 1 ? 2 * progress - 1 : 1;
    return params->rate * (1 + late * (params->last_rate - 1));
}

/* What is shown: the mean over facts of each loss. */
static double get_mean_loss(const acq_complex_trainer *self, double tails, double relations)
{
    uint64_t n = 0, n_facts = 2 * (uint64_t)self->batch.n_facts;
    for (size_t i = 0; i < self->batch.n_rows; i++)
        n += self->batch.rows[i].n_tails;
    return tails / (double)n + (n_facts == 0 ? 0 : relations / (double)n_facts);
}

static acq_status run_step(acq_complex_trainer *self, double progress, acq_error *error)
{
    double tails = 0, relations = 0;
    end_warming(self);
    acq_status status = acq_complex_choose(self, self->step);
    if (status == ACQ_OK)
        status = acq_complex_tails(self, &tails);
    if (status == ACQ_OK)
        status = acq_complex_relations(self, &relations);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    double loss = get_mean_loss(self, tails, relations);
    if (!isfinite(loss))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the training of ComplEx diverged at step %llu; lower the rate",
                        (unsigned long long)self->step);
    acq_complex_update(self, get_rate(self, progress));
    acq_complex_forget(self);
    self->loss = isnan(self->loss) ? loss : SMOOTH * self->loss + (1 - SMOOTH) * loss;
    self->step++;
    return ACQ_OK;
}

typedef struct run_clock {
    int64_t start, saved;
} run_clock;

static double get_seconds(const acq_complex_trainer *self, const run_clock *clock)
{
    return self->seconds + 1e-9 * (double)(acq_clock_ns() - clock->start);
}

static acq_status save_if_due(const acq_complex_trainer *self, run_clock *clock, bool is_last,
                              acq_error *error)
{
    int64_t now = acq_clock_ns();
    if (self->params->checkpoint == NULL ||
        (!is_last && 1e-9 * (double)(now - clock->saved) < self->params->checkpoint_seconds))
        return ACQ_OK;
    acq_status status = acq_complex_save(self, get_seconds(self, clock), error);
    clock->saved = acq_clock_ns();
    return status;
}

static bool report(const acq_complex_trainer *self, double progress, double seconds)
{
    const acq_train_complex_params *params = self->params;
    acq_train_progress now = {"training ComplEx", progress * params->epochs, params->epochs,
                              self->loss, seconds};
    return params->progress == NULL || params->progress(params->context, &now);
}

/* The share of the training that is over: of its steps or of its time, whichever is more. */
static double get_progress(const acq_complex_trainer *self, uint64_t n_steps, double seconds)
{
    double share = (double)self->step / (double)n_steps, limit = self->params->seconds;
    double spent = limit > 0 ? seconds / limit : 0;
    return share > spent ? share : spent;
}

static acq_status run(acq_complex_trainer *self, acq_error *error)
{
    run_clock clock = {acq_clock_ns(), acq_clock_ns()};
    uint64_t n_steps =
        (uint64_t)ceil(self->params->epochs * (double)acq_complex_count_batches(self));
    for (;;) {
        double seconds = get_seconds(self, &clock), progress = get_progress(self, n_steps, seconds);
        if (!report(self, progress < 1 ? progress : 1, seconds)) {
            acq_status status = save_if_due(self, &clock, true, error);
            return status != ACQ_OK ? status
                                    : acq_fail(error, ACQ_ERR_INTERRUPTED,
                                               "the training of ComplEx was interrupted");
        }
        if (progress >= 1)
            return ACQ_OK;
        acq_status status = run_step(self, progress, error);
        if (status == ACQ_OK)
            status = save_if_due(self, &clock, false, error);
        if (status != ACQ_OK)
            return status;
    }
}

static acq_status train(acq_complex_trainer *self, acq_complex *model, acq_error *error)
{
    acq_status status = ACQ_OK;
    start_vectors(self, model);
    if (self->params->resume)
        status = acq_complex_resume(self, error);
    if (status == ACQ_OK)
        status = run(self, error);
    finish_vectors(self, model);
    return status;
}

acq_status acq_train_complex(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_complex **out, acq_error *error)
{
    acq_complex_trainer self = {0};
    acq_complex *model = NULL;
    acq_status status = acq_complex_check_params(graph, params, error);
    if (status == ACQ_OK)
        status = acq_complex_trainer_init(&self, graph, params, error);
    if (status == ACQ_OK)
        status = acq_complex_new(self.n_entities, 2 * self.n_pairs, self.rank, params->scale,
                                 params->seed, &model, error);
    if (status == ACQ_OK)
        status = train(&self, model, error);
    acq_complex_trainer_deinit(&self);
    if (status == ACQ_OK)
        *out = model;
    else
        acq_complex_free(model);
    return status;
}
