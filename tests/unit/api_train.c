/* api_train.c - training through the public library: a model that its predictor opens, progress that
 * stops and resumes, and every NULL and wrong option refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/api_case.h"

static char folder[] = "/tmp/anycq-api-train-XXXXXX";
static char model[sizeof folder + 16], checkpoint[sizeof folder + 32];

static int set_up(void **state)
{
    if (api_set_up(state) != 0 || mkdtemp(folder) == NULL)
        return -1;
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", model);
    return 0;
}

static int tear_down(void **state)
{
    unlink(model);
    return rmdir(folder) != 0 ? -1 : api_tear_down(state); /* nothing else is left */
}

static bool stop_later(void *context, const acq_progress *now)
{
    assert_string_equal(now->phase, "training");
    assert_non_null(now->text);
    assert_true(now->done <= now->total);
    return (*(int *)context)-- > 0;
}

static void test_a_model_is_trained_stopped_and_resumed(void **state)
{
    (void)state;
    acq_train_option options[] = {
        {"rank", "4"}, {"epochs", "30"}, {"f32", NULL}, {"batch", "2"}, {"resume", "no"}};
    acq_train_params params;
    acq_train_summary summary = {.size = sizeof summary};
    acq_trained *trained = NULL;
    acq_predictor *predictor = NULL;
    acq_error error = {0};
    const acq_graph *graph = f.graph;
    char spec[sizeof model + 16];
    int left = 5;
    acq_train_params_init(&params);
    params.options = options;
    params.n_options = sizeof options / sizeof *options;
    params.progress = stop_later;
    params.context = &left;
    assert_int_equal(acq_train("complex", &graph, 1, model, &params, &trained, &error),
                     ACQ_ERR_INTERRUPTED);
    assert_null(trained);
    assert_int_equal(access(checkpoint, F_OK), 0);
    options[4].value = "yes";
    options[0].value = "5";
    acq_error_clear(&error);
    assert_int_equal(acq_train("complex", &graph, 1, model, &params, NULL, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "--rank 4, not 5"));
    options[0].value = "4";
    params.progress = NULL;
    assert_int_equal(acq_train("complex", &graph, 1, model, &params, &trained, NULL), ACQ_OK);
    acq_trained_get(trained, &summary);
    assert_string_equal(summary.kind, "complex");
    assert_string_equal(summary.unit, "epochs");
    assert_true(summary.done == 30 && summary.seed == 1 && summary.loss > 0);
    assert_non_null(strstr(summary.options, "rank=4 rate=0.1"));
    acq_trained_free(trained);
    snprintf(spec, sizeof spec, "complex:%s", model);
    assert_int_equal(acq_predictor_new(f.graph, spec, NULL, &predictor, NULL), ACQ_OK);
    acq_predictor_free(predictor);
}

static void test_wrong_arguments_are_refused_by_name(void **state)
{
    (void)state;
    const acq_graph *graph = f.graph, *none = NULL;
    static const struct {
        const char *kind;
        bool has_graphs, has_graph, has_output;
        const char *message;
    } cases[] = {{NULL, true, true, true, "acq_train: kind is NULL"},
                 {"complex", false, true, true, "acq_train: graphs is NULL"},
                 {"complex", true, false, true, "acq_train: graphs[0] is NULL"},
                 {"complex", true, true, false, "acq_train: output is NULL"},
                 {"transe", true, true, true,
                  "no model \"transe\" to train; use complex, nbfnet, gnnqe, ultra, rules "
                  "or policy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        acq_error error = {0};
        const acq_graph *const *graphs = cases[i].has_graph ? &graph : &none;
        assert_int_equal(acq_train(cases[i].kind, cases[i].has_graphs ? graphs : NULL, 1,
                                   cases[i].has_output ? model : NULL, NULL, NULL, &error),
                         ACQ_ERR_USAGE);
        assert_string_equal(error.message, cases[i].message);
    }
    acq_train_option wrong = {"dim", "3"};
    acq_error error = {0};
    assert_int_equal(acq_train_check("nbfnet", &wrong, 1, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "train nbfnet has no option \"dim\"");
    assert_int_equal(acq_train_check("policy", &wrong, 1, NULL), ACQ_OK);
    assert_int_equal(acq_train_check(NULL, NULL, 0, NULL), ACQ_ERR_USAGE);
    acq_trained_free(NULL);
    acq_trained_get(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_is_trained_stopped_and_resumed),
        cmocka_unit_test(test_wrong_arguments_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
