/* answer_probability.c - the evidence of an answer in numbers, on the small world. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "calibrate/answer.h"
#include "unit/answer_world.h"

static small_world world;

static double logit(double p)
{
    return log(p / (1 - p));
}

static const double FACT = 1 - 1e-4;

static void describe(const char *text, acq_ent *values, float *features)
{
    acq_scoring scoring = {.threshold = .001, .negation_threshold = .5};
    acq_query *query = small_world_read(&world, text);
    double before = acq_verify_score(query, &world.predicted, &scoring, values);
    assert_int_equal(acq_answer_describe(query, &world.predicted, &scoring, values, features, NULL),
                     ACQ_OK);
    assert_true(acq_verify_score(query, &world.predicted, &scoring, values) >= before);
    acq_query_free(query);
}

#define assert_feature(features, name, expected)                                                   \
    assert_float_equal((features)[ACQ_ANSWER_##name], expected, 1e-5)

static void test_facts_alone(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {ADA, BO};
    describe("Q(x) := exists y. knows(x, y) & born_in(x, \"London\")", values, f);
    assert_feature(f, least, logit(FACT));
    assert_feature(f, second, logit(FACT));
    assert_feature(f, third, logit(FACT));
    assert_feature(f, sum, 0);
    assert_true(isnan(f[ACQ_ANSWER_mean]));
    assert_feature(f, predicted, 0);
    assert_feature(f, observed, 2);
    assert_feature(f, share, 0);
    assert_feature(f, pairs, 0);
    assert_feature(f, atoms, 2);
    assert_feature(f, variables, 2);
    assert_feature(f, free, 1);
    assert_feature(f, negated, 0);
    assert_true(isnan(f[ACQ_ANSWER_against]));
    assert_feature(f, free_atoms, 2);
    assert_feature(f, free_predicted, 0);
    assert_feature(f, paths, 0);
}

static void test_predicted_atoms(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {DI, ADA};
    describe("Q(x) := exists y. knows(x, y) & born_in(x, \"Rome\") & lives_in(y, \"Rome\")", values,
             f);
    assert_feature(f, least, logit(.25));
    assert_feature(f, second, logit(.5));
    assert_feature(f, third, logit(.625));
    assert_feature(f, sum, log(.25 * .5 * .625));
    assert_feature(f, mean, (logit(.25) + logit(.5) + logit(.625)) / 3);
    assert_feature(f, predicted, 3);
    assert_feature(f, share, 1);
    assert_feature(f, pairs, 3);
    assert_feature(f, pairs_sum, log(.25 * .5 * .625));
    assert_feature(f, free_least, logit(.5));
    assert_feature(f, free_sum, log(.5 * .625));
    assert_feature(f, free_predicted, 2);
    assert_feature(f, supports, 0);
    assert_feature(f, paths, log(.25 * .5 * .625));
}

static double count_facts(acq_ent head, acq_rel relation)
{
    double n = 0;
    for (acq_ent e = 0; e < SMALL_N_ENTITIES; e++)
        n += acq_graph_has_fact(world.predicted.graph, head, relation, e);
    return n;
}

/* The lift of a predicted link by its definition, over all entities one by one. */
static double find_log_lift(acq_ent head, acq_rel relation, acq_ent tail)
{
    const acq_predictor *p = &world.predicted;
    double row = 0, back = 0, n_tails = 0, n_heads = 0;
    for (acq_ent e = 0; e < SMALL_N_ENTITIES; e++) {
        double forward = (double)acq_predictor_get_score(p, head, relation, e);
        double backward = (double)acq_predictor_get_score(p, e, relation, tail);
        bool is_head = false, is_tail = false;
        row += forward < 1 ? forward : 0;
        back += backward < 1 ? backward : 0;
        for (acq_ent other = 0; other < SMALL_N_ENTITIES; other++) {
            is_head = is_head || acq_graph_has_fact(p->graph, e, relation, other);
            is_tail = is_tail || acq_graph_has_fact(p->graph, other, relation, e);
        }
        n_heads += is_head;
        n_tails += is_tail;
    }
    if (count_facts(head, relation) == 0)
        row = fmax(row, 1);
    if (count_facts(tail, acq_inverse(relation)) == 0)
        back = fmax(back, 1);
    double score = (double)acq_predictor_get_score(p, head, relation, tail);
    return log(score) - log(fmax(row / (n_tails + 1), back / (n_heads + 1)));
}

static void test_how_far_links_stand_out(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {DI, ADA};
    describe("Q(x) := exists y. knows(x, y) & born_in(x, \"Rome\") & lives_in(y, \"Rome\")", values,
             f);
    double lifts[] = {find_log_lift(DI, KNOWS, ADA), find_log_lift(DI, BORN_IN, ROME),
                      find_log_lift(ADA, LIVES_IN, ROME)};
    assert_feature(f, lift, lifts[2]); /* the least of the three scores is .25 */
    assert_feature(f, lift_sum, lifts[0] + lifts[1] + lifts[2]);
    assert_feature(f, lift_least, fmin(lifts[0], fmin(lifts[1], lifts[2])));
    assert_feature(f, free_lift, fmin(lifts[0], lifts[1]));
    assert_feature(f, row_facts, log(fmax(1, count_facts(ADA, LIVES_IN))));
    assert_feature(f, back_facts, log(fmax(1, count_facts(ROME, acq_inverse(LIVES_IN)))));
    acq_ent facts[] = {ADA, BO};
    describe("Q(x) := exists y. knows(x, y) & born_in(x, \"London\")", facts, f);
    assert_true(isnan(f[ACQ_ANSWER_lift]) && isnan(f[ACQ_ANSWER_lift_sum]));
    assert_true(isnan(f[ACQ_ANSWER_free_lift]) && isnan(f[ACQ_ANSWER_row_facts]));
}

static void test_repeated_atoms_count_once(void **state)
{
    (void)state;
    float once[ACQ_N_ANSWER_FEATURES], twice[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {CY};
    describe("Q(x) := born_in(x, \"London\")", values, once);
    describe("Q(x) := born_in(x, \"London\") & inverse(born_in)(\"London\", x)", values, twice);
    assert_feature(twice, atoms, 2);
    twice[ACQ_ANSWER_atoms] = once[ACQ_ANSWER_atoms];
    for (int i = 0; i < ACQ_N_ANSWER_FEATURES; i++)
        assert_true(once[i] == twice[i] || (isnan(once[i]) && isnan(twice[i])));
}

static void test_parallel_atoms_are_one_pair(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {ADA, ROME};
    describe("Q(x, y) := lives_in(x, y) & !born_in(x, y) & !knows(x, \"Di\") & x != y", values, f);
    assert_feature(f, pairs, 1);
    assert_feature(f, negated, 2);
    assert_true(isnan(f[ACQ_ANSWER_against]));
    assert_feature(f, free, 2);
    assert_feature(f, atoms, 4);
    assert_feature(f, observed, 0);
}

static void test_what_speaks_against(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {ADA};
    describe("Q(x) := born_in(x, \"London\") & !lives_in(x, \"Rome\")", values, f);
    assert_feature(f, negated, 1);
    assert_feature(f, against, logit(.25));
    assert_feature(f, denied, log(.75));
    assert_feature(f, paths, log(.75));
    assert_feature(f, observed, 1);
}

/* Born in London: Ada as observed, Cy with 0.75. */
static void test_other_values_are_counted(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {LONDON, ADA};
    describe("Q(x) := exists y. born_in(y, x)", values, f);
    assert_feature(f, supports, log(2));
    assert_feature(f, supports_sum, log(1.75));
    assert_int_equal(values[1], ADA);
}

static void test_the_likelier_value_is_taken(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {LONDON, CY};
    describe("Q(x) := exists y. born_in(y, x)", values, f);
    assert_int_equal(values[1], ADA);
    assert_feature(f, least, logit(FACT));
    assert_feature(f, predicted, 0);
}

/* Ada has a prediction against her; Bo, who lives in Paris too, has none. */
static void test_a_value_with_less_against_it_is_likelier(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {PARIS, ADA};
    describe("Q(x) := exists y. lives_in(y, x) & !lives_in(y, \"Rome\")", values, f);
    assert_int_equal(values[1], BO);
    assert_true(isnan(f[ACQ_ANSWER_against]));
}

static void test_free_values_stay(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {CY, LONDON};
    describe("Q(y, x) := born_in(y, x)", values, f);
    assert_int_equal(values[0], CY);
    assert_feature(f, least, logit(.75));
}

/* Only the branch that carries the answer is evidence. */
static void test_unused_branches_do_not_count(void **state)
{
    (void)state;
    float f[ACQ_N_ANSWER_FEATURES];
    acq_ent values[] = {ADA};
    describe("Q(x) := born_in(x, \"London\") | lives_in(x, \"Rome\")", values, f);
    assert_feature(f, predicted, 0);
    assert_feature(f, observed, 1);
    assert_feature(f, atoms, 2);
}

static const float *describe_in_field(const char *text, acq_ent *values,
                                      const acq_answer_field *field)
{
    static float f[ACQ_N_ANSWER_FEATURES];
    acq_scoring scoring = {.threshold = .001, .negation_threshold = .5};
    acq_query *query = small_world_read(&world, text);
    assert_int_equal(acq_answer_describe(query, &world.predicted, &scoring, values, f, NULL), ACQ_OK);
    acq_answer_describe_field(field, f);
    acq_query_free(query);
    return f;
}

/* Cy (.75) beside Ada, a fact, Di (.625 in Rome) and an entity without a support. */
static void test_a_field_says_how_many_come_near(void **state)
{
    (void)state;
    const char *text = "Q(x) := exists y. born_in(x, y)";
    const acq_answer_field none = {0};
    acq_answer_field field = {0};
    acq_ent ada[] = {ADA, LONDON}, cy[] = {CY, LONDON}, di[] = {DI, ROME};
    assert_true(isnan(describe_in_field(text, cy, &none)[ACQ_ANSWER_field_least]));
    assert_true(isnan(describe_in_field(text, cy, &field)[ACQ_ANSWER_field_mean]));
    acq_answer_field_add(&field, describe_in_field(text, ada, &none));
    assert_int_equal(field.n, 0);
    acq_answer_field_add(&field, describe_in_field(text, di, &none));
    acq_answer_field_add(&field, NULL);
    assert_int_equal(field.n, 2);
    const float *f = describe_in_field(text, cy, &field);
    assert_feature(f, field_least, log(.5 / 3));
    assert_feature(f, field_paths, log(.5 / 3));
    assert_feature(f, field_mean, logit(.625 / 2));
    assert_feature(f, field_supported, .5);
    f = describe_in_field(text, di, &field);
    assert_feature(f, field_least, log(1. / 3));
}

static void test_a_field_has_an_end(void **state)
{
    (void)state;
    acq_answer_field field = {0};
    for (int i = 0; i < 2 * ACQ_FIELD_MOST; i++)
        acq_answer_field_add(&field, NULL);
    assert_int_equal(field.n, ACQ_FIELD_MOST);
}

static void test_names_and_directions(void **state)
{
    (void)state;
    assert_string_equal(acq_answer_get_feature_name(ACQ_ANSWER_least), "least");
    assert_string_equal(acq_answer_get_feature_name(ACQ_ANSWER_paths), "paths");
    assert_int_equal(acq_answer_monotone[ACQ_ANSWER_least], 1);
    assert_int_equal(acq_answer_monotone[ACQ_ANSWER_against], -1);
    assert_int_equal(acq_answer_monotone[ACQ_ANSWER_atoms], 0);
}

#ifdef ACQ_FAULTS
static void test_out_of_memory_anywhere(void **state)
{
    (void)state;
    acq_scoring scoring = {.threshold = .001, .negation_threshold = .5};
    acq_query *query = small_world_read(
        &world, "Q(x) := exists y, z. knows(x, y) & born_in(y, z) & !lives_in(y, z) & y != z");
    acq_status status = ACQ_ERR_MEMORY;
    size_t nth = 1;
    for (; status == ACQ_ERR_MEMORY && nth < 100; nth++) {
        float features[ACQ_N_ANSWER_FEATURES];
        acq_ent values[] = {BO, CY, LONDON};
        acq_faults_fail_at(nth);
        status = acq_answer_describe(query, &world.predicted, &scoring, values, features, NULL);
        acq_faults_fail_at(0);
    }
    assert_int_equal(status, ACQ_OK);
    acq_query_free(query);
}
#endif

static int setup(void **state)
{
    (void)state;
    small_world_init(&world);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    small_world_deinit(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_alone),
        cmocka_unit_test(test_predicted_atoms),
        cmocka_unit_test(test_how_far_links_stand_out),
        cmocka_unit_test(test_repeated_atoms_count_once),
        cmocka_unit_test(test_parallel_atoms_are_one_pair),
        cmocka_unit_test(test_what_speaks_against),
        cmocka_unit_test(test_other_values_are_counted),
        cmocka_unit_test(test_the_likelier_value_is_taken),
        cmocka_unit_test(test_a_value_with_less_against_it_is_likelier),
        cmocka_unit_test(test_free_values_stay),
        cmocka_unit_test(test_unused_branches_do_not_count),
        cmocka_unit_test(test_a_field_says_how_many_come_near),
        cmocka_unit_test(test_a_field_has_an_end),
        cmocka_unit_test(test_names_and_directions),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_out_of_memory_anywhere),
#endif
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
