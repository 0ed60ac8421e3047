/* engine_policy.c - the policy search through the engine: weights, batches of checks, the paper's
 * rule, notes, and every allocation failing once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "search/policy/model.h"
#include "unit/answer_world.h"

enum { STEPS = 12 };

static const char *const path = "Q(x) := exists y, z. knows(x, y) & knows(y, z) & lives_in(x, "
                                "\"Paris\") & !born_in(z, \"Paris\")";

static small_world world;
static acq_policy *policy;

static acq_engine_params get_params(acq_engine_id engine)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.engine = engine;
    params.search.steps = STEPS;
    params.search.stream = 5;
    params.search.policy.policy = policy;
    return params;
}

static acq_engine_result ask(const char *text, const acq_engine_params *params)
{
    acq_query *query = small_world_read(&world, text);
    acq_engine_result result;
    acq_error error = {0};
    if (acq_engine_ask(query, &world.predicted, params, &result, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    acq_query_free(query);
    return result;
}

static void test_answer_is_verified_and_has_all_values(void **state)
{
    (void)state;
    acq_engine_params params = get_params(ACQ_ENGINE_policy);
    params.search.steps = 2000;
    acq_engine_result r = ask(path, &params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_int_equal(r.answers[0].values[0], ADA);
    assert_int_equal(r.answers[0].values[1], BO);
    assert_int_equal(r.answers[0].values[2], CY);
    assert_true(r.answers[0].score == 1.0);
    assert_true(r.effort.classes > 0 && (r.effort.nodes == 0 || r.effort.flops > 0));
    acq_engine_result_deinit(&r);
}

static void test_weights_are_needed(void **state)
{
    (void)state;
    acq_query *query = small_world_read(&world, path);
    acq_engine_params params = get_params(ACQ_ENGINE_policy);
    params.search.policy.policy = NULL;
    acq_engine_result r;
    acq_error error = {0};
    assert_int_equal(acq_engine_ask(query, world.observed, &params, &r, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "the policy search needs weights; open some first");
    acq_engine_result_deinit(&r);
    acq_query_free(query);
}

static void test_nothing_to_find_is_noted_and_none_by_the_papers_rule(void **state)
{
    (void)state;
    acq_engine_params params = get_params(ACQ_ENGINE_policy);
    acq_engine_result r = ask("Q(x) := knows(\"London\", x)", &params);
    assert_int_equal(r.outcome, ACQ_UNDECIDED);
    assert_non_null(r.note);
    assert_non_null(strstr(r.note, "knows"));
    acq_engine_result_deinit(&r);
    params.paper = true;
    r = ask("Q(x) := knows(\"London\", x)", &params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_false(r.complete);
    acq_engine_result_deinit(&r);
    r = ask("Q(x) := exists y. knows(x, y) & knows(y, x) & x != y", &params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_int_equal(r.effort.nodes, STEPS);
    acq_engine_result_deinit(&r);
}

static void count_step(void *context, const acq_trace_step *step)
{
    uint64_t *next = context;
    assert_int_equal(step->step, *next);
    assert_true(step->best >= step->score && step->n_classes > 0);
    ++*next;
}

static void test_trace_tells_every_step(void **state)
{
    (void)state;
    uint64_t n = 0;
    acq_engine_params params = get_params(ACQ_ENGINE_policy);
    params.search.policy.trace = count_step;
    params.search.policy.context = &n;
    acq_engine_result r = ask("Q(x) := exists y. knows(x, y) & knows(y, x) & x != y", &params);
    assert_int_equal(n, STEPS + 1);
    acq_engine_result_deinit(&r);
}

static void assert_same(const acq_query *query, const acq_engine_result *a,
                        const acq_engine_result *b)
{
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->effort.nodes, b->effort.nodes);
    assert_int_equal(a->effort.classes, b->effort.classes);
    assert_int_equal(a->n_answers, b->n_answers);
    for (size_t i = 0; i < a->n_answers; i++) {
        assert_true(a->answers[i].score == b->answers[i].score);
        assert_memory_equal(a->answers[i].values, b->answers[i].values,
                            query->n_variables * sizeof(acq_ent));
    }
}

static void check_many_like_one(acq_engine_id engine)
{
    acq_ent values[SMALL_N_ENTITIES];
    const acq_ent *tuples[SMALL_N_ENTITIES];
    acq_engine_result many[SMALL_N_ENTITIES], one;
    acq_query *query = small_world_read(&world, path);
    acq_engine_params params = get_params(engine);
    for (acq_ent i = 0; i < SMALL_N_ENTITIES; i++) {
        values[i] = i;
        tuples[i] = &values[i];
    }
    assert_int_equal(acq_engine_check_many(query, &world.predicted, tuples, SMALL_N_ENTITIES,
                                           &params, many, NULL),
                     ACQ_OK);
    for (size_t i = 0; i < SMALL_N_ENTITIES; i++) {
        acq_engine_params single = params;
        single.search.stream += i;
        assert_int_equal(acq_engine_check(query, &world.predicted, tuples[i], &single, &one, NULL),
                         ACQ_OK);
        assert_same(query, &many[i], &one);
        acq_engine_result_deinit(&one);
        acq_engine_result_deinit(&many[i]);
    }
    acq_query_free(query);
}

static void test_many_checks_give_what_single_ones_give(void **state)
{
    (void)state;
    for (unsigned engine = 0; engine < ACQ_N_ENGINES; engine++)
        if (engine != ACQ_ENGINE_sql && engine != ACQ_ENGINE_gnnqe &&
            engine != ACQ_ENGINE_ultraquery) /* no scores, no weights */
            check_many_like_one((acq_engine_id)engine);
}

static void test_one_bad_tuple_of_many_is_an_error(void **state)
{
    (void)state;
    acq_ent good = ADA, bad = SMALL_N_ENTITIES;
    const acq_ent *tuples[] = {&good, &bad};
    acq_engine_result results[2];
    acq_query *query = small_world_read(&world, path);
    for (unsigned engine = 0; engine < ACQ_N_ENGINES; engine++) {
        acq_engine_params params = get_params((acq_engine_id)engine);
        acq_error error = {0};
        assert_int_equal(
            acq_engine_check_many(query, world.observed, tuples, 2, &params, results, &error),
            ACQ_ERR_USAGE);
        assert_string_equal(error.message, "the value of x is not an entity of the graph");
        acq_engine_result_deinit(&results[0]);
        acq_engine_result_deinit(&results[1]);
    }
    acq_query_free(query);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_a_status(void **state)
{
    (void)state;
    acq_ent values[] = {ADA, BO, CY};
    const acq_ent *tuples[] = {&values[0], &values[1], &values[2]};
    acq_engine_result results[3];
    acq_query *query = small_world_read(&world, path);
    acq_engine_params params = get_params(ACQ_ENGINE_policy);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status =
            acq_engine_check_many(query, &world.predicted, tuples, 3, &params, results, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && error.code == status));
        for (size_t i = 0; i < 3; i++)
            acq_engine_result_deinit(&results[i]);
    }
    acq_query_free(query);
}
#endif

static int set_up(void **state)
{
    (void)state;
    small_world_init(&world);
    return acq_policy_open("untrained:8", 3, &policy, NULL) == ACQ_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    acq_policy_free(policy);
    small_world_deinit(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_is_verified_and_has_all_values),
        cmocka_unit_test(test_weights_are_needed),
        cmocka_unit_test(test_nothing_to_find_is_noted_and_none_by_the_papers_rule),
        cmocka_unit_test(test_trace_tells_every_step),
        cmocka_unit_test(test_many_checks_give_what_single_ones_give),
        cmocka_unit_test(test_one_bad_tuple_of_many_is_an_error),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_a_status),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
