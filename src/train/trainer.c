/* trainer.c - see trainer.h: the loop, then the file that a training goes on from. */
#include "train/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/text.h"
#include "tensor/safetensors.h"

static const double LOSS_KEEP = .98; /* of the smoothed loss, per batch */

static double measure_seconds(const acq_trainer *t)
{
    return t->seconds_before + (double)(acq_clock_ns() - t->began) * 1e-9;
}

double acq_trainer_get_seconds(const acq_trainer *trainer)
{
    return trainer->ranks == NULL ? measure_seconds(trainer) : trainer->agreed;
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

static bool is_saving_due(const acq_trainer *t)
{
    return (double)(acq_clock_ns() - t->saved) * 1e-9 >= t->checkpoint_seconds;
}

static acq_status look_around(acq_trainer *t, bool saves, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (t->ops->between != NULL)
        status = t->ops->between(t->self, &saves, error);
    return status == ACQ_OK && saves ? save(t, error) : status;
}

/* Done is what was trained; the total is that of the schedule, or what the time will allow. */
static bool report(const acq_trainer *t, double share)
{
    bool in_epochs = t->epochs > 0 && t->n_steps > 0;
    double unit = in_epochs ? t->epochs / (double)t->n_steps : 1;
    acq_train_progress now = {.phase = t->phase,
                              .done = unit * (double)t->step,
                              .total = in_epochs ? t->epochs : (double)t->n_steps,
                              .loss = acq_trainer_get_loss(t),
                              .seconds = acq_trainer_get_seconds(t)};
    if (share > 0 && t->step > 0)
        now.total = in_epochs ? fmin(t->epochs, now.done / share) : now.done / share;
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
    double spent = measure_seconds(t) + t->lead + t->kept + .7 * t->step_seconds;
    return t->begin_ns > 0 && t->seconds > 0 && t->step > 0 && spent > t->seconds;
}

static acq_status open(acq_trainer *t, acq_error *error)
{
    t->began = t->saved = acq_clock_ns();
    t->lead = get_lead(t);
    if (t->resume && t->checkpoint == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "resuming needs the path of a checkpoint");
    acq_status status = acq_ranks_follow(t->ranks, &t->lead, sizeof t->lead, error);
    if (status == ACQ_OK && t->resume && access(t->checkpoint, F_OK) == 0)
        status = acq_trainer_read(t, error);
    if (status == ACQ_OK && t->ops->changed != NULL)
        t->ops->changed(t->self);
    return status == ACQ_OK ? save(t, error) : status;
}

/* What is decided before a batch. */
typedef struct decision {
    double seconds;
    uint8_t stops; /* not 0: somebody says so */
    uint8_t is_late, saves;
} decision;

/* By the first rank, but for `stops`, by any. */
static acq_status agree(acq_trainer *t, decision *out, acq_error *error)
{
    decision by_first = {
        .seconds = measure_seconds(t), .is_late = is_late(t), .saves = is_saving_due(t)};
    uint8_t stops = out->stops;
    *out = (decision){0};
    if (acq_ranks_is_first(t->ranks))
        *out = by_first;
    out->stops = stops;
    acq_status status = acq_ranks_join(t->ranks, out, 1, sizeof *out, error);
    t->agreed = out->seconds;
    return status;
}

static acq_status run_batches(acq_trainer *t, bool *goes_on, acq_error *error)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK) {
        decision now = {.stops = !report(t, acq_trainer_get_share(t))};
        status = agree(t, &now, error);
        double share = acq_trainer_get_share(t);
        *goes_on = now.stops == 0;
        if (status != ACQ_OK || !*goes_on || share >= 1 || now.is_late)
            break;
        status = run_step(t, share, error);
        if (status == ACQ_OK)
            status = look_around(t, t->ranks == NULL ? is_saving_due(t) : now.saves, error);
    }
    return status;
}

acq_status acq_trainer_run(acq_trainer *t, acq_error *error)
{
    bool goes_on = true;
    acq_status status = open(t, error);
    if (status == ACQ_OK)
        status = run_batches(t, &goes_on, error);
    if (status == ACQ_OK)
        status = save(t, error);
    if (status == ACQ_OK && !goes_on)
        return acq_fail(error, ACQ_ERR_INTERRUPTED,
                        "the training was interrupted; --resume goes on");
    return status;
}

acq_status acq_trainer_run_from(acq_trainer *t, const acq_trainer_origin *from, acq_error *error)
{
    acq_text identity;
    acq_text_init(&identity);
    acq_status status = acq_train_print_identity(from->kind, from->params, from->graphs,
                                                 from->n_graphs, from->warm, &identity, error);
    t->identity = identity.bytes;
    if (status == ACQ_OK)
        status = acq_trainer_run(t, error);
    if (status == ACQ_OK && t->optimizer != NULL && t->optimizer->params.average > 0)
        acq_optimizer_copy_average(t->optimizer, NULL, t->parameters->values);
    t->identity = NULL;
    acq_text_deinit(&identity);
    return status;
}

/* ---- checkpoint ----
 *
 * Numbers are written so that they are read back to the last bit, with a point whatever the locale.
 * Everything is read and checked before anything is handed over. The file is written under another
 * name and renamed, so that the one before stays until the new one is whole. */

enum {
    MOST_PARTS = ACQ_TRAINER_MOST_PARTS + 4,
    OWN_NUMBERS = 4,
    MOST_NUMBERS = ACQ_TRAINER_MOST_NUMBERS + OWN_NUMBERS,
    NUMBER_ROOM = 32,
    OWN_METADATA = 2
};

static const char *const format = "anycq training 2";

/* The tensors of all parts in one block. */
typedef struct whole {
    acq_arena arena; /* of the names */
    acq_trainer_part parts[MOST_PARTS];
    size_t n_parts;
    acq_parameters parameters;
} whole;

static void list_parts(const acq_trainer *t, whole *all)
{
    all->parts[all->n_parts++] = (acq_trainer_part){"weights", t->parameters->values, false};
    if (t->optimizer != NULL) {
        all->parts[all->n_parts++] = (acq_trainer_part){"first", t->optimizer->first, false};
        all->parts[all->n_parts++] = (acq_trainer_part){"second", t->optimizer->second, true};
        all->parts[all->n_parts++] = (acq_trainer_part){"average", t->optimizer->average, false};
    }
    for (size_t i = 0; i < t->n_parts; i++)
        all->parts[all->n_parts++] = t->parts[i];
}

static char *join(acq_arena *arena, const char *part, const char *name)
{
    size_t room = strlen(part) + strlen(name) + 2;
    char *joined = acq_arena_alloc(arena, room, 1);
    if (joined != NULL)
        snprintf(joined, room, "%s/%s", part, name);
    return joined;
}

static acq_status whole_init(whole *all, const acq_trainer *t, acq_error *error)
{
    size_t n = t->parameters->n_tensors;
    *all = (whole){0};
    acq_arena_init(&all->arena);
    list_parts(t, all);
    acq_shape *shapes = acq_arena_alloc(&all->arena, all->n_parts * n, sizeof *shapes);
    if (shapes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < all->n_parts * n; i++) {
        const acq_tensor *tensor = &t->parameters->tensors[i % n];
        const char *name = join(&all->arena, all->parts[i / n].name, tensor->name);
        if (name == NULL)
            return acq_fail_memory(error);
        shapes[i] = (acq_shape){.name = name, .rows = tensor->rows, .cols = tensor->cols};
    }
    n *= all->n_parts;
    if (t->is_large)
        return acq_parameters_init_on_disk(&all->parameters, shapes, n, t->checkpoint, error);
    acq_status status = acq_parameters_init(&all->parameters, shapes, n);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static void whole_deinit(whole *all)
{
    acq_parameters_deinit(&all->parameters);
    acq_arena_deinit(&all->arena);
}

/* Copies every tensor of the parts into the whole, or the other way. */
static void copy_parts(const whole *all, const acq_trainer *t, bool into_parts)
{
    size_t n = t->parameters->n_tensors;
    for (size_t i = 0; i < all->n_parts * n; i++) {
        const acq_tensor *tensor = &t->parameters->tensors[i % n];
        float *part = all->parts[i / n].values + tensor->offset;
        float *stored = all->parameters.values + all->parameters.tensors[i].offset;
        size_t bytes = acq_tensor_get_length(tensor) * sizeof(float);
        memcpy(into_parts ? part : stored, into_parts ? stored : part, bytes);
    }
}

/* The counters of a training as numbers; step stays below 2^53. */
typedef struct counters {
    double own[OWN_NUMBERS]; /* step, seconds, loss_sum, loss_weight */
    acq_trainer_number numbers[MOST_NUMBERS];
    size_t n;
} counters;

static void list_counters(const acq_trainer *t, counters *c)
{
    static const char *const names[OWN_NUMBERS] = {"step", "seconds", "loss", "loss_weight"};
    *c = (counters){
        .own = {(double)t->step, acq_trainer_get_seconds(t), t->loss_sum, t->loss_weight}};
    for (size_t i = 0; i < OWN_NUMBERS; i++)
        c->numbers[c->n++] = (acq_trainer_number){names[i], &c->own[i]};
    for (size_t i = 0; i < t->n_numbers; i++)
        c->numbers[c->n++] = t->numbers[i];
}

static void print_number(double value, char out[NUMBER_ROOM])
{
    acq_format(out, NUMBER_ROOM, "%.17g", value);
    for (char *p = out; *p != '\0'; p++) /* a decimal comma */
        *p = *p == ',' ? '.' : *p;
}

static acq_status write_whole(const acq_trainer *t, const whole *all, acq_error *error)
{
    char texts[MOST_NUMBERS][NUMBER_ROOM];
    acq_metadata metadata[MOST_NUMBERS + OWN_METADATA] = {{"format", format},
                                                          {"options", t->identity}};
    counters c;
    list_counters(t, &c);
    for (size_t i = 0; i < c.n; i++) {
        print_number(*c.numbers[i].value, texts[i]);
        metadata[OWN_METADATA + i] = (acq_metadata){c.numbers[i].name, texts[i]};
    }
    return acq_safetensors_write(t->checkpoint, &all->parameters, metadata, OWN_METADATA + c.n,
                                 error);
}

acq_status acq_trainer_write(const acq_trainer *trainer, acq_error *error)
{
    whole all = {0};
    acq_status status =
        trainer->ops->shape == NULL ? ACQ_OK : trainer->ops->shape(trainer->self, NULL, error);
    if (!acq_ranks_is_first(trainer->ranks))
        return status;
    if (status == ACQ_OK)
        status = whole_init(&all, trainer, error);
    if (status == ACQ_OK) {
        copy_parts(&all, trainer, false);
        status = write_whole(trainer, &all, error);
    }
    whole_deinit(&all);
    return status;
}

static acq_status check_format(const acq_safetensors *file, acq_error *error)
{
    const char *found = acq_safetensors_get_metadata(file, "format");
    if (found != NULL && strcmp(found, format) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "this is not a checkpoint of a training by this version of anycq; remove it "
                    "to begin anew");
}

static int get_word(const char *text)
{
    return (int)strcspn(text, " ");
}

static const char *get_shown(const char *word, int *length)
{
    *length = *word == '\0' ? 7 : get_word(word);
    return *word == '\0' ? "nothing" : word;
}

/* Names the option at which two texts begin to differ; here and there are words. */
static acq_status fail_option(const char *here, const char *there, acq_error *error)
{
    size_t key = strcspn(here, "= ");
    int n_here, n_there;
    bool is_same = here[key] == '=' && strncmp(here, there, key + 1) == 0;
    const char *shown_here = get_shown(is_same ? here + key + 1 : here, &n_here);
    const char *shown_there = get_shown(is_same ? there + key + 1 : there, &n_there);
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the checkpoint was made with %.*s%s%.*s, not %.*s; give the same options, or "
                    "remove it to begin anew",
                    is_same ? (int)key : 0, here, is_same ? " " : "", n_there, shown_there, n_here,
                    shown_here);
}

static acq_status check_identity(const acq_safetensors *file, const char *here, acq_error *error)
{
    const char *there = acq_safetensors_get_metadata(file, "options");
    if (there == NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "the checkpoint does not say its options");
    while (*here != '\0' || *there != '\0') {
        int length = get_word(here);
        if (length != get_word(there) || strncmp(here, there, (size_t)length) != 0)
            return fail_option(here, there, error);
        here += length + (here[length] == ' ');
        there += length + (there[length] == ' ');
    }
    return ACQ_OK;
}

static bool parse_number(const char *text, double *out)
{
    char *end = NULL;
    if (*text == '\0' || strchr(text, ' ') != NULL)
        return false;
    *out = acq_read_double(text, &end);
    return *end == '\0' && !isinf(*out);
}

static acq_status read_counters(const acq_safetensors *file, counters *c, double *values,
                                acq_error *error)
{
    for (size_t i = 0; i < c->n; i++) {
        const char *text = acq_safetensors_get_metadata(file, c->numbers[i].name);
        bool is_count = i == 0; /* the steps; then the seconds */
        if (text == NULL || !parse_number(text, &values[i]) || (i < 2 && !(values[i] >= 0)) ||
            (is_count && !(values[i] < 0x1p53 && values[i] == floor(values[i]))))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the checkpoint has no valid value for \"%s\"; remove it to begin anew",
                            c->numbers[i].name);
    }
    return ACQ_OK;
}

static acq_status check_squares(const whole *all, acq_error *error)
{
    size_t n = all->parameters.n_tensors / all->n_parts;
    for (size_t i = 0; i < all->parameters.n_tensors; i++) {
        const acq_tensor *tensor = &all->parameters.tensors[i];
        const float *values = all->parameters.values + tensor->offset;
        for (size_t j = 0; all->parts[i / n].is_square && j < acq_tensor_get_length(tensor); j++)
            if (values[j] < 0)
                return acq_fail(error, ACQ_ERR_INPUT,
                                "tensor \"%.100s\" holds a negative number; the checkpoint is "
                                "damaged: remove it to begin anew",
                                tensor->name);
    }
    return ACQ_OK;
}

static void take_counters(acq_trainer *t, const counters *c, const double *values)
{
    t->step = (uint64_t)values[0];
    t->seconds_before = values[1];
    t->loss_sum = values[2];
    t->loss_weight = values[3];
    for (size_t i = OWN_NUMBERS; i < c->n; i++)
        *c->numbers[i].value = values[i];
    if (t->optimizer != NULL)
        t->optimizer->step = t->step;
}

static acq_status read_file(acq_trainer *t, const acq_safetensors *file, whole *all,
                            acq_error *error)
{
    counters c;
    double values[MOST_NUMBERS] = {0};
    list_counters(t, &c);
    acq_status status = check_format(file, error);
    if (status == ACQ_OK)
        status = check_identity(file, t->identity, error);
    if (status == ACQ_OK)
        status = read_counters(file, &c, values, error);
    if (status == ACQ_OK && t->ops->shape != NULL)
        status = t->ops->shape(t->self, file, error);
    if (status == ACQ_OK)
        status = whole_init(all, t, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &all->parameters, error);
    if (status == ACQ_OK)
        status = check_squares(all, error);
    if (status != ACQ_OK)
        return status;
    copy_parts(all, t, true);
    if (t->ops->take != NULL)
        status = t->ops->take(t->self, error);
    if (status == ACQ_OK)
        take_counters(t, &c, values);
    return status;
}

acq_status acq_trainer_read(acq_trainer *trainer, acq_error *error)
{
    whole all = {0};
    acq_safetensors *file = NULL;
    acq_status status = acq_safetensors_read(trainer->checkpoint, &file, error);
    if (status == ACQ_OK)
        status = read_file(trainer, file, &all, error);
    acq_error_set_file(error, trainer->checkpoint);
    whole_deinit(&all);
    acq_safetensors_free(file);
    return status;
}
