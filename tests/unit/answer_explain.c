/* answer_explain.c - evidence: what each atom rests on, and which atoms the answer needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "unit/answer_world.h"

static small_world world;

typedef struct explained {
    acq_query *query;
    acq_arena arena;
    acq_evidence *evidence;
    size_t n;
} explained;

static explained explain_with(const char *text, acq_scoring scoring, acq_ent x, acq_ent y)
{
    explained e = {.query = small_world_read(&world, text)};
    acq_arena_init(&e.arena);
    acq_ent values[] = {x, y};
    assert_int_equal(
        acq_explain(e.query, &world.predicted, &scoring, values, &e.arena, &e.evidence, &e.n, NULL),
        ACQ_OK);
    return e;
}

static explained explain(const char *text, acq_ent x, acq_ent y)
{
    return explain_with(text, ACQ_SCORING_DEFAULT, x, y);
}

static void release(explained *e)
{
    acq_arena_deinit(&e->arena);
    acq_query_free(e->query);
}

static void test_kinds_of_evidence(void **state)
{
    (void)state;
    explained e = explain("Q(x, y) := born_in(x, y) & !lives_in(x, y) & knows(x, \"Di\") & x != y",
                          CY, LONDON);
    assert_int_equal(e.n, 4);
    assert_int_equal(e.evidence[0].kind, ACQ_EVIDENCE_PREDICTED);
    assert_true(e.evidence[0].link == 0.75 && e.evidence[0].score == 0.75);
    assert_int_equal(e.evidence[1].kind, ACQ_EVIDENCE_ABSENT);
    assert_true(e.evidence[1].is_negated && e.evidence[1].score == 1);
    assert_int_equal(e.evidence[2].kind, ACQ_EVIDENCE_OBSERVED);
    assert_int_equal(e.evidence[2].left, CY);
    assert_int_equal(e.evidence[2].right, DI);
    assert_int_equal(e.evidence[3].kind, ACQ_EVIDENCE_EQUALITY);
    assert_true(e.evidence[3].score == 1);
    release(&e);
}

static void test_only_the_best_branch_is_used(void **state)
{
    (void)state;
    explained e = explain(
        "Q(x, y) := lives_in(x, y) | born_in(x, y) & knows(x, \"Di\") | knows(x, y)", CY, LONDON);
    assert_int_equal(e.n, 4);
    assert_false(e.evidence[0].used);
    assert_true(e.evidence[1].used && e.evidence[2].used);
    assert_false(e.evidence[3].used);
    release(&e);
}

static void test_nested_branches_that_lose_are_unused_throughout(void **state)
{
    (void)state;
    explained e = explain("Q(x, y) := (lives_in(x, y) & (born_in(x, y) | knows(x, y))) | "
                          "knows(x, \"Di\")",
                          CY, LONDON);
    for (size_t i = 0; i < 3; i++)
        assert_false(e.evidence[i].used);
    assert_true(e.evidence[3].used);
    release(&e);
}

static void test_negated_and_needs_one_branch(void **state)
{
    (void)state;
    explained e = explain("Q(x, y) := !(born_in(x, y) & lives_in(x, y))", CY, LONDON);
    assert_false(e.evidence[0].used);
    assert_true(e.evidence[1].used && e.evidence[1].is_negated);
    release(&e);
}

static void test_observed_wins_a_tie(void **state)
{
    (void)state;
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    scoring.binarize = 0.5;
    explained e = explain_with("Q(x, y) := born_in(x, y) | knows(x, \"Di\")", scoring, CY, LONDON);
    assert_true(e.evidence[0].score == 1 && e.evidence[1].score == 1);
    assert_false(e.evidence[0].used);
    assert_true(e.evidence[1].used);
    assert_true(acq_explain_is_observed(e.evidence, e.n));
    release(&e);
}

static void test_predictions_make_an_answer_predicted(void **state)
{
    (void)state;
    explained plain = explain("Q(x, y) := born_in(x, y) & !lives_in(x, y)", ADA, LONDON);
    explained positive = explain("Q(x, y) := born_in(x, y)", CY, LONDON);
    explained negated = explain("Q(x, y) := knows(x, \"Bo\") & !lives_in(x, y)", ADA, ROME);
    assert_true(acq_explain_is_observed(plain.evidence, plain.n));
    assert_false(acq_explain_is_observed(positive.evidence, positive.n));
    assert_false(acq_explain_is_observed(negated.evidence, negated.n));
    assert_true(negated.evidence[1].link == 0.25 && negated.evidence[1].score == 0.75);
    release(&plain);
    release(&positive);
    release(&negated);
}

/* The least score of the used entries is the score of the query. */
static void test_used_entries_carry_the_score(void **state)
{
    (void)state;
    const char *text = "Q(x, y) := (born_in(x, y) | lives_in(x, y)) & !(knows(x, y) | "
                       "(born_in(y, x) & x != y)) & (knows(x, \"Bo\") | knows(x, \"Di\") | x = y)";
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    for (acq_ent x = 0; x < SMALL_N_ENTITIES; x++) {
        for (acq_ent y = 0; y < SMALL_N_ENTITIES; y++) {
            explained e = explain(text, x, y);
            double least = 1;
            for (size_t i = 0; i < e.n; i++)
                least =
                    e.evidence[i].used && e.evidence[i].score < least ? e.evidence[i].score : least;
            double score = acq_verify_score(e.query, &world.predicted, &scoring, (acq_ent[]){x, y});
            assert_true(least == score);
            release(&e);
        }
    }
}

#ifdef ACQ_FAULTS
static void test_failed_allocation_is_a_status(void **state)
{
    (void)state;
    acq_query *query = small_world_read(&world, "Q(x, y) := born_in(x, y)");
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    acq_arena arena;
    acq_arena_init(&arena);
    acq_evidence *evidence = NULL;
    size_t n = 99;
    acq_error error = {0};
    acq_faults_fail_at(1);
    assert_int_equal(acq_explain(query, &world.predicted, &scoring, (acq_ent[]){CY, LONDON}, &arena,
                                 &evidence, &n, &error),
                     ACQ_ERR_MEMORY);
    acq_faults_fail_at(0);
    assert_int_equal(error.code, ACQ_ERR_MEMORY);
    assert_true(evidence == NULL && n == 99);
    acq_arena_deinit(&arena);
    acq_query_free(query);
}
#endif

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
        cmocka_unit_test(test_kinds_of_evidence),
        cmocka_unit_test(test_only_the_best_branch_is_used),
        cmocka_unit_test(test_nested_branches_that_lose_are_unused_throughout),
        cmocka_unit_test(test_negated_and_needs_one_branch),
        cmocka_unit_test(test_observed_wins_a_tie),
        cmocka_unit_test(test_predictions_make_an_answer_predicted),
        cmocka_unit_test(test_used_entries_carry_the_score),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocation_is_a_status),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
