/* engine_liar.c - searches that lie are caught. This program brings its own `random` and `climb`,
 * which the linker takes instead of the library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "unit/answer_world.h"

static small_world world;

/* What the lying search answers next: value of every variable, and its score. */
static acq_ent lie_value;
static double lie_score;

acq_status acq_search_random(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error)
{
    (void)predictor;
    (void)params;
    *result = (acq_search_result){.outcome = ACQ_ANSWERED, .n_answers = 1};
    acq_arena_init(&result->arena);
    result->answers = acq_arena_alloc(&result->arena, 1, sizeof *result->answers);
    acq_ent *values = acq_arena_alloc(&result->arena, problem->n_variables, sizeof *values);
    if (result->answers == NULL || values == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < problem->n_variables; i++)
        values[i] = lie_value;
    result->answers[0] = (acq_assignment){.score = lie_score, .values = values};
    return ACQ_OK;
}

acq_status acq_search_climb(const acq_problem *problem, const acq_predictor *predictor,
                            const acq_search_params *params, acq_search_result *result,
                            acq_error *error)
{
    return acq_search_random(problem, predictor, params, result, error);
}

static acq_status ask(acq_ent value, double score, acq_error *error)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.engine = ACQ_ENGINE_random;
    acq_query *query = small_world_read(&world, "Q(x) := born_in(x, \"London\")");
    acq_engine_result result;
    lie_value = value;
    lie_score = score;
    acq_status status = acq_engine_ask(query, &world.predicted, &params, &result, error);
    acq_engine_result_deinit(&result);
    acq_query_free(query);
    return status;
}

static void test_true_answer_passes(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(ask(CY, 0.75, &error), ACQ_OK);
}

static void test_wrong_score_is_an_internal_error(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(ask(CY, 0.76, &error), ACQ_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "0.76"));
    assert_non_null(strstr(error.message, "0.75"));
}

static void test_score_that_is_not_a_number_is_an_internal_error(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(ask(CY, __builtin_nan(""), &error), ACQ_ERR_INTERNAL);
}

static void test_score_below_the_threshold_is_an_internal_error(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(ask(BO, 0.0, &error), ACQ_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "below the threshold 0.5"));
}

static void test_value_outside_the_graph_is_an_internal_error(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(ask(SMALL_N_ENTITIES, 1.0, &error), ACQ_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "outside the graph"));
}

static int set_up(void **state)
{
    (void)state;
    small_world_init(&world);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    small_world_deinit(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_answer_passes),
        cmocka_unit_test(test_wrong_score_is_an_internal_error),
        cmocka_unit_test(test_score_that_is_not_a_number_is_an_internal_error),
        cmocka_unit_test(test_score_below_the_threshold_is_an_internal_error),
        cmocka_unit_test(test_value_outside_the_graph_is_an_internal_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
