/* answer_verify.c - the verifier: by hand on the small world, and against the tests' own brute
 * force on random queries. Scores of the small world are exact in binary: no tolerance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer/answer.h"
#include "support/case.h"
#include "unit/answer_world.h"

static small_world world;

static double score_with(const char *text, acq_scoring scoring, const acq_ent *values)
{
    acq_query *query = small_world_read(&world, text);
    double score = acq_verify_score(query, &world.predicted, &scoring, values);
    acq_query_free(query);
    return score;
}

static double score(const char *text, acq_ent x, acq_ent y)
{
    return score_with(text, ACQ_SCORING_DEFAULT, (acq_ent[]){x, y});
}

static void assert_score(double got, double wanted)
{
    if (got != wanted)
        fail_msg("score %.9g instead of %.9g", got, wanted);
}

static void test_atom_scores_what_the_predictor_says(void **state)
{
    (void)state;
    assert_score(score("Q(x, y) := born_in(x, y)", ADA, LONDON), 1);
    assert_score(score("Q(x, y) := born_in(x, y)", CY, LONDON), 0.75);
    assert_score(score("Q(x, y) := born_in(x, y)", CY, ROME), 0);
    assert_score(score("Q(x, y) := inverse(born_in)(x, y)", LONDON, CY), 0.75);
    assert_score(score("Q(x) := born_in(x, \"Rome\")", DI, 0), 0.625);
}

static void test_negation_is_one_minus(void **state)
{
    (void)state;
    assert_score(score("Q(x, y) := !born_in(x, y)", CY, LONDON), 0.25);
    assert_score(score("Q(x, y) := !!born_in(x, y)", CY, LONDON), 0.75);
    assert_score(score("Q(x, y) := !born_in(x, y)", ADA, ROME), 1);
}

static void test_and_is_the_least_and_or_the_largest(void **state)
{
    (void)state;
    assert_score(score("Q(x, y) := born_in(x, y) & !lives_in(x, y)", CY, LONDON), 0.75);
    assert_score(score("Q(x, y) := born_in(x, y) | lives_in(x, y)", ADA, ROME), 0.25);
    assert_score(score("Q(x, y) := !(born_in(x, y) & lives_in(x, y))", ADA, ROME), 1);
    assert_score(score("Q(x, y) := !(born_in(x, y) | lives_in(x, y))", ADA, ROME), 0.75);
}

static void test_equality_is_one_or_zero(void **state)
{
    (void)state;
    assert_score(score("Q(x, y) := x = y & knows(x, \"Bo\")", ADA, ADA), 1);
    assert_score(score("Q(x, y) := x != y & knows(x, \"Bo\")", ADA, ADA), 0);
    assert_score(score("Q(x, y) := x != y & knows(x, \"Bo\")", ADA, CY), 1);
}

static void test_binarize_comes_before_everything(void **state)
{
    (void)state;
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    acq_ent values[] = {CY, LONDON};
    scoring.binarize = 0.75;
    assert_score(score_with("Q(x, y) := born_in(x, y)", scoring, values), 1);
    assert_score(score_with("Q(x, y) := !born_in(x, y)", scoring, values), 0);
    scoring.binarize = 0.8;
    assert_score(score_with("Q(x, y) := born_in(x, y)", scoring, values), 0);
}

static void test_negation_threshold_judges_negated_atoms_apart(void **state)
{
    (void)state;
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    acq_ent values[] = {CY, LONDON};
    scoring.negation_threshold = 0.8;
    assert_score(score_with("Q(x, y) := !born_in(x, y)", scoring, values), 1);
    assert_score(score_with("Q(x, y) := !(born_in(x, y) & lives_in(x, y))", scoring, values), 1);
    scoring.negation_threshold = 0.75; /* strictly below */
    assert_score(score_with("Q(x, y) := !born_in(x, y)", scoring, values), 0);
    assert_score(score_with("Q(x, y) := !!born_in(x, y)", scoring, values), 0.75);
    assert_score(score_with("Q(x, y) := x != y & knows(\"Ada\", \"Bo\")", scoring, values), 1);
}

static void check_random_case(uint64_t seed)
{
    static test_case c; /* large */
    case_init(&c, seed);
    acq_random random = acq_random_start(seed, 77);
    for (int i = 0; i < 20; i++) {
        acq_ent values[CASE_MOST_VARIABLES];
        for (uint32_t v = 0; v < c.query->n_variables; v++)
            values[v] = (acq_ent)acq_random_below(&random, c.n_entities);
        double got = acq_verify_score(c.query, &c.predictor, &c.scoring, values);
        double wanted = case_score(&c, values);
        if (got - wanted > 1e-12 || wanted - got > 1e-12)
            fail_msg("seed %llu: %.9g instead of %.9g", (unsigned long long)seed, got, wanted);
    }
    case_deinit(&c);
}

static void test_random_queries_score_as_by_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++)
        check_random_case(seed);
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
        cmocka_unit_test(test_atom_scores_what_the_predictor_says),
        cmocka_unit_test(test_negation_is_one_minus),
        cmocka_unit_test(test_and_is_the_least_and_or_the_largest),
        cmocka_unit_test(test_equality_is_one_or_zero),
        cmocka_unit_test(test_binarize_comes_before_everything),
        cmocka_unit_test(test_negation_threshold_judges_negated_atoms_apart),
        cmocka_unit_test(test_random_queries_score_as_by_brute_force),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
