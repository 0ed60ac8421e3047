/* engine_ask.c - the engine on the small world: retrieval, classification, variables that occur
 * nowhere, the paper's rule, and the names of engines and predictors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "engine/open.h"
#include "unit/answer_world.h"

static small_world world;

static acq_engine_result ask(const char *text, const acq_predictor *predictor,
                             acq_engine_params params)
{
    acq_query *query = small_world_read(&world, text);
    acq_engine_result result;
    acq_error error = {0};
    if (acq_engine_ask(query, predictor, &params, &result, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    acq_query_free(query);
    return result;
}

static acq_engine_result check(const char *text, const acq_predictor *predictor,
                               const acq_ent *values, acq_engine_params params)
{
    acq_query *query = small_world_read(&world, text);
    acq_engine_result result;
    acq_error error = {0};
    if (acq_engine_check(query, predictor, values, &params, &result, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    acq_query_free(query);
    return result;
}

static void test_best_answer_comes_with_witness_and_score(void **state)
{
    (void)state;
    acq_engine_result r = ask("Q(x) := exists y. knows(y, x) & born_in(x, \"London\")",
                              &world.predicted, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.complete);
    assert_int_equal(r.n_answers, 1);
    assert_int_equal(r.answers[0].values[0], CY);
    assert_int_equal(r.answers[0].values[1], BO);
    assert_true(r.answers[0].score == 0.75);
    acq_engine_result_deinit(&r);
}

static void test_none_is_proved(void **state)
{
    (void)state;
    acq_engine_result r = ask("Q(x) := born_in(x, \"Rome\")", world.observed, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_true(r.complete);
    acq_engine_result_deinit(&r);
}

static void test_limit_gives_the_best_ones_in_order(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.search.limit = 0;
    acq_engine_result r = ask("Q(x, y) := born_in(x, y)", &world.predicted, params);
    assert_int_equal(r.n_answers, 4);
    assert_true(r.answers[2].score == 0.75 && r.answers[3].score == 0.625);
    acq_engine_result_deinit(&r);
    params.search.scoring.threshold = 0.7;
    r = ask("Q(x, y) := born_in(x, y)", &world.predicted, params);
    assert_int_equal(r.n_answers, 3);
    acq_engine_result_deinit(&r);
}

static void test_variables_that_occur_nowhere_get_a_value(void **state)
{
    (void)state;
    acq_engine_result r = ask("Q(x) := exists y, z. born_in(x, \"London\") & y = y & z = z",
                              world.observed, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.n_answers, 1);
    for (int i = 0; i < 3; i++)
        assert_true(r.answers[0].values[i] < SMALL_N_ENTITIES);
    acq_engine_result_deinit(&r);
}

static void test_check_says_yes_with_all_values(void **state)
{
    (void)state;
    acq_ent values[] = {CY};
    acq_engine_result r = check("Q(x) := exists y. knows(y, x) & born_in(x, \"London\")",
                                &world.predicted, values, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_int_equal(r.answers[0].values[0], CY);
    assert_int_equal(r.answers[0].values[1], BO);
    acq_engine_result_deinit(&r);
}

static void test_check_says_no_with_proof(void **state)
{
    (void)state;
    acq_ent values[] = {BO};
    acq_engine_result r = check("Q(x) := exists y. knows(y, x) & born_in(x, \"London\")",
                                &world.predicted, values, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_int_equal(r.n_answers, 0);
    acq_engine_result_deinit(&r);
}

static void test_check_agrees_with_ask_on_every_tuple(void **state)
{
    (void)state;
    const char *text = "Q(x, y) := exists z. knows(x, z) & (born_in(z, y) | lives_in(z, y)) & "
                       "!born_in(x, y)";
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.search.limit = 0;
    acq_engine_result all = ask(text, &world.predicted, params);
    assert_int_equal(all.outcome, ACQ_ANSWERED);
    size_t n_yes = 0;
    for (acq_ent x = 0; x < SMALL_N_ENTITIES; x++) {
        for (acq_ent y = 0; y < SMALL_N_ENTITIES; y++) {
            acq_engine_result one =
                check(text, &world.predicted, (acq_ent[]){x, y}, ACQ_ENGINE_DEFAULT);
            n_yes += one.outcome == ACQ_ANSWERED;
            acq_engine_result_deinit(&one);
        }
    }
    assert_int_equal(n_yes, all.n_answers);
    acq_engine_result_deinit(&all);
}

static void test_check_refuses_a_value_outside_the_graph(void **state)
{
    (void)state;
    acq_query *query = small_world_read(&world, "Q(x) := born_in(x, \"London\")");
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result r;
    acq_error error = {0};
    acq_ent values[] = {SMALL_N_ENTITIES};
    assert_int_equal(acq_engine_check(query, world.observed, values, &params, &r, &error),
                     ACQ_ERR_USAGE);
    assert_string_equal(error.message, "the value of x is not an entity of the graph");
    acq_engine_result_deinit(&r);
    acq_query_free(query);
}

static void test_paper_rule_makes_none_of_undecided(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.engine = ACQ_ENGINE_random;
    params.search.steps = 20;
    acq_engine_result r = ask("Q(x) := born_in(x, \"Rome\")", world.observed, params);
    assert_int_equal(r.outcome, ACQ_UNDECIDED);
    assert_int_equal(r.spent, ACQ_SPENT_STEPS);
    acq_engine_result_deinit(&r);
    params.paper = true;
    r = ask("Q(x) := born_in(x, \"Rome\")", world.observed, params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_false(r.complete);
    acq_engine_result_deinit(&r);
}

/* The same ids in another graph are other entities. */
static void test_a_query_of_another_graph_is_refused(void **state)
{
    (void)state;
    small_world other;
    small_world_init(&other);
    acq_query *query = small_world_read(&other, "Q(x) := born_in(x, \"London\")");
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result results[2];
    acq_error error = {0};
    const acq_ent ada[] = {ADA};
    const acq_ent *const tuples[] = {ada, ada};
    assert_int_equal(acq_engine_ask(query, world.observed, &params, results, &error),
                     ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "another graph"));
    acq_engine_result_deinit(results);
    assert_int_equal(acq_engine_check(query, world.observed, ada, &params, results, NULL),
                     ACQ_ERR_USAGE);
    acq_engine_result_deinit(results);
    assert_int_equal(
        acq_engine_check_many(query, world.observed, tuples, 2, &params, results, NULL),
        ACQ_ERR_USAGE);
    acq_engine_result_deinit(&results[0]);
    acq_engine_result_deinit(&results[1]);
    assert_int_equal(acq_engine_ask(query, other.observed, &params, results, NULL), ACQ_OK);
    acq_engine_result_deinit(results);
    acq_query_free(query);
    small_world_deinit(&other);
}

static void test_query_without_free_variables(void **state)
{
    (void)state;
    acq_engine_result r =
        ask("Q() := exists x. born_in(x, \"London\")", world.observed, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_int_equal(r.n_answers, 1);
    acq_engine_result_deinit(&r);
    r = check("Q() := exists x. born_in(x, \"Rome\")", world.observed, NULL, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_NONE);
    acq_engine_result_deinit(&r);
}

static void test_engines_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(acq_engine_find("exact"), ACQ_ENGINE_exact);
    assert_int_equal(acq_engine_find("climb"), ACQ_ENGINE_climb);
    assert_int_equal(acq_engine_find("policy"), ACQ_ENGINE_policy);
    assert_int_equal(acq_engine_find("Exact"), ACQ_N_ENGINES);
    assert_string_equal(acq_engine_get_name(ACQ_ENGINE_random), "random");
    assert_true(acq_engine_is_complete(ACQ_ENGINE_exact));
    assert_false(acq_engine_is_complete(ACQ_ENGINE_climb));
    assert_false(acq_engine_is_complete(ACQ_ENGINE_policy));
}

static void assert_spec_fails(const char *spec, const char *message)
{
    acq_error error = {0};
    acq_predictor *predictor;
    assert_int_equal(acq_predictor_open(world.graph, spec, NULL, &predictor, NULL, &error),
                     ACQ_ERR_USAGE);
    assert_string_equal(error.message, message);
}

static void test_predictors_are_opened_by_name(void **state)
{
    (void)state;
    acq_predictor *predictor;
    assert_int_equal(acq_predictor_open(world.graph, "auto", NULL, &predictor, NULL, NULL), ACQ_OK);
    assert_string_equal(predictor->name, "ultra");
    acq_predictor_free(predictor);
    assert_spec_fails("oberved",
                      "no predictor \"oberved\"; use auto, observed, perfect:GRAPH, "
                      "completion:FILE, complex:MODEL, nbfnet:MODEL, rules:MODEL, ultra or "
                      "ultra:MODEL");
    assert_spec_fails("ultra:", "predictor \"ultra\" needs a file: ultra:PATH");
    assert_spec_fails("complex", "predictor \"complex\" needs a file: complex:PATH");
    assert_int_equal(acq_predictor_open(world.graph, "complex:no/such.safetensors", NULL,
                                        &predictor, NULL, NULL),
                     ACQ_ERR_INPUT);
    assert_spec_fails("perfect", "predictor \"perfect\" needs a file: perfect:PATH");
    assert_spec_fails("perfect:", "predictor \"perfect\" needs a file: perfect:PATH");
    assert_spec_fails("observed:x", "predictor \"observed\" takes no file");
    acq_error error = {0};
    assert_int_equal(
        acq_predictor_open(world.graph, "perfect:no/such.tsv", NULL, &predictor, NULL, &error),
        ACQ_ERR_INPUT);
    assert_string_equal(error.file, "no/such.tsv");
}

static void assert_values_fail(const char *text, const char *const *names, size_t n,
                               const char *message)
{
    acq_query *query = small_world_read(&world, text);
    acq_ent values[4];
    acq_error error = {0};
    assert_int_not_equal(acq_query_find_values(query, world.graph, names, n, values, &error),
                         ACQ_OK);
    assert_string_equal(error.message, message);
    acq_query_free(query);
}

static void test_values_of_a_check_are_named(void **state)
{
    (void)state;
    const char *one[] = {"Ada"}, *wrong[] = {"Ada", "Pariss"}, *far[] = {"Constantinople"};
    assert_values_fail("Q(x, y) := born_in(x, y)", one, 1,
                       "the query has 2 free variables (x, y), but 1 value was given");
    assert_values_fail("Q(x) := born_in(x, \"Rome\")", one, 0,
                       "the query has 1 free variable (x), but 0 values were given");
    assert_values_fail("Q() := exists x. born_in(x, \"Rome\")", one, 1,
                       "the query has no free variable and takes no value, but 1 was given");
    assert_values_fail("Q(x, y) := born_in(x, y)", wrong, 2,
                       "no entity \"Pariss\" for y in this graph; did you mean \"Paris\"?");
    assert_values_fail("Q(x) := born_in(x, \"Rome\")", far, 1,
                       "no entity \"Constantinople\" for x in this graph");
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
        cmocka_unit_test(test_best_answer_comes_with_witness_and_score),
        cmocka_unit_test(test_none_is_proved),
        cmocka_unit_test(test_limit_gives_the_best_ones_in_order),
        cmocka_unit_test(test_variables_that_occur_nowhere_get_a_value),
        cmocka_unit_test(test_check_says_yes_with_all_values),
        cmocka_unit_test(test_check_says_no_with_proof),
        cmocka_unit_test(test_check_agrees_with_ask_on_every_tuple),
        cmocka_unit_test(test_check_refuses_a_value_outside_the_graph),
        cmocka_unit_test(test_paper_rule_makes_none_of_undecided),
        cmocka_unit_test(test_a_query_of_another_graph_is_refused),
        cmocka_unit_test(test_query_without_free_variables),
        cmocka_unit_test(test_engines_are_found_by_name),
        cmocka_unit_test(test_predictors_are_opened_by_name),
        cmocka_unit_test(test_values_of_a_check_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
