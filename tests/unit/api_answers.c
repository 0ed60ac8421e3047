/* api_answers.c - cursors, many checks, conflicts and what a result tells of itself. */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
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
#include "support/api_scored.h"

enum { SCORED, CALIBRATED, N_SCORED };

static char paths[N_SCORED][32];
static acq_predictor *scored[N_SCORED];

static acq_cursor *open_cursor(const acq_query *query, const acq_predictor *predictor,
                               const acq_ask_params *params)
{
    acq_cursor *cursor;
    acq_error error = {0};
    if (acq_cursor_open(query, predictor, params, &cursor, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    assert_null(acq_cursor_get_result(cursor));
    return cursor;
}

static const acq_result *next(acq_cursor *cursor)
{
    const acq_result *answer;
    acq_error error = {0};
    if (acq_cursor_next(cursor, &answer, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return answer;
}

static void expect_next(acq_cursor *cursor, const char *value, double score)
{
    const acq_result *answer = next(cursor);
    assert_non_null(answer);
    assert_int_equal(acq_result_get_outcome(answer), ACQ_RESULT_ANSWERED);
    assert_int_equal(acq_result_get_n_answers(answer), 1);
    assert_string_equal(acq_result_get_value(answer, 0, "x"), value);
    assert_true(fabs(acq_result_get_score(answer, 0) - score) < 0.01);
}

/* What is there without further search comes together. */
static void test_cursor_gives_some(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x) := born_in(x, \"Paris\") | knows(x, \"Bo\")");
    acq_ask_params params;
    acq_error error = {0};
    const acq_result *some = NULL;
    const size_t wanted[] = {2, 1, 0};
    acq_ask_params_init(&params);
    params.limit = 0;
    acq_cursor *cursor = open_cursor(query, scored[SCORED], &params);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(acq_cursor_next_some(cursor, &some, &error), ACQ_OK);
        assert_int_equal(acq_result_get_n_answers(some), wanted[i]);
    }
    acq_result_stats stats = {.size = sizeof stats};
    acq_result_get_stats(acq_cursor_get_result(cursor), &stats);
    assert_int_equal(stats.facts, ACQ_RESULT_ANSWERED);
    acq_cursor_free(cursor);
    acq_query_free(query);
}

static void test_cursor_gives_facts_first(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x) := born_in(x, \"Paris\") | knows(x, \"Bo\")");
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.limit = 0;
    acq_cursor *cursor = open_cursor(query, scored[SCORED], &params);
    const acq_result *answer = next(cursor);
    acq_evidence_list *list;
    assert_int_equal(acq_result_explain(answer, 0, &list, NULL), ACQ_OK);
    assert_true(acq_evidence_list_is_observed(list));
    acq_evidence_list_free(list);
    answer = next(cursor);
    assert_true(acq_result_get_score(answer, 0) == 1 &&
                isnan(acq_result_get_probability(answer, 0)));
    assert_null(acq_cursor_get_result(cursor));
    expect_next(cursor, "Cy", 0.8);
    assert_null(next(cursor));
    assert_null(next(cursor));
    const acq_result *result = acq_cursor_get_result(cursor);
    assert_int_equal(acq_result_get_n_answers(result), 3);
    assert_true(acq_result_is_complete(result));
    acq_cursor_free(cursor);
    acq_query_free(query);
}

/* Cy is known by a fact and may be born in Paris (0.8) or London (0.3); Bo is born in Paris. */
static void test_cursor_gives_facts_of_a_denial_first(void **state)
{
    (void)state;
    acq_query *query = api_read_query(
        "Q(x) := (exists y. knows(y, x) & !born_in(x, \"London\")) | born_in(x, \"Paris\")");
    acq_ask_params params;
    acq_error error = {0};
    const acq_result *some = NULL;
    acq_ask_params_init(&params);
    params.limit = 0;
    acq_cursor *cursor = open_cursor(query, scored[CALIBRATED], &params);
    assert_int_equal(acq_cursor_next_some(cursor, &some, &error), ACQ_OK);
    assert_int_equal(acq_result_get_n_answers(some), 2);
    assert_string_equal(acq_result_get_value(some, 0, "x"), "Bo");
    assert_true(acq_result_get_probability(some, 0) == 1);
    assert_string_equal(acq_result_get_value(some, 1, "x"), "Cy");
    double p = acq_result_get_probability(some, 1);
    assert_null(acq_cursor_get_result(cursor));
    assert_int_equal(acq_cursor_next_some(cursor, &some, &error), ACQ_OK);
    assert_null(some);
    const acq_result *end = acq_cursor_get_result(cursor);
    assert_int_equal(acq_result_get_n_answers(end), 2);
    assert_true(acq_result_get_probability(end, 1) == p && p >= .7 && p < 1);
    acq_cursor_free(cursor);
    acq_query_free(query);
}

/* What a cursor hands out, in any order, is what acq_ask finds. */
static void compare_with_ask(const char *text, const acq_predictor *predictor, uint64_t limit)
{
    acq_query *query = api_read_query(text);
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.limit = limit;
    acq_result *whole;
    assert_int_equal(acq_ask(query, predictor, &params, &whole, NULL), ACQ_OK);
    acq_cursor *cursor = open_cursor(query, predictor, &params);
    size_t n = 0, n_all = acq_result_get_n_answers(whole);
    for (const acq_result *answer; (answer = next(cursor)) != NULL; n++) {
        size_t i = 0;
        while (i < n_all &&
               acq_result_get_entity(whole, i, 0) != acq_result_get_entity(answer, 0, 0))
            i++;
        assert_true(i < n_all);
        assert_true(acq_result_get_score(whole, i) == acq_result_get_score(answer, 0));
        double p = acq_result_get_probability(whole, i), q = acq_result_get_probability(answer, 0);
        assert_true(p == q || (isnan(p) && isnan(q)));
        assert_int_equal(acq_result_has_probabilities(whole), acq_result_has_probabilities(answer));
    }
    assert_int_equal(n, n_all);
    const acq_result *end = acq_cursor_get_result(cursor);
    assert_int_equal(acq_result_get_outcome(end), acq_result_get_outcome(whole));
    assert_int_equal(acq_result_get_n_answers(end), n_all);
    assert_int_equal(acq_result_is_complete(end), acq_result_is_complete(whole));
    acq_cursor_free(cursor);
    acq_result_free(whole);
    acq_query_free(query);
}

static void test_cursor_gives_what_ask_finds(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Q(x) := born_in(x, \"Paris\")",
        "Q(x) := born_in(x, \"Paris\") | knows(x, \"Bo\")",
        "Q(x) := exists y. born_in(x, y)",
        "Q(x) := exists y. lives_in(x, y) & !born_in(x, y)",
        "Q(x) := exists y. knows(x, y) & x != y",
        "Q(x) := exists y. knows(y, x) & !born_in(x, \"Paris\")",
        "Q(x) := exists y. knows(y, x) & !(born_in(x, y) | born_in(x, \"London\"))",
        "Q(x) := exists y. lives_in(x, y) | !knows(x, x)",
        "Q(x) := !born_in(x, \"Paris\")",
        "Q(x) := knows(\"Paris\", x)",
    };
    char spec[96];
    acq_predictor *perfect;
    snprintf(spec, sizeof spec, "perfect:%s", f.path);
    assert_int_equal(acq_predictor_new(f.graph, spec, NULL, &perfect, NULL), ACQ_OK);
    const acq_predictor *predictors[] = {f.predictor, scored[SCORED], scored[CALIBRATED], perfect};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t j = 0; j < sizeof predictors / sizeof *predictors; j++) {
            for (uint64_t limit = 0; limit < 4; limit++)
                compare_with_ask(texts[i], predictors[j], limit);
        }
    }
    acq_predictor_free(perfect);
}

static void test_cursor_of_another_engine_gives_its_answer(void **state)
{
    (void)state;
    acq_query *query = api_read_query(api_chain);
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "climb";
    acq_cursor *cursor = open_cursor(query, f.predictor, &params);
    expect_next(cursor, "Ada", 1);
    acq_cursor_free(cursor); /* before its end */
    params.engine = "policy";
    cursor = open_cursor(query, f.predictor, &params);
    expect_next(cursor, "Ada", 1);
    assert_null(next(cursor));
    acq_cursor_free(cursor);
    acq_query_free(query);
}

/* A graph in which a path of four has millions of answers. */
typedef struct large {
    char path[32];
    acq_graph *graph;
    acq_query *query;
    acq_predictor *predictor;
    acq_ask_params params;
} large;

static void make_large(large *l)
{
    enum { N = 60 };
    strcpy(l->path, "anycq-api-XXXXXX.tsv");
    int file = mkstemps(l->path, 4);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    for (int i = 0; i < N * N; i++)
        fprintf(out, "e%d\tr\te%d\n", i / N, i % N);
    fclose(out);
    assert_int_equal(acq_graph_open(l->path, NULL, &l->graph, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(l->graph, "observed", NULL, &l->predictor, NULL), ACQ_OK);
    assert_int_equal(
        acq_query_new(l->graph, "Q(x, y, z, w) := r(x, y) & r(y, z) & r(z, w)", &l->query, NULL),
        ACQ_OK);
    acq_ask_params_init(&l->params);
    l->params.limit = 0;
    l->params.seconds = 100;
}

static void free_large(large *l)
{
    acq_query_free(l->query);
    acq_predictor_free(l->predictor);
    acq_graph_free(l->graph);
    unlink(l->path);
}

static bool stop_second(void *context, const acq_progress *now)
{
    assert_string_equal(now->phase, "searching");
    assert_true(now->done > 0 && now->total == 100000);
    return ++*(int *)context < 2;
}

static void test_progress_stops_a_search(void **state)
{
    (void)state;
    large l;
    int n = 0;
    make_large(&l);
    l.params.progress = stop_second;
    l.params.context = &n;
    acq_result *result;
    assert_int_equal(acq_ask(l.query, l.predictor, &l.params, &result, NULL), ACQ_OK);
    assert_int_equal(n, 2);
    assert_string_equal(acq_result_get_spent(result), "interrupt");
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_ANSWERED);
    assert_false(acq_result_is_complete(result));
    assert_true(acq_result_get_n_answers(result) > 0);
    acq_result_free(result);
    free_large(&l);
}

typedef struct stopping {
    acq_cursor *cursor;
    sem_t is_searching; /* from another thread: the search is under way */
} stopping;

static bool stop_cursor(void *context, const acq_progress *now)
{
    (void)now;
    acq_cursor_stop(((stopping *)context)->cursor);
    return true;
}

static bool tell_other(void *context, const acq_progress *now)
{
    (void)now;
    return sem_post(&((stopping *)context)->is_searching) == 0;
}

static void *stop_from_here(void *context)
{
    stopping *s = context;
    while (sem_wait(&s->is_searching) != 0)
        continue;
    acq_cursor_stop(s->cursor);
    return NULL;
}

/* Reads a cursor that `progress` stops, and tells what it should. */
static void read_until_stopped(acq_progress_fn progress, bool from_another_thread)
{
    large l;
    stopping s;
    pthread_t other;
    make_large(&l);
    l.params.progress = progress;
    l.params.context = &s;
    assert_int_equal(sem_init(&s.is_searching, 0, 0), 0);
    s.cursor = open_cursor(l.query, l.predictor, &l.params);
    if (from_another_thread)
        assert_int_equal(pthread_create(&other, NULL, stop_from_here, &s), 0);
    size_t n = 0;
    while (next(s.cursor) != NULL)
        n++;
    if (from_another_thread)
        assert_int_equal(pthread_join(other, NULL), 0);
    const acq_result *result = acq_cursor_get_result(s.cursor);
    assert_string_equal(acq_result_get_spent(result), "interrupt");
    assert_true(n > 1);
    assert_in_range(n - acq_result_get_n_answers(result), 0, 1); /* the first may be another one */
    sem_destroy(&s.is_searching);
    acq_cursor_free(s.cursor);
    free_large(&l);
}

static void test_stopped_cursor_hands_out_what_it_has(void **state)
{
    (void)state;
    read_until_stopped(stop_cursor, false);
}

static void test_another_thread_stops_a_cursor(void **state)
{
    (void)state;
    read_until_stopped(tell_other, true);
}

static void test_many_checks_are_those_of_one(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x, y) := born_in(x, y)");
    const char *values[] = {"Bo", "Paris", "Cy", "Paris", "Cy", "London", "Ada", "Paris"};
    enum { N = 4 };
    acq_result *results[N], *one;
    acq_error error = {0};
    assert_int_equal(acq_check_many(query, scored[CALIBRATED], values, N, NULL, results, &error),
                     ACQ_OK);
    static const acq_result_outcome outcomes[N] = {ACQ_RESULT_ANSWERED, ACQ_RESULT_ANSWERED,
                                                   ACQ_RESULT_NONE, ACQ_RESULT_NONE};
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(acq_result_get_outcome(results[i]), outcomes[i]);
        assert_int_equal(
            acq_check(query, scored[CALIBRATED], values + 2 * i, 2, NULL, &one, &error), ACQ_OK);
        double p = acq_result_get_best_probability(one);
        double q = acq_result_get_best_probability(results[i]);
        assert_true(p == q || (isnan(p) && isnan(q)));
        acq_result_free(one);
        acq_result_free(results[i]);
    }
    values[5] = "Londn";
    assert_int_equal(acq_check_many(query, scored[CALIBRATED], values, N, NULL, results, &error),
                     ACQ_ERR_NAME);
    assert_string_equal(
        error.message,
        "tuple 2: no entity \"Londn\" for y in this graph; did you mean \"London\"?");
    assert_int_equal(acq_check_many(query, scored[CALIBRATED], NULL, 0, NULL, NULL, NULL), ACQ_OK);
    acq_query_free(query);
}

static void test_policy_checks_many_in_one_batch(void **state)
{
    (void)state;
    acq_query *query = api_read_query(api_chain);
    const char *values[] = {"Ada", "Bo", "Ada"};
    acq_result *results[3];
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "policy";
    params.steps = 5000;
    params.restart = 50;
    assert_int_equal(acq_check_many(query, f.predictor, values, 3, &params, results, NULL), ACQ_OK);
    assert_int_equal(acq_result_get_outcome(results[0]), ACQ_RESULT_ANSWERED);
    assert_int_equal(acq_result_get_outcome(results[1]), ACQ_RESULT_UNDECIDED);
    assert_int_equal(acq_result_get_outcome(results[2]), ACQ_RESULT_ANSWERED);
    for (size_t i = 0; i < 3; i++)
        acq_result_free(results[i]);
    acq_query_free(query);
}

static void test_conflict_of_a_proved_none(void **state)
{
    (void)state;
    acq_query *query = api_read_query(
        "Q(x) := exists y. born_in(x, \"London\") & lives_in(x, y) & born_in(x, \"Paris\")");
    acq_result *result = api_ask(query, NULL);
    acq_conflict *conflict;
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_NONE);
    assert_int_equal(acq_result_find_conflict(result, 0, &conflict, NULL), ACQ_OK);
    assert_int_equal(acq_conflict_get_n(conflict), 2);
    assert_string_equal(acq_conflict_get_text(conflict, 0), "born_in(x, \"London\")");
    assert_string_equal(acq_conflict_get_text(conflict, 1), "born_in(x, \"Paris\")");
    assert_null(acq_conflict_get_text(conflict, 2));
    assert_int_equal(acq_conflict_get_condition(conflict, 0), 0);
    assert_int_equal(acq_conflict_get_condition(conflict, 1), 2);
    assert_true(acq_conflict_get_condition(conflict, 2) == SIZE_MAX);
    acq_conflict_free(conflict);
    acq_result_free(result);
    const char *ada[] = {"Ada"};
    assert_int_equal(acq_check(query, f.predictor, ada, 1, NULL, &result, NULL), ACQ_OK);
    assert_int_equal(acq_result_find_conflict(result, 5, &conflict, NULL), ACQ_OK);
    assert_int_equal(acq_conflict_get_n(conflict), 1);
    assert_string_equal(acq_conflict_get_text(conflict, 0), "born_in(x, \"Paris\")");
    acq_conflict_free(conflict);
    acq_error error = {0};
    assert_int_equal(acq_result_find_conflict(result, NAN, &conflict, &error), ACQ_ERR_USAGE);
    acq_result_free(result);
    acq_query_free(query);
    query = api_read_query(api_chain);
    result = api_ask(query, NULL);
    assert_int_equal(acq_result_find_conflict(result, 0, &conflict, NULL), ACQ_OK);
    assert_int_equal(acq_conflict_get_n(conflict), 0);
    acq_conflict_free(conflict);
    acq_result_free(result);
    acq_query_free(query);
}

static void test_likeliest_candidate_can_be_read(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x) := born_in(x, \"London\") & knows(\"Bo\", x)");
    acq_result *result;
    assert_int_equal(acq_ask(query, scored[CALIBRATED], NULL, &result, NULL), ACQ_OK);
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_NONE);
    assert_string_equal(acq_result_get_value(result, ACQ_LIKELIEST, "x"), "Cy");
    double p = acq_result_get_probability(result, ACQ_LIKELIEST);
    assert_true(fabs(p - .3) < .001 && p == acq_result_get_best_probability(result));
    acq_evidence_list *list;
    assert_int_equal(acq_result_explain(result, ACQ_LIKELIEST, &list, NULL), ACQ_OK);
    const acq_fact *fact = acq_evidence_list_get(list, 0);
    assert_string_equal(fact->text, "born_in(\"Cy\", \"London\")");
    assert_int_equal(fact->kind, ACQ_FACT_PREDICTED);
    assert_int_equal(fact->head_id, acq_graph_find_entity(f.graph, "Cy", 2));
    assert_int_equal(fact->relation_id, acq_graph_find_relation(f.graph, "born_in", 7));
    acq_evidence_list_free(list);
    acq_result_stats stats = {.size = sizeof stats};
    acq_result_get_stats(result, &stats);
    assert_true(stats.size == sizeof stats && stats.seconds > 0 && stats.n_candidates == 1);
    assert_true(fabs(stats.threshold - 0.01) < 1e-3 && !stats.is_by_rows);
    acq_result_free(result);
    acq_query_free(query);
}

static void test_graph_query_and_predictor_tell_of_themselves(void **state)
{
    (void)state;
    acq_rel knows = acq_graph_find_relation(f.graph, "knows", 5);
    assert_true(acq_graph_is_named(f.graph, knows) && !acq_graph_is_named(f.graph, knows ^ 1U));
    assert_false(acq_graph_is_rdf(f.graph));
    assert_string_equal(acq_graph_suggest_entity(f.graph, "Adda", 4), "Ada");
    assert_string_equal(acq_graph_suggest_relation(f.graph, "knos", 4), "knows");
    acq_ent ada = acq_graph_find_entity(f.graph, "Ada", 3);
    acq_ent bo = acq_graph_find_entity(f.graph, "Bo", 2);
    assert_true(acq_graph_has_fact(f.graph, ada, knows, bo));
    assert_false(acq_graph_has_fact(f.graph, bo, knows, ada));
    assert_false(acq_graph_has_fact(f.graph, UINT32_MAX, knows, ada));
    acq_query *sparql = api_read_query("SELECT ?x WHERE { ?x <knows> ?y } LIMIT 7");
    assert_int_equal(acq_query_get_limit(sparql), 7);
    assert_string_equal(acq_query_get_hint(sparql), "");
    acq_query_free(sparql);
    acq_query *hinted = api_read_query("Q(x) := knows(x, Bo)");
    assert_non_null(strstr(acq_query_get_hint(hinted), "Bo"));
    acq_query_free(hinted);
    assert_string_equal(acq_predictor_get_name(f.predictor), "observed");
    assert_false(acq_predictor_is_calibrated(f.predictor));
    assert_true(acq_predictor_is_calibrated(scored[CALIBRATED]));
    assert_true(fabs(acq_predictor_get_floor(scored[SCORED]) - 0.01) < 1e-3);
    assert_string_equal(acq_get_engine(0), "exact");
    assert_string_equal(acq_get_engine(7), "gnnqe");
    assert_string_equal(acq_get_engine(8), "ultraquery");
    assert_null(acq_get_engine(9));
}

static void test_bad_predictor_parameters_are_refused(void **state)
{
    (void)state;
    acq_predictor *predictor = NULL;
    acq_predictor_params params;
    acq_error error = {0};
    acq_predictor_params_init(&params);
    params.direction = "back";
    assert_int_equal(acq_predictor_new(f.graph, "observed", &params, &predictor, &error),
                     ACQ_ERR_USAGE);
    assert_string_equal(error.message, "no direction \"back\"; use both or forward");
    acq_error_clear(&error);
    acq_predictor_params_init(&params);
    params.floor = NAN;
    assert_int_equal(acq_predictor_new(f.graph, "observed", &params, &predictor, &error),
                     ACQ_ERR_USAGE);
    assert_string_equal(error.message, "floor nan is not between 0 and 1");
    assert_null(predictor);
}

static void test_perfect_predictor_reports(void **state)
{
    (void)state;
    char path[] = "anycq-api-XXXXXX.tsv", spec[64];
    static const char text[] = "Ada\tknows\tBo\nAda\tknows\tZed\n";
    int file = mkstemps(path, 4);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    snprintf(spec, sizeof spec, "perfect:%s", path);
    acq_predictor *predictor;
    acq_predictor_params params;
    acq_predictor_report report = {.size = sizeof report};
    acq_predictor_params_init(&params);
    params.report = &report;
    assert_int_equal(acq_predictor_new(f.graph, spec, &params, &predictor, NULL), ACQ_OK);
    assert_int_equal(report.unknown_entities, 1);
    assert_int_equal(report.dropped_facts, 1);
    assert_int_equal(report.denied_facts, 5);
    acq_predictor_free(predictor);
    unlink(path);
}

static int set_up(void **state)
{
    if (api_set_up(state) != 0)
        return -1;
    for (int i = 0; i < N_SCORED; i++) {
        char spec[64];
        strcpy(paths[i], "anycq-api-XXXXXX");
        int file = mkstemp(paths[i]);
        if (file < 0)
            return -1;
        close(file);
        api_write_scored(paths[i], i == CALIBRATED);
        snprintf(spec, sizeof spec, "completion:%s", paths[i]);
        if (acq_predictor_new(f.graph, spec, NULL, &scored[i], NULL) != ACQ_OK)
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < N_SCORED; i++) {
        acq_predictor_free(scored[i]);
        unlink(paths[i]);
    }
    return api_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor_gives_some),
        cmocka_unit_test(test_cursor_gives_facts_first),
        cmocka_unit_test(test_cursor_gives_facts_of_a_denial_first),
        cmocka_unit_test(test_cursor_gives_what_ask_finds),
        cmocka_unit_test(test_cursor_of_another_engine_gives_its_answer),
        cmocka_unit_test(test_progress_stops_a_search),
        cmocka_unit_test(test_stopped_cursor_hands_out_what_it_has),
        cmocka_unit_test(test_another_thread_stops_a_cursor),
        cmocka_unit_test(test_many_checks_are_those_of_one),
        cmocka_unit_test(test_policy_checks_many_in_one_batch),
        cmocka_unit_test(test_conflict_of_a_proved_none),
        cmocka_unit_test(test_likeliest_candidate_can_be_read),
        cmocka_unit_test(test_graph_query_and_predictor_tell_of_themselves),
        cmocka_unit_test(test_bad_predictor_parameters_are_refused),
        cmocka_unit_test(test_perfect_predictor_reports),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
