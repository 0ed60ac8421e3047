/* trainer.c - see trainer.h. */
#include "train/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "base/budget.h"

static const double LOSS_KEEP = .98; /* of the smoothed loss, per batch */

double acq_trainer_get_seconds(const acq_trainer *trainer)
{
    return trainer->seconds_before + (double)(acq_clock_ns() - trainer->began) * 1e-9;
}

double acq_trainer_get_share(const acq_trainer *t)
{
    double by_steps = t->n_steps > 0 ? (double)t->step / (double)t->n_steps : 0;
    double spent = acq_trainer_get_seconds(t) + t->lead + t->kept;
    double by_time = t->seconds > 0 ? spent / t->seconds : 0;
    return fmin(1, fmax(by_steps, by_time));
}

double acq_trainer_get_loss(const acq_trainer *trainer)
{
    return trainer->loss_weight > 0 ? trainer->loss_sum / trainer->loss_weight : 0;
}

static acq_status fail_diverged(const acq_trainer *t, const char *what, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the training diverged at batch %" PRIu64
                    ": the %s is not a finite number; use a smaller --rate",
                    t->step, what);
}

/* False: the gradient was not finite, and nothing has changed. */
static bool update(acq_trainer *t, double share)
{
    if (t->optimizer == NULL) {
        t->ops->update(t->self, share, &t->norm);
        return isfinite(t->norm);
    }
    uint64_t before = t->optimizer->step;
    t->norm = acq_optimizer_update(t->optimizer, share, t->gradient, t->parameters->values);
    return t->optimizer->step != before;
}

static acq_status run_step(acq_trainer *t, double share, acq_error *error)
{
    double loss = 0;
    int64_t before = acq_clock_ns();
    acq_status status = t->ops->compute(t->self, t->step, &loss, error);
    if (status != ACQ_OK)
        return status;
    if (!isfinite(loss))
        return fail_diverged(t, "loss", error);
    if (!update(t, share))
        return fail_diverged(t, "gradient", error);
    if (t->ops->changed != NULL)
        t->ops->changed(t->self);
    t->loss_sum = LOSS_KEEP * t->loss_sum + (1 - LOSS_KEEP) * loss;
    t->loss_weight = LOSS_KEEP * t->loss_weight + (1 - LOSS_KEEP);
    t->step++;
    t->step_seconds = (double)(acq_clock_ns() - before) * 1e-9;
    return ACQ_OK;
}

static acq_status save(acq_trainer *t, acq_error *error)
{
    acq_status status = t->checkpoint == NULL ? ACQ_OK : acq_trainer_write(t, error);
    t->saved = acq_clock_ns();
    return status;
}

static acq_status look_around(acq_trainer *t, acq_error *error)
{
    bool saves = (double)(acq_clock_ns() - t->saved) * 1e-9 >= t->checkpoint_seconds;
    acq_status status = ACQ_OK;
    if (t->ops->between != NULL)
        status = t->ops->between(t->self, &saves, error);
    return status == ACQ_OK && saves ? save(t, error) : status;
}

static bool report(const acq_trainer *t, double share)
{
    acq_train_progress now = {.phase = t->phase,
                              .done = t->epochs > 0 ? share * t->epochs : (double)t->step,
                              .total = t->epochs,
                              .loss = acq_trainer_get_loss(t),
                              .seconds = acq_trainer_get_seconds(t)};
    if (t->epochs == 0)
        now.total = share > 0 ? (double)t->step / share : (double)t->n_steps;
    return t->progress == NULL || t->progress(t->context, &now);
}

/* Writing the model takes time too. */
static double get_lead(const acq_trainer *t)
{
    double before = (double)(t->began - t->begin_ns) * 1e-9;
    return t->begin_ns > 0 ? before + fmin(.05 + .03 * t->seconds, 2) : 0;
}

/* Would another step end after the time? One step is always done. */
static bool is_late(const acq_trainer *t)
{
    double spent = acq_trainer_get_seconds(t) + t->lead + t->kept + .7 * t->step_seconds;
    return t->begin_ns > 0 && t->seconds > 0 && t->step > 0 && spent > t->seconds;
}

static acq_status open(acq_trainer *t, acq_error *error)
{
    t->began = t->saved = acq_clock_ns();
    t->lead = get_lead(t);
    if (t->resume && t->checkpoint == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "resuming needs the path of a checkpoint");
    acq_status status = ACQ_OK;
    if (t->resume && access(t->checkpoint, F_OK) == 0)
        status = acq_trainer_read(t, error);
    if (status == ACQ_OK && t->ops->changed != NULL)
        t->ops->changed(t->self);
    return status == ACQ_OK ? save(t, error) : status;
}

acq_status acq_trainer_run(acq_trainer *t, acq_error *error)
{
    bool goes_on = true;
    acq_status status = open(t, error);
    while (status == ACQ_OK) {
        double share = acq_trainer_get_share(t);
        goes_on = report(t, share);
        if (!goes_on || share >= 1 || is_late(t))
            break;
        status = run_step(t, share, error);
        if (status == ACQ_OK)
            status = look_around(t, error);
    }
    if (status == ACQ_OK)
        status = save(t, error);
    if (status == ACQ_OK && !goes_on)
        return acq_fail(error, ACQ_ERR_INTERRUPTED,
                        "the training was interrupted; --resume goes on");
    return status;
}
