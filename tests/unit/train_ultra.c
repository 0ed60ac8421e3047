/* train_ultra.c - the training of ULTRA as a whole: it learns, repeats at any number of threads,
 * goes on where it stopped, and says what it cannot do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "train/train.h"
#include "unit/train_case.h"

#define PATH "run.checkpoint"

enum { MOST_ALLOCATIONS = 5000 };

static char folder[] = "anycq-ultra-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(PATH);
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

/* Parents of parents are grandparents: what the network can find out without knowing anybody. */
static void init_family(train_case *c, uint32_t n)
{
    train_case_init(c, n, 2);
    for (uint32_t i = 1; i < n; i++)
        train_case_add(c, i, 0, i / 2);
    for (uint32_t i = 4; i < n; i++)
        train_case_add(c, i, 2, i / 4);
    train_case_finish(c);
}

static acq_train_ultra_params get_params(void)
{
    acq_train_ultra_params params;
    acq_train_ultra_params_init(&params);
    params.batch = 4;
    params.group = 2;
    params.negatives = 8;
    params.most_entities = 20;
    params.batches = 3;
    params.seconds = 0;
    return params;
}

static acq_ultra *train(const train_case *c, const acq_train_ultra_params *params)
{
    const acq_graph *graphs[] = {c->graph, c->graph};
    acq_ultra *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_train_ultra(graphs, 2, params, &model, &error), ACQ_OK);
    return model;
}

static void assert_same(const acq_ultra *a, const acq_ultra *b)
{
    assert_memory_equal(a->parameters.values, b->parameters.values,
                        a->parameters.n * sizeof(float));
}

static void test_threads_do_not_change_the_weights(void **state)
{
    (void)state;
    train_case c;
    init_family(&c, 40);
    acq_train_ultra_params params = get_params();
    acq_ultra *one = train(&c, &params);
    params.n_threads = 3;
    acq_ultra *three = train(&c, &params);
    assert_same(one, three);
    params.seed = 2;
    acq_ultra *other = train(&c, &params);
    assert_memory_not_equal(one->parameters.values, other->parameters.values,
                            one->parameters.n * sizeof(float));
    acq_ultra_free(one);
    acq_ultra_free(three);
    acq_ultra_free(other);
    train_case_deinit(&c);
}

typedef struct watch {
    double first, last; /* losses */
    double stop_at;     /* batches; 0: never */
} watch;

static bool look(void *context, const acq_train_progress *now)
{
    watch *w = context;
    if (now->done <= 1)
        w->first = now->loss;
    w->last = now->loss;
    return w->stop_at == 0 || now->done < w->stop_at;
}

static void test_the_loss_goes_down(void **state)
{
    (void)state;
    train_case c;
    watch w = {0};
    init_family(&c, 40);
    acq_train_ultra_params params = get_params();
    params.batches = 150;
    params.progress = look;
    params.context = &w;
    acq_ultra_free(train(&c, &params));
    assert_true(w.last < .9 * w.first);
    train_case_deinit(&c);
}

static void test_a_stopped_training_goes_on_as_if_it_had_not_stopped(void **state)
{
    (void)state;
    train_case c;
    init_family(&c, 40);
    acq_train_ultra_params params = get_params();
    acq_ultra *whole = train(&c, &params), *resumed = NULL;
    watch w = {.stop_at = 2};
    const acq_graph *graphs[] = {c.graph, c.graph};
    acq_error error = {0};
    params.checkpoint = PATH;
    params.progress = look;
    params.context = &w;
    assert_int_equal(acq_train_ultra(graphs, 2, &params, &resumed, &error), ACQ_ERR_INTERRUPTED);
    w.stop_at = 0;
    params.resume = true;
    resumed = train(&c, &params);
    assert_same(whole, resumed);
    acq_ultra_free(whole);
    acq_ultra_free(resumed);
    train_case_deinit(&c);
}

static void test_a_checkpoint_of_other_options_is_refused(void **state)
{
    (void)state;
    train_case c;
    init_family(&c, 40);
    acq_train_ultra_params params = get_params();
    const acq_graph *graphs[] = {c.graph};
    acq_ultra *model = NULL;
    acq_error error = {0};
    params.checkpoint = PATH;
    params.resume = true;
    params.negatives = 9;
    assert_int_equal(acq_train_ultra(graphs, 1, &params, &model, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "negatives 8, not 9"));
    train_case_deinit(&c);
}

static void test_weights_to_start_from_are_started_from(void **state)
{
    (void)state;
    train_case c;
    init_family(&c, 40);
    acq_train_ultra_params params = get_params();
    acq_ultra *warm = train(&c, &params);
    params.warm = warm;
    params.optimizer.rate = params.optimizer.last_rate = 0;
    acq_ultra *same = train(&c, &params);
    for (size_t i = 0; i < warm->parameters.n; i++)
        assert_float_equal(same->parameters.values[i], warm->parameters.values[i], 1e-6);
    acq_ultra_free(warm);
    acq_ultra_free(same);
    train_case_deinit(&c);
}

static void check_refused(const acq_graph *graph, const acq_train_ultra_params *params,
                          acq_status status, const char *message)
{
    const acq_graph *graphs[] = {graph};
    acq_ultra *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_train_ultra(graphs, 1, params, &model, &error), status);
    assert_non_null(strstr(error.message, message));
}

static void test_what_cannot_be_trained_is_said(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *empty = NULL;
    acq_train_ultra_params params = get_params();
    assert_int_equal(acq_graph_builder_finish(builder, &empty, NULL), ACQ_OK);
    check_refused(empty, &params, ACQ_ERR_INPUT, "no fact");
    params.group = 3;
    check_refused(empty, &params, ACQ_ERR_USAGE, "groups of 3");
    params.group = 0;
    check_refused(empty, &params, ACQ_ERR_USAGE, "a query");
    params = get_params();
    params.batches = 0;
    check_refused(empty, &params, ACQ_ERR_USAGE, "a time");
    acq_graph_free(empty);
    acq_graph_builder_free(builder);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    train_case c;
    init_family(&c, 12);
    acq_train_ultra_params params = get_params();
    params.batches = 1;
    const acq_graph *graphs[] = {c.graph};
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t i = 1; status != ACQ_OK && i < MOST_ALLOCATIONS; i++) {
        acq_ultra *model = NULL;
        acq_error error = {0};
        acq_faults_fail_at(i);
        status = acq_train_ultra(graphs, 1, &params, &model, &error);
        acq_faults_fail_at(0);
        assert_int_equal(status, error.code);
        acq_ultra_free(model);
    }
    assert_int_equal(status, ACQ_OK);
    train_case_deinit(&c);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_change_the_weights),
        cmocka_unit_test(test_the_loss_goes_down),
        cmocka_unit_test(test_a_stopped_training_goes_on_as_if_it_had_not_stopped),
        cmocka_unit_test(test_a_checkpoint_of_other_options_is_refused),
        cmocka_unit_test(test_weights_to_start_from_are_started_from),
        cmocka_unit_test(test_what_cannot_be_trained_is_said),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
