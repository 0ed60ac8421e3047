/* train_checkpoint.c - a training that stops and goes on is the training that never stopped, bit
 * by bit; checkpoints of other runs and broken ones are refused, and nothing is changed then. */
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

#include "base/memory.h"
#include "base/random.h"
#include "tensor/safetensors.h"
#include "train/checkpoint.h"

#define PATH    "run.checkpoint"
#define OPTIONS "dim=3 rate=0.01 steps=20"

enum { STOP = 17, END = 40, MOST_ALLOCATIONS = 1000 };

static char folder[] = "anycq-checkpoint-XXXXXX";

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

/* A toy problem: a noisy bowl, its noise fixed by the number of the batch. */
typedef struct toy_run {
    acq_parameters parameters;
    acq_optimizer optimizer;
    acq_checkpoint checkpoint;
} toy_run;

static void toy_init(toy_run *toy)
{
    static const acq_shape shapes[] = {{"layer.weight", 3, 5}, {"layer.bias", 3, 0}};
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    params.average = .95;
    params.decay = .01;
    assert_int_equal(acq_parameters_init(&toy->parameters, shapes, 2), ACQ_OK);
    for (size_t i = 0; i < 15; i++)
        toy->parameters.values[i] = (float)i / 7;
    assert_int_equal(acq_optimizer_init(&toy->optimizer, &params, toy->parameters.values,
                                        toy->parameters.n, NULL),
                     ACQ_OK);
    toy->checkpoint = (acq_checkpoint){
        .parameters = &toy->parameters, .optimizer = &toy->optimizer, .options = OPTIONS};
}

static void toy_deinit(toy_run *toy)
{
    acq_optimizer_deinit(&toy->optimizer);
    acq_parameters_deinit(&toy->parameters);
}

static void toy_train(toy_run *toy, uint64_t until)
{
    float gradient[64] = {0};
    assert_true(toy->parameters.n <= 64);
    for (uint64_t *batch = &toy->checkpoint.batch; *batch < until; ++*batch) {
        acq_random random = acq_random_start(1, *batch);
        for (size_t t = 0; t < 2; t++) {
            const acq_tensor *tensor = &toy->parameters.tensors[t];
            for (size_t j = 0; j < acq_tensor_get_length(tensor); j++)
                gradient[tensor->offset + j] = toy->parameters.values[tensor->offset + j] - 1 +
                                               (float)acq_random_unit(&random);
        }
        acq_optimizer_update(&toy->optimizer, (double)*batch / END, gradient,
                             toy->parameters.values);
        toy->checkpoint.episodes += 100;
        toy->checkpoint.seconds += .1;
        toy->checkpoint.solved = .9 * toy->checkpoint.solved + .1 / 3;
    }
}

static void assert_same(const toy_run *a, const toy_run *b)
{
    size_t bytes = a->parameters.n * sizeof(float);
    assert_memory_equal(a->parameters.values, b->parameters.values, bytes);
    assert_memory_equal(a->optimizer.first, b->optimizer.first, bytes);
    assert_memory_equal(a->optimizer.second, b->optimizer.second, bytes);
    assert_memory_equal(a->optimizer.average, b->optimizer.average, bytes);
    assert_int_equal(a->optimizer.step, b->optimizer.step);
    assert_int_equal(a->checkpoint.seed, b->checkpoint.seed);
    assert_int_equal(a->checkpoint.batch, b->checkpoint.batch);
    assert_int_equal(a->checkpoint.episodes, b->checkpoint.episodes);
    assert_true(a->checkpoint.seconds == b->checkpoint.seconds);
    assert_true(a->checkpoint.solved == b->checkpoint.solved);
    assert_int_equal(a->checkpoint.finished, b->checkpoint.finished);
}

static void test_going_on_is_as_if_never_stopped(void **state)
{
    (void)state;
    toy_run whole, first, second;
    acq_error error = {0};
    toy_init(&whole);
    toy_init(&first);
    toy_init(&second);
    whole.checkpoint.seed = first.checkpoint.seed = UINT64_MAX;
    toy_train(&whole, END);
    toy_train(&first, STOP);
    assert_int_equal(acq_checkpoint_write(&first.checkpoint, PATH, &error), ACQ_OK);
    assert_int_equal(acq_checkpoint_read(&second.checkpoint, PATH, &error), ACQ_OK);
    assert_same(&second, &first);
    toy_train(&second, END);
    assert_same(&second, &whole);
    unlink(PATH);
    toy_deinit(&whole);
    toy_deinit(&first);
    toy_deinit(&second);
}

static void test_the_end_is_remembered_and_so_is_nothing_measured(void **state)
{
    (void)state;
    toy_run done, read;
    toy_init(&done);
    toy_init(&read);
    done.checkpoint.finished = true;
    done.checkpoint.solved = NAN;
    assert_int_equal(acq_checkpoint_write(&done.checkpoint, PATH, NULL), ACQ_OK);
    assert_int_equal(acq_checkpoint_read(&read.checkpoint, PATH, NULL), ACQ_OK);
    assert_true(read.checkpoint.finished);
    assert_true(isnan(read.checkpoint.solved));
    unlink(PATH);
    toy_deinit(&done);
    toy_deinit(&read);
}

/* Reads PATH into a toy, which must fail with this message and change nothing. */
static void assert_refused(const char *options, const char *message)
{
    toy_run toy, untouched;
    acq_error error = {0};
    toy_init(&toy);
    toy_init(&untouched);
    toy.checkpoint.options = options;
    assert_int_equal(acq_checkpoint_read(&toy.checkpoint, PATH, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message, message);
    assert_string_equal(error.file, PATH);
    assert_same(&toy, &untouched);
    toy_deinit(&toy);
    toy_deinit(&untouched);
}

static void test_other_options_are_refused_with_the_difference(void **state)
{
    (void)state;
    toy_run toy;
    toy_init(&toy);
    toy_train(&toy, STOP);
    assert_int_equal(acq_checkpoint_write(&toy.checkpoint, PATH, NULL), ACQ_OK);
    assert_refused("dim=4 rate=0.01 steps=20", "the checkpoint was made with dim 3, not 4; give "
                                               "the same options or start anew");
    assert_refused("dim=3 rate=0.01 steps=200", "the checkpoint was made with steps 20, not 200; "
                                                "give the same options or start anew");
    assert_refused("dim=3 rate=0.02 steps=10", "the checkpoint was made with rate 0.01, not 0.02; "
                                               "give the same options or start anew");
    assert_refused("dim=3 rates=0.01 steps=20",
                   "the checkpoint was made with other options: rate=0.01 there, rates=0.01 here; "
                   "give the same options or start anew");
    assert_refused("dim=3 rate=0.01", "the checkpoint was made with other options: steps=20 "
                                      "there, nothing here; give the same options or start anew");
    assert_refused("dim=3 rate=0.01 steps=20 pe=0",
                   "the checkpoint was made with other options: nothing there, pe=0 here; give "
                   "the same options or start anew");
    assert_refused("", "the checkpoint was made with other options: dim=3 there, nothing here; "
                       "give the same options or start anew");
    unlink(PATH);
    toy_deinit(&toy);
}

static void test_missing_and_cut_checkpoints_are_refused(void **state)
{
    (void)state;
    toy_run toy;
    char bytes[4096];
    assert_refused(OPTIONS, "there is no such file; check the path");
    toy_init(&toy);
    assert_int_equal(acq_checkpoint_write(&toy.checkpoint, PATH, NULL), ACQ_OK);
    FILE *file = fopen(PATH, "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(length > 500 && length < sizeof bytes);
    for (size_t n = 0; n < length; n += 1 + n / 16) {
        acq_error error = {0};
        assert_int_equal(truncate(PATH, (off_t)n), 0);
        assert_int_equal(acq_checkpoint_read(&toy.checkpoint, PATH, &error), ACQ_ERR_INPUT);
        assert_string_equal(error.file, PATH);
        file = fopen(PATH, "wb");
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        fclose(file);
    }
    assert_int_equal(acq_checkpoint_read(&toy.checkpoint, PATH, NULL), ACQ_OK);
    unlink(PATH);
    toy_deinit(&toy);
}

/* Writes tensors and metadata as they are given, as a tampered checkpoint. */
static void tamper(const char *key, const char *value, float second)
{
    static const acq_shape shapes[] = {
        {"weights/layer.weight", 3, 5}, {"weights/layer.bias", 3, 0},  {"first/layer.weight", 3, 5},
        {"first/layer.bias", 3, 0},     {"second/layer.weight", 3, 5}, {"second/layer.bias", 3, 0},
        {"average/layer.weight", 3, 5}, {"average/layer.bias", 3, 0}};
    acq_metadata metadata[] = {{"format", "anycq training 1"},
                               {"options", OPTIONS},
                               {"seed", "1"},
                               {"batch", "2"},
                               {"episodes", "3"},
                               {"step", "4"},
                               {"seconds", "5.5"},
                               {"solved", "0.5"},
                               {"finished", "no"}};
    size_t n = sizeof metadata / sizeof metadata[0], i = 0;
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, shapes, 8), ACQ_OK);
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
    static const char *const bad[][2] = {{"seed", "-1"},
                                         {"seed", ""},
                                         {"seed", NULL},
                                         {"batch", "2.5"},
                                         {"batch", " 2"},
                                         {"episodes", "x"},
                                         {"step", "18446744073709551616"},
                                         {"seconds", "soon"},
                                         {"seconds", ""},
                                         {"seconds", "1e999"},
                                         {"solved", NULL}};
    char message[200];
    toy_run toy;
    toy_init(&toy);
    tamper("", NULL, 1);
    assert_int_equal(acq_checkpoint_read(&toy.checkpoint, PATH, NULL), ACQ_OK);
    assert_true(toy.optimizer.step == 4 && toy.checkpoint.seconds == 5.5);
    toy_deinit(&toy);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tamper(bad[i][0], bad[i][1], 1);
        snprintf(message, sizeof message,
                 "the checkpoint has no valid value for \"%s\"; start anew", bad[i][0]);
        assert_refused(OPTIONS, message);
    }
    tamper("", NULL, -1);
    assert_refused(OPTIONS, "tensor \"second/layer.bias\" holds a negative number; the checkpoint "
                            "is damaged: start anew");
    tamper("", NULL, NAN);
    assert_refused(OPTIONS, "tensor \"second/layer.bias\": value 3 of 3 is not a number; weights "
                            "must be finite");
    tamper("options", NULL, 1);
    assert_refused(OPTIONS, "the checkpoint does not say its options");
    tamper("format", "anycq training 99", 1);
    assert_refused(OPTIONS, "this is not a checkpoint of a training by this version of anycq; "
                            "remove it to begin anew");
    tamper("format", NULL, 1);
    assert_refused(OPTIONS, "this is not a checkpoint of a training by this version of anycq; "
                            "remove it to begin anew");
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
        status = acq_checkpoint_write(&untouched.checkpoint, PATH, &error);
        if (status == ACQ_OK)
            status = acq_checkpoint_read(&toy.checkpoint, PATH, &error);
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
        cmocka_unit_test(test_going_on_is_as_if_never_stopped),
        cmocka_unit_test(test_the_end_is_remembered_and_so_is_nothing_measured),
        cmocka_unit_test(test_other_options_are_refused_with_the_difference),
        cmocka_unit_test(test_missing_and_cut_checkpoints_are_refused),
        cmocka_unit_test(test_tampered_checkpoints_are_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
