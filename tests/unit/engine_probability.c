/* engine_probability.c - the small world with a calibrator: what p decides, and what it does not.
 *
 * Born in: Ada London and Bo Paris as observed, Cy London 0.75, Di Rome 0.625. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "calibrate/worlds.h"
#include "engine/engine.h"
#include "support/calibrator.h"
#include "unit/answer_world.h"

static const char born[] = "Q(x, y) := born_in(x, y)";
static const char born_elsewhere[] = "Q(x, y) := born_in(x, y) & !lives_in(x, \"Paris\")";

static small_world world;
static acq_predictor_ops ops;
static acq_calibrator *upright; /* with a prior likely from 0.7 on */
static acq_calibrator *turned;  /* likely below 0.7 */

static double get_floor(const acq_predictor *self)
{
    (void)self;
    return 0.01;
}

static acq_engine_result ask(const char *text, acq_engine_params params)
{
    acq_query *query = small_world_read(&world, text);
    acq_engine_result result;
    acq_error error = {0};
    if (acq_engine_ask(query, &world.predicted, &params, &result, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    acq_query_free(query);
    return result;
}

static acq_engine_result check(const char *text, const acq_ent *values, acq_engine_params params)
{
    acq_query *query = small_world_read(&world, text);
    acq_engine_result result;
    acq_error error = {0};
    if (acq_engine_check(query, &world.predicted, values, &params, &result, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    acq_query_free(query);
    return result;
}

static void test_check_decides_by_p(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result r = check(born, (acq_ent[]){CY, LONDON}, params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.answers[0].score == 0.75 && r.answers[0].p == 0.75);
    assert_ptr_equal(r.likeliest, &r.answers[0]);
    acq_engine_result_deinit(&r);
    params.min_p = 0.7;
    r = check(born, (acq_ent[]){DI, ROME}, params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_int_equal(r.n_answers, 0);
    assert_int_equal(r.n_candidates, 1);
    assert_true(r.likeliest->p == 0.625 && r.likeliest->score == 0.625 && r.p_whole == 0.625);
    acq_engine_result_deinit(&r);
}

static void test_without_any_support_none_is_proved(void **state)
{
    (void)state;
    acq_engine_result r = check(born, (acq_ent[]){DI, PARIS}, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_true(r.complete);
    assert_null(r.likeliest);
    assert_true(r.p_whole == 1.0 / ACQ_N_WORLDS);
    acq_engine_result_deinit(&r);
}

static void test_facts_are_certain(void **state)
{
    (void)state;
    acq_calibrator_lend(turned, &world.predicted);
    acq_engine_result r = check(born, (acq_ent[]){ADA, LONDON}, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.answers[0].p == 1);
    acq_engine_result_deinit(&r);
}

/* Di in Rome has 0.625, and is unlikely where half the candidates are true. */
static void test_prior_and_min_p(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.prior = 0.5;
    acq_engine_result r = check(born, (acq_ent[]){DI, ROME}, params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_true(r.likeliest->p == 0.625 && r.likeliest->p_prior < 0.1);
    double even = r.likeliest->p_prior;
    acq_engine_result_deinit(&r);
    params.prior = 0.1;
    params.only_prior = true;
    r = check(born, (acq_ent[]){DI, ROME}, params);
    double odds = even / (1 - even) / 9;
    assert_true(isnan(r.likeliest->p));
    assert_true(fabs(r.likeliest->p_prior - odds / (1 + odds)) < 1e-9);
    acq_engine_result_deinit(&r);
}

static void test_answers_come_by_p(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.search.limit = 0;
    params.min_p = 0.7;
    acq_engine_result r = ask(born, params);
    assert_int_equal(r.n_answers, 3);
    assert_int_equal(r.n_candidates, 4);
    assert_false(r.has_more);
    assert_true(r.answers[1].p == 1 && r.answers[2].p == 0.75);
    assert_int_equal(r.answers[2].values[0], CY);
    acq_engine_result_deinit(&r);
    params.min_p = 0;
    r = ask(born, params);
    assert_int_equal(r.n_answers, 4);
    acq_engine_result_deinit(&r);
}

/* Cy scores more, but with the prior Di is likelier. */
static void test_a_likelier_answer_behind_the_best_scored_one_is_found(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.prior = 0.5;
    acq_calibrator_lend(turned, &world.predicted);
    acq_engine_result r = ask(born_elsewhere, params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_int_equal(r.n_answers, 1);
    assert_int_equal(r.answers[0].values[0], DI);
    assert_int_equal(r.n_candidates, 2);
    assert_true(r.has_more);
    acq_engine_result_deinit(&r);
}

/* Someone knows Ada by 0.5 alone; someone is born in London or Rome by 0.75, 0.625 and a fact. */
static void test_p_if_answered(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result r = ask("Q(x) := knows(x, \"Ada\")", params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.answers[0].p == 0.5 && r.p_whole == 0.5 &&
                fabs(r.answers[0].p_if_answered - .99) < 1e-9);
    acq_engine_result_deinit(&r);
    r = check("Q(x) := born_in(x, \"London\")", (acq_ent[]){CY}, params);
    assert_true(r.answers[0].p == 0.75 && r.answers[0].p_if_answered == 0.75); /* Ada is one */
    acq_engine_result_deinit(&r);
}

static void test_none_keeps_the_likeliest_candidate(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.min_p = 0.7;
    acq_engine_result r = ask("Q(x) := born_in(x, \"Rome\")", params);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_int_equal(r.n_answers, 0);
    assert_int_equal(r.likeliest->values[0], DI);
    acq_engine_result_deinit(&r);
}

static void test_thresholds_set_by_hand_stay(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_params settled = acq_engine_settle(&params, &world.predicted);
    assert_true(settled.search.scoring.threshold == (double)0.01F);
    assert_true(settled.search.scoring.negation_threshold < 0);
    params.prior = 0.5;
    settled = acq_engine_settle(&params, &world.predicted);
    assert_true(settled.search.scoring.negation_threshold == 1);
    params.prior = -1;
    params.has_threshold = params.has_negation_threshold = true;
    params.search.scoring.threshold = 0.7;
    params.search.limit = 0;
    params.min_p = 0;
    settled = acq_engine_settle(&params, &world.predicted);
    assert_true(settled.search.scoring.threshold == 0.7);
    assert_true(settled.search.scoring.negation_threshold < 0);
    acq_engine_result r = ask(born, params);
    assert_int_equal(r.n_answers, 3);
    acq_engine_result_deinit(&r);
}

/* An answer that denies a link is as sure as that link is unlikely. */
static void test_denied_links(void **state)
{
    (void)state;
    acq_engine_result r = check("Q(x) := born_in(x, \"London\") & !lives_in(x, \"Rome\")",
                                (acq_ent[]){ADA}, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.answers[0].score == 0.75 && r.answers[0].p == 0.75);
    acq_engine_result_deinit(&r);
    r = check("Q(x) := !born_in(x, \"Rome\")", (acq_ent[]){DI}, ACQ_ENGINE_DEFAULT);
    assert_int_equal(r.outcome, ACQ_NONE);
    assert_true(r.likeliest->p == 0.375);
    acq_engine_result_deinit(&r);
    r = check("Q(x) := born_in(x, \"London\") & !lives_in(x, \"London\")", (acq_ent[]){ADA},
              ACQ_ENGINE_DEFAULT); /* nothing predicts it: still not certain */
    assert_true(r.answers[0].p == 1 - 1.0 / ACQ_N_WORLDS);
    acq_engine_result_deinit(&r);
}

static void test_paper_and_binarize_have_no_p(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.paper = true;
    acq_engine_result r = check(born, (acq_ent[]){DI, ROME}, params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(isnan(r.answers[0].p));
    assert_null(r.likeliest);
    acq_engine_result_deinit(&r);
    params = ACQ_ENGINE_DEFAULT;
    params.search.scoring.binarize = 0.6;
    r = check(born, (acq_ent[]){DI, ROME}, params);
    assert_true(r.answers[0].score == 1 && isnan(r.answers[0].p));
    acq_engine_result_deinit(&r);
}

static void test_without_calibrator_scores_decide(void **state)
{
    (void)state;
    acq_calibrator_lend(NULL, &world.predicted);
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.min_p = 0.99;
    acq_engine_result r = check(born, (acq_ent[]){DI, ROME}, params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(isnan(r.answers[0].p));
    acq_engine_result_deinit(&r);
}

/* What one search finds is all that such an engine offers. */
static void test_other_engines_have_p_too(void **state)
{
    (void)state;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.engine = ACQ_ENGINE_climb;
    acq_engine_result r = ask("Q(x) := born_in(x, \"Rome\")", params);
    assert_int_equal(r.outcome, ACQ_ANSWERED);
    assert_true(r.answers[0].p == 0.625);
    acq_engine_result_deinit(&r);
}

static void test_a_calibrator_of_other_features_is_refused(void **state)
{
    (void)state;
    float x[] = {0, 1};
    uint8_t labels[] = {0, 1};
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    acq_boost_data data = {.x = x, .labels = labels, .n = 2, .n_features = 1};
    acq_calibrator other = {0};
    boost.n_trees = 1;
    boost.n_threads = 1;
    assert_int_equal(acq_boost_fit(&data, &boost, &other.balanced, NULL), ACQ_OK);
    acq_calibrator_lend(&other, &world.predicted);
    acq_query *query = small_world_read(&world, born);
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result r;
    acq_error error = {0};
    assert_int_equal(acq_engine_ask(query, &world.predicted, &params, &r, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "make it anew with anycq fit"));
    acq_engine_result_deinit(&r);
    acq_query_free(query);
    acq_boost_free(other.balanced);
}

static acq_answer_field find_field(const char *text)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_answer_field field;
    acq_error error = {0};
    acq_query *query = small_world_read(&world, text);
    params.prior = .5;
    params = acq_engine_settle(&params, &world.predicted);
    assert_int_equal(acq_engine_find_field(query, &world.predicted, &params, &field, &error),
                     ACQ_OK);
    acq_query_free(query);
    return field;
}

/* Ada, Bo and Cy are seen to know somebody; facts say it of all but who is born in a town: Cy is.
 */
static void test_the_field_is_what_others_reach(void **state)
{
    (void)state;
    acq_answer_field field = find_field("Q(x) := exists y, z. knows(x, y) & born_in(y, z)");
    assert_true(field.n > 0);
    for (size_t i = 0; i < field.n; i++)
        assert_true(field.least[i] < 9.2F); /* no fact */
    acq_answer_field turned_round =
        find_field("Q(a) := exists b, c. born_in(b, c) & knows(a, b) & born_in(b, c)");
    assert_int_equal(field.n, turned_round.n);
    assert_memory_equal(field.least, turned_round.least, field.n * sizeof *field.least);
    acq_answer_field two = find_field("Q(x, z) := exists y. knows(x, y) & born_in(y, z)");
    assert_memory_equal(field.least, two.least, field.n * sizeof *field.least);
    /* three are seen on either side: the order of atoms does not decide which come first */
    field = find_field("Q(x) := exists y, z. knows(x, y) & knows(z, x)");
    turned_round = find_field("Q(x) := exists y, z. knows(z, x) & knows(x, y)");
    assert_int_equal(field.n, turned_round.n);
    assert_memory_equal(field.least, turned_round.least, field.n * sizeof *field.least);
    assert_int_equal(find_field("Q(x) := !knows(x, \"Bo\")").n, 0);
}

static void test_many_checks_have_the_prior_of_single_ones(void **state)
{
    (void)state;
    const char *text = "Q(x) := exists y. knows(x, y) & born_in(y, \"London\")";
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_ent people[] = {ADA, BO, CY, DI};
    const acq_ent *tuples[] = {&people[0], &people[1], &people[2], &people[3]};
    acq_engine_result many[4];
    acq_error error = {0};
    params.prior = .5;
    acq_query *query = small_world_read(&world, text);
    assert_int_equal(
        acq_engine_check_many(query, &world.predicted, tuples, 4, &params, many, &error), ACQ_OK);
    for (int i = 0; i < 4; i++) {
        acq_engine_result one = check(text, tuples[i], params);
        assert_int_equal(one.n_candidates, many[i].n_candidates);
        if (one.n_candidates > 0)
            assert_true(one.likeliest->p_prior == many[i].likeliest->p_prior);
        acq_engine_result_deinit(&one);
        acq_engine_result_deinit(&many[i]);
    }
    acq_query_free(query);
}

#ifdef ACQ_FAULTS
static void test_out_of_memory_anywhere(void **state)
{
    (void)state;
    acq_calibrator_lend(turned, &world.predicted);
    acq_query *query = small_world_read(&world, born_elsewhere);
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status == ACQ_ERR_MEMORY && n < 1000; n++) {
        acq_engine_result r;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_engine_ask(query, &world.predicted, &params, &r, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        acq_engine_result_deinit(&r);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 10);
    acq_query_free(query);
}
#endif

static int set_up(void **state)
{
    (void)state;
    small_world_init(&world);
    ops = *world.predicted.ops;
    ops.get_floor = get_floor;
    world.predicted.ops = &ops;
    upright = acq_test_calibrator(.7);
    turned = acq_test_calibrator(-.7);
    return upright == NULL || turned == NULL ? -1 : 0;
}

static int use_upright(void **state)
{
    (void)state;
    acq_calibrator_lend(upright, &world.predicted);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    acq_calibrator_free(upright);
    acq_calibrator_free(turned);
    small_world_deinit(&world);
    return 0;
}

#define upright_test(test) cmocka_unit_test_setup(test, use_upright)

int main(void)
{
    const struct CMUnitTest tests[] = {
        upright_test(test_check_decides_by_p),
        upright_test(test_without_any_support_none_is_proved),
        upright_test(test_facts_are_certain),
        upright_test(test_prior_and_min_p),
        upright_test(test_answers_come_by_p),
        upright_test(test_a_likelier_answer_behind_the_best_scored_one_is_found),
        upright_test(test_p_if_answered),
        upright_test(test_none_keeps_the_likeliest_candidate),
        upright_test(test_thresholds_set_by_hand_stay),
        upright_test(test_denied_links),
        upright_test(test_paper_and_binarize_have_no_p),
        upright_test(test_without_calibrator_scores_decide),
        upright_test(test_other_engines_have_p_too),
        upright_test(test_a_calibrator_of_other_features_is_refused),
        upright_test(test_the_field_is_what_others_reach),
        upright_test(test_many_checks_have_the_prior_of_single_ones),
#ifdef ACQ_FAULTS
        upright_test(test_out_of_memory_anywhere),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
