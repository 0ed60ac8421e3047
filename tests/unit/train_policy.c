/* train_policy.c - the training loop: a seed gives the same weights at any number of threads and
 * after any interruption, and every allocation may fail. */
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
#include "train/source.h"
#include "train/train.h"
#include "unit/train_case.h"

enum { BATCHES = 12, MOST_ALLOCATIONS = 100000 };

static train_case world;
static char folder[] = "/tmp/anycq-train-XXXXXX";
static char model[sizeof folder + 8];

static int set_up(void **state)
{
    (void)state;
    train_case_init_dense(&world, 40, 3, 90);
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(model, sizeof model, "%s/model", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    train_case_deinit(&world);
    return rmdir(folder); /* fails when something was left behind */
}

static acq_train_policy_params get_params(void)
{
    acq_train_policy_params params;
    acq_train_policy_params_init(&params);
    params.dim = 3;
    params.n_seeds = 2;
    params.queries = 6;
    params.rollouts = 2;
    params.steps = 4;
    params.batches = BATCHES;
    params.hub_from = 0;
    params.held_queries = 2;
    params.held_steps = 10;
    params.held_hub = (acq_hub_params){
        .least_terms = 2, .most_terms = 4, .most_hubs = 2, .constants = .6, .most_atoms = 6};
    return params;
}

static acq_train_policy_result train(const acq_train_policy_params *params)
{
    const acq_graph *graph = world.graph;
    acq_train_policy_result result;
    acq_error error = {0};
    if (acq_train_policy(&graph, 1, params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result;
}

static void assert_same(const acq_train_policy_result *a, const acq_train_policy_result *b)
{
    size_t n = a->policy->parameters.n;
    assert_int_equal(b->policy->parameters.n, n);
    assert_memory_equal(a->policy->parameters.values, b->policy->parameters.values,
                        n * sizeof *a->policy->parameters.values);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->episodes, b->episodes);
    assert_true(a->held_solved == b->held_solved);
}

static void test_threads_do_not_change_the_weights(void **state)
{
    (void)state;
    acq_train_policy_params params = get_params();
    acq_train_policy_result one = train(&params);
    for (params.n_threads = 2; params.n_threads <= 5; params.n_threads++) {
        acq_train_policy_result many = train(&params);
        assert_same(&one, &many);
        acq_train_policy_result_deinit(&many);
    }
    acq_train_policy_result_deinit(&one);
}

static acq_complex *make_rewards(double scale)
{
    acq_complex *rewards = NULL;
    assert_int_equal(
        acq_complex_new(world.n_entities, world.n_relations, 4, scale, 1, &rewards, NULL), ACQ_OK);
    return rewards;
}

/* Trained with a model's scores as rewards; *reward is the mean of an episode. */
static acq_train_policy_result train_by(const acq_complex *rewards, double shift,
                                        unsigned n_threads, double *reward)
{
    acq_train_policy_params params = get_params();
    params.rewards = rewards;
    params.reward_shift = shift;
    params.n_threads = n_threads;
    acq_train_policy_result result = train(&params);
    double sum = 0, all = 0, before[3] = {0};     /* of seeds 1 and 2 */
    for (size_t i = 0; i < result.curve.n; i++) { /* the clock decides how many points there are */
        const acq_curve_point *point = &result.curve.points[i];
        double n = (double)point->episodes - before[point->seed];
        sum += n > 0 ? n * point->reward : 0;
        before[point->seed] += n;
        all += n;
    }
    *reward = sum / all;
    return result;
}

static void test_rewards_are_a_models_scores(void **state)
{
    (void)state;
    acq_complex *same = make_rewards(0), *varied = make_rewards(1);
    double none, less, more, again;
    acq_train_policy_result a = train_by(same, 5, 1, &none), b = train_by(same, 0, 1, &less);
    acq_train_policy_result c = train_by(varied, 5, 1, &more), d = train_by(varied, 5, 3, &again);
    assert_true(none == 0 && less == 0); /* nothing to gain, nothing to learn, whatever the shift */
    assert_same(&a, &b);
    assert_same(&c, &d);
    assert_true(more > 0 && fabs(more - again) < 1e-9 * more);
    acq_train_policy_result *all[] = {&a, &b, &c, &d};
    for (size_t i = 0; i < 4; i++)
        acq_train_policy_result_deinit(all[i]);
    acq_complex_free(same);
    acq_complex_free(varied);
}

/* Says when to stop: after so many questions. */
static bool count_down(void *context)
{
    return (*(int *)context)-- == 0;
}

static size_t count_judgements(const acq_curve *curve)
{
    size_t n = 0;
    for (size_t i = 0; i < curve->n; i++)
        n += !isnan(curve->points[i].held_solved);
    return n;
}

/* Stops after so many batches, goes on, and gives what a run in one go gives: no weights are judged
 * that it does not judge. */
static void assert_goes_on(acq_train_policy_params params, int n_batches,
                           const acq_train_policy_result *whole)
{
    int left = n_batches;
    params.should_stop = count_down;
    params.context = &left;
    acq_train_policy_result part = train(&params);
    assert_true(part.stopped);
    assert_int_equal(part.batches, n_batches);
    params.should_stop = NULL;
    params.resume = true;
    acq_train_policy_result rest = train(&params);
    assert_false(rest.stopped);
    assert_same(whole, &rest);
    assert_int_equal(count_judgements(&part.curve) + count_judgements(&rest.curve),
                     count_judgements(&whole->curve));
    acq_train_policy_result_deinit(&part);
    acq_train_policy_result_deinit(&rest);
}

static void test_going_on_gives_the_weights_of_a_run_in_one_go(void **state)
{
    (void)state;
    acq_train_policy_params params = get_params();
    params.n_seeds = 1;
    acq_train_policy_result whole = train(&params);
    params.checkpoint = model;
    for (int n_batches = 0; n_batches < BATCHES; n_batches++) {
        assert_goes_on(params, n_batches, &whole);
        acq_train_policy_remove_checkpoints(&params);
    }
    acq_train_policy_result_deinit(&whole);
}

/* Only the checkpoint was removed to begin anew. */
static void test_the_best_of_another_run_is_forgotten(void **state)
{
    (void)state;
    acq_train_policy_params params = get_params(), other;
    char path[sizeof model + 32];
    params.n_seeds = 1;
    acq_train_policy_result whole = train(&params);
    params.checkpoint = model;
    other = params;
    other.discount = .1;
    acq_train_policy_result before = train(&other);
    snprintf(path, sizeof path, "%s.seed1.checkpoint", model);
    assert_int_equal(unlink(path), 0);
    assert_goes_on(params, 2, &whole);
    acq_train_policy_remove_checkpoints(&params);
    acq_train_policy_result_deinit(&before);
    acq_train_policy_result_deinit(&whole);
}

/* Weights that are finite and sums that are not: nothing is learnt, and nothing breaks. */
static void test_weights_that_overflow_do_no_harm(void **state)
{
    (void)state;
    acq_policy *policy;
    acq_predictor *predictor;
    acq_episode_room *room;
    acq_random random = acq_random_start(1, 1);
    acq_episode_query query = {0};
    acq_episode_params params = {.rollouts = 8, .steps = 40, .score_scale = 5, .weight = 1};
    acq_episode_counts counts = {0};
    assert_int_equal(acq_policy_new(5, 1, true, true, &policy, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(world.graph, &predictor, NULL), ACQ_OK);
    assert_int_equal(acq_episode_room_new(&room), ACQ_OK);
    assert_int_equal(
        acq_sampler_draw_shape(world.sampler, ACQ_SHAPE_1p, &random, &query.problem, NULL, NULL),
        ACQ_OK);
    query.predictor = predictor;
    for (size_t i = 0; i < policy->parameters.n; i++)
        policy->parameters.values[i] *= 1e38F;
    acq_policy_pack(policy);
    float *gradient = acq_zalloc(policy->parameters.n, sizeof *gradient);
    assert_non_null(gradient);
    acq_status status = acq_episodes_run(room, policy, &query, 1, &params, gradient, &counts, NULL);
    assert_int_equal(status, ACQ_OK);
    assert_true(counts.reward > 0); /* so there was a way back */
    acq_free(gradient);
    acq_problem_free(query.problem);
    acq_episode_room_free(room);
    acq_predictor_free(predictor);
    acq_policy_free(policy);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const acq_graph *graph = world.graph;
    acq_train_policy_params params = get_params();
    params.n_seeds = 1;
    params.queries = 2;
    params.batches = 2;
    params.held_queries = 1;
    params.held_steps = 1;
    params.checkpoint = model;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n += 1 + n / 64) {
        acq_train_policy_result result;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_train_policy(&graph, 1, &params, &result, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        acq_train_policy_result_deinit(&result);
        acq_train_policy_remove_checkpoints(&params);
    }
    assert_true(status == ACQ_OK && n > 100);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_change_the_weights),
        cmocka_unit_test(test_rewards_are_a_models_scores),
        cmocka_unit_test(test_going_on_gives_the_weights_of_a_run_in_one_go),
        cmocka_unit_test(test_the_best_of_another_run_is_forgotten),
        cmocka_unit_test(test_weights_that_overflow_do_no_harm),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
