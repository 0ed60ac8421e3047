/* row_predictor_ask.c - questions to a predictor that makes rows give what brute force over all its
 * links gives, on seeded random cases, and a question that facts answer makes no row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "calibrate/calibrator.h"
#include "engine/engine.h"
#include "graph/build.h"
#include "support/case.h"

enum { CASES = 1500, LEAST_COMPLETE = 500 };

/* The table of a case as rows. Its facts are the links that score 1. */
typedef struct rows_double {
    acq_predictor base;
    const test_case *c;
    size_t n_rows;  /* made */
    bool is_broken; /* making a row fails */
} rows_double;

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)self;
    (void)relation;
    (void)out;
    return acq_fail(error, ACQ_ERR_INTERNAL, "all links of a relation were asked for");
}

static acq_status copy_row(const test_case *c, acq_rel relation, acq_ent head, acq_scored_row *out)
{
    acq_scored_row row = {.tails = acq_alloc(c->n_entities, sizeof *row.tails),
                          .scores = acq_alloc(c->n_entities, sizeof *row.scores)};
    if (row.tails == NULL || row.scores == NULL) {
        acq_scored_row_deinit(&row);
        return ACQ_ERR_MEMORY;
    }
    for (acq_ent t = 0; t < c->n_entities; t++) {
        if (c->table[relation][head][t] > 0.0F) {
            row.tails[row.n] = t;
            row.scores[row.n++] = c->table[relation][head][t];
        }
    }
    *out = row;
    return ACQ_OK;
}

static acq_status copy_rows(const acq_predictor *self, const acq_row_want *want,
                            acq_scored_row *out, acq_error *error)
{
    const acq_ent *heads = want->heads;
    rows_double *rows = (rows_double *)self;
    if (rows->is_broken)
        return acq_fail(error, ACQ_ERR_IO, "no more rows");
    for (size_t i = 0; i < want->n; i++) {
        assert_true(i == 0 || heads[i - 1] < heads[i]);
        if (copy_row(rows->c, want->relation, heads[i], &out[i]) == ACQ_OK)
            continue;
        while (i > 0)
            acq_scored_row_deinit(&out[--i]);
        return acq_fail_memory(error);
    }
    rows->n_rows += want->n;
    return ACQ_OK;
}

static const acq_predictor_ops ROWS_OPS = {.open_links = open_links, .copy_rows = copy_rows};

static acq_graph *make_graph(const test_case *c)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    char name[16];
    uint32_t id;
    for (uint32_t e = 0; e < c->n_entities; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < c->n_relations; r += 2) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        for (acq_ent h = 0; h < c->n_entities; h++) {
            for (acq_ent t = 0; t < c->n_entities; t++) {
                if (c->table[r][h][t] == 1.0F)
                    assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
            }
        }
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* Sets up a case with its rows. */
static void init(test_case *c, rows_double *rows, uint64_t seed)
{
    case_init(c, seed);
    *rows = (rows_double){.c = c};
    rows->base = (acq_predictor){.ops = &ROWS_OPS, .graph = make_graph(c), .name = "rows"};
}

static void deinit(test_case *c, rows_double *rows)
{
    acq_graph_free((acq_graph *)rows->base.graph);
    case_deinit(c);
}

static int by_score(const void *left, const void *right)
{
    const case_tuple *a = left, *b = right;
    return a->score > b->score ? -1 : a->score < b->score;
}

/* How many tuples reach the threshold; they are sorted, best first. */
static size_t find_wanted(const test_case *c, case_tuple **tuples)
{
    size_t n = case_brute_force(c, tuples);
    qsort(*tuples, n, sizeof **tuples, by_score);
    while (n > 0 && (*tuples)[n - 1].score < c->scoring.threshold)
        n--;
    return n;
}

static acq_engine_result ask(const rows_double *rows, uint64_t limit)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    params.search.limit = limit;
    params.search.scoring = rows->c->scoring;
    if (acq_engine_ask(rows->c->query, &rows->base, &params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result;
}

/* Where the result says so, scores are those of the table and none is better; otherwise links that
 * were not looked at may make them too small, never too large. */
static bool check_case(const test_case *c, const rows_double *rows, uint64_t limit,
                       const case_tuple *tuples, size_t n, uint64_t seed)
{
    acq_engine_result result = ask(rows, limit);
    bool is_complete = result.complete;
    size_t wanted = limit != 0 && limit < n ? limit : n;
    if (is_complete && result.n_answers != wanted)
        fail_msg("seed %lu limit %lu: %zu answers, not %zu", seed, limit, result.n_answers, wanted);
    assert_int_equal(result.outcome, result.n_answers > 0 ? ACQ_ANSWERED
                                     : is_complete        ? ACQ_NONE
                                                          : ACQ_UNDECIDED);
    assert_true(is_complete == (result.note == NULL));
    assert_true(result.n_answers <= wanted);
    for (size_t i = 0; i < result.n_answers; i++) {
        double score = case_score(c, result.answers[i].values);
        if (is_complete ? score != result.answers[i].score : score < result.answers[i].score)
            fail_msg("seed %lu limit %lu: answer %zu scores %g, not %g", seed, limit, i,
                     result.answers[i].score, score);
        if (is_complete && score != tuples[i].score)
            fail_msg("seed %lu limit %lu: answer %zu scores %g, best is %g", seed, limit, i, score,
                     tuples[i].score);
    }
    assert_non_null(result.prepared);
    acq_engine_result_deinit(&result);
    return is_complete;
}

static void test_rows_in_the_order_of_need_give_the_best_answers(void **state)
{
    (void)state;
    size_t n_complete = 0, n_rows = 0;
    static test_case c;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        rows_double rows;
        case_tuple *tuples = NULL;
        init(&c, &rows, seed);
        size_t n = find_wanted(&c, &tuples);
        static const uint64_t limits[] = {1, 3, 0};
        for (size_t i = 0; i < 3; i++)
            n_complete += check_case(&c, &rows, limits[i], tuples, n, seed);
        n_rows += rows.n_rows;
        free(tuples);
        deinit(&c, &rows);
    }
    print_message("%zu of %d results complete, %.1f rows a question\n", n_complete, 3 * CASES,
                  (double)n_rows / (3 * CASES));
    assert_true(n_complete > LEAST_COMPLETE);
}

static bool do_facts_answer(const rows_double *rows)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_predictor *observed = NULL;
    acq_engine_result result;
    params.search.scoring = rows->c->scoring;
    assert_int_equal(acq_predictor_new_observed(rows->base.graph, &observed, NULL), ACQ_OK);
    assert_int_equal(acq_engine_ask(rows->c->query, observed, &params, &result, NULL), ACQ_OK);
    bool is_answered = result.outcome == ACQ_ANSWERED && result.answers[0].score == 1.0;
    acq_engine_result_deinit(&result);
    acq_predictor_free(observed);
    return is_answered;
}

static void test_what_facts_answer_makes_no_row(void **state)
{
    (void)state;
    static test_case c;
    size_t n_answered = 0;
    for (uint64_t seed = 1; seed <= CASES / 3; seed++) {
        rows_double rows;
        init(&c, &rows, seed);
        if (!c.features[CASE_NEGATION] && do_facts_answer(&rows)) {
            acq_engine_result result = ask(&rows, 1);
            assert_true(result.complete && result.answers[0].score == 1.0);
            assert_int_equal(rows.n_rows, 0);
            acq_engine_result_deinit(&result);
            n_answered++;
        }
        deinit(&c, &rows);
    }
    assert_true(n_answered > 20);
}

static void test_rows_left_out_are_said_and_none_is_no_proof(void **state)
{
    (void)state;
    static test_case c;
    size_t n_left_out = 0, n_without = 0;
    for (uint64_t seed = 1; seed <= CASES / 3; seed++) {
        rows_double rows;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        acq_engine_result result;
        init(&c, &rows, seed);
        params.search.scoring = c.scoring;
        params.search.seconds = 1e-6;
        assert_int_equal(acq_engine_ask(c.query, &rows.base, &params, &result, NULL), ACQ_OK);
        if (result.note != NULL && strstr(result.note, "rows of predicted links") != NULL) {
            assert_true(!result.complete && result.spent == ACQ_SPENT_TIME);
            assert_int_not_equal(result.outcome, ACQ_NONE);
            assert_true(result.n_rows_left > 0 || result.note != NULL);
            n_left_out++;
        }
        if (result.facts == ACQ_NONE) { /* proved, whatever the rows would say */
            assert_false(do_facts_answer(&rows));
            n_without++;
        }
        acq_engine_result_deinit(&result);
        deinit(&c, &rows);
    }
    assert_true(n_left_out > 20 && n_without > 20);
}

static double check_p(const test_case *c, const rows_double *rows, const acq_ent *values)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    params.search.seconds = params.row_seconds = params.min_p = 0;
    assert_int_equal(acq_engine_check(c->query, &rows->base, values, &params, &result, NULL),
                     ACQ_OK);
    double p = result.p_whole;
    acq_engine_result_deinit(&result);
    return p;
}

/* A link is not false because there was no time to look: with all variables free, no answer without
 * rows states more than it does with them. */
static void test_what_was_not_looked_at_is_not_denied(void **state)
{
    (void)state;
    static test_case c;
    acq_calibrator *calibrator = acq_calibrator_new();
    size_t n_compared = 0, n_unknown = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        rows_double rows;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        acq_engine_result result;
        init(&c, &rows, seed);
        acq_calibrator_lend(calibrator, &rows.base);
        params.search.limit = 0;
        params.search.seconds = params.min_p = 0;
        params.row_seconds = 1e-9;
        bool is_ground = c.query->n_free > 0 && c.query->n_free == c.query->n_variables;
        if (is_ground && c.features[CASE_NEGATION]) {
            assert_int_equal(acq_engine_ask(c.query, &rows.base, &params, &result, NULL), ACQ_OK);
            for (size_t i = 0; i < result.n_answers && i < 5; i++, n_compared++)
                assert_true(result.answers[i].p <= check_p(&c, &rows, result.answers[i].values));
            n_unknown += result.facts == ACQ_ANSWERED && result.outcome == ACQ_UNDECIDED;
            acq_engine_result_deinit(&result);
        }
        deinit(&c, &rows);
    }
    assert_true(n_compared > 20 && n_unknown > 20);
    acq_calibrator_free(calibrator);
}

static bool is_stopped(void *context)
{
    (void)context;
    return true;
}

/* What facts say is found also when the question is stopped at once. */
static void test_a_stop_ends_the_making_of_rows(void **state)
{
    (void)state;
    static test_case c;
    size_t n_stopped = 0, n_answered = 0;
    for (uint64_t seed = 1; seed <= CASES / 3; seed++) {
        rows_double rows;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        acq_engine_result result;
        init(&c, &rows, seed);
        params.search.scoring = c.scoring;
        params.search.seconds = 0;
        params.search.stop.is_wanted = is_stopped;
        assert_int_equal(acq_engine_ask(c.query, &rows.base, &params, &result, NULL), ACQ_OK);
        if (do_facts_answer(&rows))
            assert_int_equal(result.outcome, ACQ_ANSWERED);
        if (result.spent == ACQ_SPENT_INTERRUPT) {
            assert_true(!result.complete && result.outcome != ACQ_NONE);
            assert_int_equal(rows.n_rows, 0);
            n_stopped++;
        }
        n_answered += result.outcome == ACQ_ANSWERED;
        acq_engine_result_deinit(&result);
        deinit(&c, &rows);
    }
    assert_true(n_stopped > 20 && n_answered > 20);
}

static void test_a_row_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    static test_case c;
    size_t n_failed = 0;
    for (uint64_t seed = 1; seed <= CASES / 5; seed++) {
        rows_double rows;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        acq_engine_result result;
        acq_error error = {0};
        init(&c, &rows, seed);
        rows.is_broken = true;
        params.search.scoring = c.scoring;
        acq_status status = acq_engine_ask(c.query, &rows.base, &params, &result, &error);
        assert_true(status == ACQ_OK || status == ACQ_ERR_IO);
        assert_int_equal(error.code, status);
        n_failed += status != ACQ_OK;
        acq_engine_result_deinit(&result);
        deinit(&c, &rows);
    }
    assert_true(n_failed > 20);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    static test_case c;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        rows_double rows;
        acq_status status = ACQ_ERR_MEMORY;
        init(&c, &rows, seed);
        for (size_t n = 1; status != ACQ_OK; n++) {
            acq_engine_params params = ACQ_ENGINE_DEFAULT;
            acq_engine_result result;
            acq_error error = {0};
            params.search.scoring = c.scoring;
            acq_faults_fail_at(n);
            status = acq_engine_ask(c.query, &rows.base, &params, &result, &error);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
            assert_int_equal(error.code, status);
            acq_engine_result_deinit(&result);
        }
        deinit(&c, &rows);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_in_the_order_of_need_give_the_best_answers),
        cmocka_unit_test(test_what_facts_answer_makes_no_row),
        cmocka_unit_test(test_what_was_not_looked_at_is_not_denied),
        cmocka_unit_test(test_rows_left_out_are_said_and_none_is_no_proof),
        cmocka_unit_test(test_a_stop_ends_the_making_of_rows),
        cmocka_unit_test(test_a_row_that_cannot_be_made_is_an_error),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
