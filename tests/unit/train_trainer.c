/* train_trainer.c - the loop of every training on a toy: a training that stops and goes on is the
 * training that never stopped, bit by bit; checkpoints of other runs and broken ones are refused,
 * and nothing is changed then; a loss or a gradient that is not finite is an error. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tensor/safetensors.h"
#include "train/trainer.h"

#define PATH     "run.checkpoint"
#define IDENTITY "--dim=3 --rate=0.01 --steps=20 graphs=12ab"

enum { STOP = 17, END = 40, FLOATS = 64, MOST_ALLOCATIONS = 1000 };

static char folder[] = "anycq-trainer-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

/* A noisy bowl, its noise fixed by the number of the batch. */
typedef struct toy_run {
    acq_parameters parameters;
    acq_optimizer optimizer;
    float gradient[FLOATS], extra[FLOATS];
    double count;
    uint64_t bad_step; /* from which on something is not finite */
    double bad_loss;
    float bad_slope;
    uint64_t stop; /* progress says so at this batch */
    acq_trainer trainer;
} toy_run;

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    toy_run *toy = self;
    acq_random random = acq_random_start(1, step);
    (void)error;
    *loss = step >= toy->bad_step ? toy->bad_loss : 1 / (1 + (double)step);
    for (size_t t = 0; t < 2; t++) {
        const acq_tensor *tensor = &toy->parameters.tensors[t];
        for (size_t j = tensor->offset; j < tensor->offset + acq_tensor_get_length(tensor); j++) {
            toy->gradient[j] = toy->parameters.values[j] - 1 + (float)acq_random_unit(&random);
            toy->extra[j] += 1;
        }
    }
    if (step >= toy->bad_step)
        toy->gradient[3] += toy->bad_slope;
    toy->count += 100;
    return ACQ_OK;
}

static bool look(void *context, const acq_train_progress *now)
{
    const toy_run *toy = context;
    assert_true(now->total == END && now->done <= END && isfinite(now->loss));
    return now->done != (double)toy->stop;
}

static void toy_init(toy_run *toy)
{
    static const acq_trainer_ops ops = {.compute = compute};
    static const acq_shape shapes[] = {{"layer.weight", 3, 5}, {"layer.bias", 3, 0}};
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    params.average = .95;
    params.decay = .01;
    *toy = (toy_run){.bad_step = UINT64_MAX, .stop = UINT64_MAX};
    assert_int_equal(acq_parameters_init(&toy->parameters, shapes, 2), ACQ_OK);
    assert_true(toy->parameters.n <= FLOATS);
    for (size_t i = 0; i < 15; i++)
        toy->parameters.values[i] = (float)i / 7;
    assert_int_equal(acq_optimizer_init(&toy->optimizer, &params, toy->parameters.values,
                                        toy->parameters.n, NULL),
                     ACQ_OK);
    toy->trainer = (acq_trainer){.ops = &ops,
                                 .self = toy,
                                 .n_steps = END,
                                 .parameters = &toy->parameters,
                                 .optimizer = &toy->optimizer,
                                 .gradient = toy->gradient,
                                 .parts = {{"extra", toy->extra, true}},
                                 .n_parts = 1,
                                 .numbers = {{"count", &toy->count}},
                                 .n_numbers = 1,
                                 .identity = IDENTITY,
                                 .checkpoint = PATH,
                                 .checkpoint_seconds = 1e9,
                                 .progress = look,
                                 .context = toy};
}

static void toy_deinit(toy_run *toy)
{
    acq_optimizer_deinit(&toy->optimizer);
    acq_parameters_deinit(&toy->parameters);
}

static void assert_same(const toy_run *a, const toy_run *b)
{
    size_t bytes = a->parameters.n * sizeof(float);
    assert_memory_equal(a->parameters.values, b->parameters.values, bytes);
    assert_memory_equal(a->optimizer.first, b->optimizer.first, bytes);
    assert_memory_equal(a->optimizer.second, b->optimizer.second, bytes);
    assert_memory_equal(a->optimizer.average, b->optimizer.average, bytes);
    assert_memory_equal(a->extra, b->extra, bytes);
    assert_int_equal(a->optimizer.step, b->optimizer.step);
    assert_int_equal(a->trainer.step, b->trainer.step);
    assert_true(a->count == b->count);
    assert_true(a->trainer.loss_sum == b->trainer.loss_sum);
}

static void test_going_on_is_as_if_never_stopped(void **state)
{
    (void)state;
    toy_run whole, first, second;
    toy_init(&whole);
    toy_init(&first);
    toy_init(&second);
    assert_int_equal(acq_trainer_run(&whole.trainer, NULL), ACQ_OK);
    first.stop = STOP;
    assert_int_equal(acq_trainer_run(&first.trainer, NULL), ACQ_ERR_INTERRUPTED);
    assert_int_equal(first.trainer.step, STOP);
    second.trainer.resume = true;
    second.stop = STOP;
    assert_int_equal(acq_trainer_run(&second.trainer, NULL), ACQ_ERR_INTERRUPTED);
    assert_same(&first, &second);
    second.stop = UINT64_MAX;
    assert_int_equal(acq_trainer_run(&second.trainer, NULL), ACQ_OK);
    assert_same(&whole, &second);
    assert_true(acq_trainer_get_loss(&second.trainer) > 0);
    unlink(PATH);
    toy_deinit(&whole);
    toy_deinit(&first);
    toy_deinit(&second);
}

/* Keeps the last progress. Once something is trained the time is over, however busy the machine. */
typedef struct watch {
    acq_train_progress last;
    double most;
    double *seconds; /* of the run; NULL: as they are */
} watch;

static bool look_on(void *context, const acq_train_progress *now)
{
    watch *w = context;
    w->last = *now;
    w->most = fmax(w->most, now->total);
    if (w->seconds != NULL && now->done > 0)
        *w->seconds = 1e-9;
    return true;
}

static void test_epochs_are_those_trained_not_the_share_of_the_time(void **state)
{
    (void)state;
    toy_run toy;
    watch whole = {.most = 0}, cut = {.most = 0};
    toy_init(&toy);
    toy.trainer.epochs = 4;
    toy.trainer.progress = look_on;
    toy.trainer.context = &whole;
    assert_int_equal(acq_trainer_run(&toy.trainer, NULL), ACQ_OK);
    assert_true(whole.last.done == 4 && whole.last.total == 4 && whole.most == 4);
    unlink(PATH);
    toy_deinit(&toy);
    toy_init(&toy);
    toy.trainer.epochs = 4;
    toy.trainer.n_steps = UINT32_MAX;
    toy.trainer.seconds = 1e6;
    cut.seconds = &toy.trainer.seconds;
    toy.trainer.progress = look_on;
    toy.trainer.context = &cut;
    assert_int_equal(acq_trainer_run(&toy.trainer, NULL), ACQ_OK);
    assert_true(cut.last.done > 0 && cut.last.done < .5);
    assert_true(cut.last.done == 4.0 / UINT32_MAX * (double)toy.trainer.step);
    assert_true(cut.last.total >= cut.last.done && cut.most <= 4);
    unlink(PATH);
    toy_deinit(&toy);
}

/* Fails at batch 5 and leaves the weights, and the checkpoint that was there, as they were. */
static void assert_diverges(double loss, float slope, const char *what)
{
    toy_run bad, good;
    acq_error error = {0};
    char message[200];
    toy_init(&bad);
    toy_init(&good);
    good.stop = bad.bad_step = 5;
    bad.bad_loss = loss;
    bad.bad_slope = slope;
    assert_int_equal(acq_trainer_run(&good.trainer, NULL), ACQ_ERR_INTERRUPTED);
    assert_int_equal(acq_trainer_run(&bad.trainer, &error), ACQ_ERR_INPUT);
    snprintf(message, sizeof message,
             "the training diverged at batch 5: the %s is not a finite number; use a smaller "
             "--rate",
             what);
    assert_string_equal(error.message, message);
    assert_memory_equal(bad.parameters.values, good.parameters.values,
                        good.parameters.n * sizeof(float));
    assert_int_equal(acq_trainer_read(&bad.trainer, &error), ACQ_OK);
    assert_int_equal(bad.trainer.step, 0); /* that of the start */
    unlink(PATH);
    toy_deinit(&bad);
    toy_deinit(&good);
}

static void test_what_is_not_finite_is_an_error(void **state)
{
    (void)state;
    assert_diverges(NAN, 0, "loss");
    assert_diverges(INFINITY, 0, "loss");
    assert_diverges(-INFINITY, NAN, "loss");
    assert_diverges(1, NAN, "gradient");
    assert_diverges(1, INFINITY, "gradient");
}

/* Reads PATH into a toy, which must fail with this message and change nothing. */
static void assert_refused(const char *identity, const char *message)
{
    toy_run toy, untouched;
    acq_error error = {0};
    toy_init(&toy);
    toy_init(&untouched);
    toy.trainer.identity = identity;
    assert_int_equal(acq_trainer_read(&toy.trainer, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message, message);
    assert_string_equal(error.file, PATH);
    assert_same(&toy, &untouched);
    toy_deinit(&toy);
    toy_deinit(&untouched);
}

#define MADE_WITH(what)                                                                            \
    "the checkpoint was made with " what "; give the same options, or remove it to begin anew"

static void test_other_options_are_refused_with_the_difference(void **state)
{
    (void)state;
    toy_run toy;
    toy_init(&toy);
    assert_int_equal(acq_trainer_write(&toy.trainer, NULL), ACQ_OK);
    assert_refused("--dim=4 --rate=0.01 --steps=20 graphs=12ab", MADE_WITH("--dim 3, not 4"));
    assert_refused("--dim=3 --rate=0.01 --steps=200 graphs=12ab", MADE_WITH("--steps 20, not 200"));
    assert_refused("--dim=3 --rate=0.02 --steps=10 graphs=12ab",
                   MADE_WITH("--rate 0.01, not 0.02"));
    assert_refused("--dim=3 --rate=0.01 --steps=20 graphs=ff", MADE_WITH("graphs 12ab, not ff"));
    assert_refused("--dim=3 --rates=0.01 --steps=20 graphs=12ab",
                   MADE_WITH("--rate=0.01, not --rates=0.01"));
    assert_refused("--dim=3 --rate=0.01 --steps=20", MADE_WITH("graphs=12ab, not nothing"));
    assert_refused(IDENTITY " pe=0", MADE_WITH("nothing, not pe=0"));
    assert_refused("", MADE_WITH("--dim=3, not nothing"));
    unlink(PATH);
    toy_deinit(&toy);
}

static void test_missing_and_cut_checkpoints_are_refused(void **state)
{
    (void)state;
    toy_run toy;
    char bytes[8192];
    assert_refused(IDENTITY, "there is no such file; check the path");
    toy_init(&toy);
    assert_int_equal(acq_trainer_write(&toy.trainer, NULL), ACQ_OK);
    FILE *file = fopen(PATH, "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(length > 500 && length < sizeof bytes);
    for (size_t n = 0; n < length; n += 1 + n / 16) {
        acq_error error = {0};
        assert_int_equal(truncate(PATH, (off_t)n), 0);
        assert_int_equal(acq_trainer_read(&toy.trainer, &error), ACQ_ERR_INPUT);
        assert_string_equal(error.file, PATH);
        file = fopen(PATH, "wb");
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        fclose(file);
    }
    assert_int_equal(acq_trainer_read(&toy.trainer, NULL), ACQ_OK);
    unlink(PATH);
    toy_deinit(&toy);
}

/* Writes tensors and metadata as they are given, as a tampered checkpoint. */
static void tamper(const char *key, const char *value, float second)
{
    static const acq_shape shapes[] = {{"weights/layer.weight", 3, 5}, {"weights/layer.bias", 3, 0},
                                       {"first/layer.weight", 3, 5},   {"first/layer.bias", 3, 0},
                                       {"second/layer.weight", 3, 5},  {"second/layer.bias", 3, 0},
                                       {"average/layer.weight", 3, 5}, {"average/layer.bias", 3, 0},
                                       {"extra/layer.weight", 3, 5},   {"extra/layer.bias", 3, 0}};
    acq_metadata metadata[] = {{"format", "anycq training 2"},
                               {"options", IDENTITY},
                               {"step", "4"},
                               {"seconds", "5.5"},
                               {"loss", "0.5"},
                               {"loss_weight", "0.25"},
                               {"count", "300"}};
    size_t n = sizeof metadata / sizeof metadata[0], i = 0;
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, shapes, 10), ACQ_OK);
    parameters.values[parameters.tensors[5].offset + 2] = second;
    while (i < n && strcmp(metadata[i].key, key) != 0)
        i++;
    if (i < n && value == NULL)
        metadata[i] = metadata[--n];
    else if (i < n)
        metadata[i].value = value;
    assert_int_equal(acq_safetensors_write(PATH, &parameters, metadata, n, NULL), ACQ_OK);
    acq_parameters_deinit(&parameters);
}

static void test_tampered_checkpoints_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"step", "-1"},    {"step", ""},         {"step", NULL},      {"step", "2.5"},
        {"step", "1e300"}, {"step", "nan"},      {"seconds", "soon"}, {"seconds", ""},
        {"seconds", "-1"}, {"seconds", "1e999"}, {"loss", "0.5x"},    {"loss_weight", NULL},
        {"count", " 3"},   {"count", NULL}};
    static const char *const anew =
        "this is not a checkpoint of a training by this version of anycq; remove it to begin anew";
    char message[200];
    toy_run toy;
    toy_init(&toy);
    tamper("", NULL, 1);
    assert_int_equal(acq_trainer_read(&toy.trainer, NULL), ACQ_OK);
    assert_true(toy.optimizer.step == 4 && toy.trainer.seconds_before == 5.5 && toy.count == 300);
    toy_deinit(&toy);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tamper(bad[i][0], bad[i][1], 1);
        snprintf(message, sizeof message,
                 "the checkpoint has no valid value for \"%s\"; remove it to begin anew",
                 bad[i][0]);
        assert_refused(IDENTITY, message);
    }
    tamper("", NULL, -1);
    assert_refused(IDENTITY, "tensor \"second/layer.bias\" holds a negative number; the "
                             "checkpoint is damaged: remove it to begin anew");
    tamper("", NULL, NAN);
    assert_refused(IDENTITY, "tensor \"second/layer.bias\": value 3 of 3 is not a number; weights "
                             "must be finite");
    tamper("options", NULL, 1);
    assert_refused(IDENTITY, "the checkpoint does not say its options");
    tamper("format", "anycq training 99", 1);
    assert_refused(IDENTITY, anew);
    tamper("format", NULL, 1);
    assert_refused(IDENTITY, anew);
    unlink(PATH);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    toy_run toy, untouched;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    toy_init(&toy);
    toy_init(&untouched);
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_trainer_write(&untouched.trainer, &error);
        if (status == ACQ_OK)
            status = acq_trainer_read(&toy.trainer, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_same(&toy, &untouched);
    }
    assert_true(status == ACQ_OK && n > 10);
    unlink(PATH);
    toy_deinit(&toy);
    toy_deinit(&untouched);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_are_those_trained_not_the_share_of_the_time),
        cmocka_unit_test(test_going_on_is_as_if_never_stopped),
        cmocka_unit_test(test_what_is_not_finite_is_an_error),
        cmocka_unit_test(test_other_options_are_refused_with_the_difference),
        cmocka_unit_test(test_missing_and_cut_checkpoints_are_refused),
        cmocka_unit_test(test_tampered_checkpoints_are_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
