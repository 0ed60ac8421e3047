/* api_predict.c - links of entities and completions through the public header. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/api_case.h"
#include "support/api_scored.h"

static const char SCORED[] = "api-predict-scored", OUTPUT[] = "api-predict-output";
static acq_predictor *scored;
static acq_rel born_in;
static acq_ent cy, ada;

static int set_up(void **state)
{
    if (api_set_up(state) != 0)
        return -1;
    born_in = acq_graph_find_relation(f.graph, "born_in", 7);
    cy = acq_graph_find_entity(f.graph, "Cy", 2);
    ada = acq_graph_find_entity(f.graph, "Ada", 3);
    api_write_scored(SCORED, true);
    return acq_predictor_new(f.graph, "completion:api-predict-scored", NULL, &scored, NULL);
}

static int tear_down(void **state)
{
    acq_predictor_free(scored);
    unlink(SCORED);
    unlink(OUTPUT);
    return api_tear_down(state);
}

static void check_cy(const acq_predictions *links)
{
    assert_int_equal(acq_predictions_get_n(links), 2);
    const acq_prediction *best = acq_predictions_get(links, 0);
    assert_string_equal(acq_graph_get_entity_name(f.graph, best->entity), "Paris");
    assert_true(fabs(best->score - 0.8) < 1e-3 && !best->is_observed);
    assert_true(acq_predictions_get(links, 1)->score < best->score);
    assert_null(acq_predictions_get(links, 2));
}

static void test_links_of_an_entity_most_likely_first(void **state)
{
    (void)state;
    acq_predictions *links = NULL;
    assert_int_equal(acq_predict(scored, cy, born_in, &links, NULL), ACQ_OK);
    check_cy(links);
    acq_predictions_free(links);
    acq_ent paris = acq_graph_find_entity(f.graph, "Paris", 5);
    assert_int_equal(acq_predict(scored, paris, born_in ^ 1U, &links, NULL), ACQ_OK);
    size_t n_observed = 0;
    for (size_t i = 0; i < acq_predictions_get_n(links); i++) {
        const acq_prediction *link = acq_predictions_get(links, i);
        bool is_fact = acq_graph_has_fact(f.graph, link->entity, born_in, paris);
        assert_true(link->is_observed == is_fact && is_fact == (link->score == 1));
        n_observed += is_fact;
    }
    assert_true(n_observed < acq_predictions_get_n(links));
    acq_predictions_free(links);
}

/* The link of every even row that is not observed and likely enough. */
static size_t count_links(double min_p, double *sum, double *best)
{
    size_t n = 0;
    *sum = *best = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(f.graph); r += 2)
        for (acq_ent e = 0; e < acq_graph_get_n_entities(f.graph); e++) {
            acq_predictions *links = NULL;
            assert_int_equal(acq_predict(scored, e, r, &links, NULL), ACQ_OK);
            for (size_t i = 0; i < acq_predictions_get_n(links); i++) {
                const acq_prediction *link = acq_predictions_get(links, i);
                bool counts = !link->is_observed && link->score >= min_p;
                n += counts;
                *sum += counts ? link->score : 0;
                *best = counts && link->score > *best ? link->score : *best;
            }
            acq_predictions_free(links);
        }
    return n;
}

static bool stop_at_once(void *context, const acq_progress *now)
{
    (void)context;
    return now->done > now->total;
}

static void test_suggestions_are_the_likeliest_links(void **state)
{
    (void)state;
    acq_suggest_params params;
    acq_suggestions *list = NULL;
    acq_suggest_report report = {.size = sizeof report};
    double sum, best;
    acq_suggest_params_init(&params);
    params.top = 1000;
    size_t n = count_links(0, &sum, &best);
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_OK);
    acq_suggestions_get_report(list, &report);
    assert_true(n > 1 && acq_suggestions_get_n(list) == n && report.found == n);
    assert_true(fabs(report.expected - sum) < 1e-6 && report.rows_done == report.rows);
    for (size_t i = 0; i < n; i++) {
        const acq_suggestion *link = acq_suggestions_get(list, i);
        assert_false(acq_graph_has_fact(f.graph, link->head, link->relation, link->tail));
        assert_true(i == 0 || acq_suggestions_get(list, i - 1)->p >= link->p);
    }
    acq_suggestions_free(list);
    params.top = 1; /* of those of one relation, the best */
    params.relation = born_in ^ 1U;
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_OK);
    assert_int_equal(acq_suggestions_get_n(list), 1);
    assert_int_equal(acq_suggestions_get(list, 0)->relation, born_in);
    assert_null(acq_suggestions_get(list, 1));
    acq_suggestions_free(list);
    params.progress = stop_at_once;
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_OK);
    acq_suggestions_get_report(list, &report);
    assert_string_equal(report.spent, "interrupt");
    assert_true(acq_suggestions_get_n(list) == 0 && report.rows_done < report.rows);
    acq_suggestions_free(list);
}

static void test_impossible_suggestions_are_refused(void **state)
{
    (void)state;
    acq_suggest_params params;
    acq_suggestions *list = NULL;
    acq_suggest_params_init(&params);
    assert_int_equal(acq_suggest(f.predictor, &params, &list, NULL), ACQ_ERR_USAGE);
    params.relation = 1000;
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_ERR_USAGE);
    params.relation = UINT32_MAX;
    params.min_p = NAN;
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_ERR_USAGE);
    params.min_p = 0;
    params.seconds = -1;
    assert_int_equal(acq_suggest(scored, &params, &list, NULL), ACQ_ERR_USAGE);
    assert_null(list);
}

static void test_rows_of_many_are_those_of_each(void **state)
{
    (void)state;
    const acq_ent entities[] = {cy, ada, cy};
    acq_predictions *rows[3], *one = NULL;
    assert_int_equal(acq_predict_rows(scored, entities, 3, born_in, rows, NULL), ACQ_OK);
    check_cy(rows[0]);
    check_cy(rows[2]);
    assert_int_equal(acq_predict(scored, ada, born_in, &one, NULL), ACQ_OK);
    assert_int_equal(acq_predictions_get_n(rows[1]), acq_predictions_get_n(one));
    assert_true(acq_predictions_get(one, 0)->is_observed);
    for (int i = 0; i < 3; i++)
        acq_predictions_free(rows[i]);
    acq_predictions_free(one);
}

static void test_ids_that_are_not_there_are_refused(void **state)
{
    (void)state;
    acq_error error = {0};
    acq_predictions *links = NULL;
    assert_int_equal(acq_predict(scored, 99, born_in, &links, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "acq_predict: entity 99 is not below 5");
    acq_error_clear(&error);
    assert_int_equal(acq_predict_rows(scored, &cy, 1, 99, &links, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "acq_predict_rows: relation 99 is not below 6");
    assert_null(links);
}

static bool count_calls(void *context, const acq_progress *now)
{
    int *left = context;
    assert_true(now->done <= now->total && now->total == 3);
    return --*left > 0;
}

static acq_status complete(const char *path, uint32_t part, uint32_t of, int most_calls)
{
    acq_complete_params params;
    acq_complete_params_init(&params);
    params.part = part;
    params.of_parts = of;
    params.progress = count_calls;
    params.context = &most_calls;
    return acq_complete(scored, path, &params, NULL);
}

static void test_parts_become_the_whole(void **state)
{
    (void)state;
    const char *const parts[] = {"api-predict-1", "api-predict-2"};
    acq_completion_report report = {.size = sizeof report}, merged = {.size = sizeof merged};
    assert_int_equal(complete(OUTPUT, 0, 0, 100), ACQ_OK);
    assert_int_equal(acq_completion_read_report(OUTPUT, &report, NULL), ACQ_OK);
    assert_true(report.n_relations == 6 && report.of_parts == 0 && report.is_calibrated);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(complete(parts[i], i + 1, 2, 100), ACQ_OK);
    assert_int_equal(acq_completion_read_report(parts[1], &merged, NULL), ACQ_OK);
    assert_true(merged.part == 2 && merged.of_parts == 2);
    for (int most = 1; most <= 4; most++) {
        int calls = most;
        assert_int_equal(acq_merge(parts, 2, "api-predict-merged", count_calls, &calls, NULL),
                         ACQ_ERR_INTERRUPTED);
        assert_int_equal(access("api-predict-merged", F_OK), -1);
    }
    assert_int_equal(acq_merge(parts, 2, "api-predict-merged", NULL, NULL, NULL), ACQ_OK);
    assert_int_equal(acq_completion_read_report("api-predict-merged", &merged, NULL), ACQ_OK);
    assert_true(merged.n_links == report.n_links && merged.of_parts == 0);
    assert_int_equal(system("cmp -s api-predict-merged api-predict-output"), 0);
    unlink("api-predict-merged");
    unlink(parts[0]);
    unlink(parts[1]);
    assert_int_equal(complete(OUTPUT, 3, 2, 100), ACQ_ERR_USAGE);
}

static void test_a_stopped_completion_leaves_the_old_one(void **state)
{
    (void)state;
    acq_completion_report report = {.size = sizeof report};
    struct stat info;
    assert_int_equal(complete(OUTPUT, 0, 0, 100), ACQ_OK);
    assert_int_equal(chmod(OUTPUT, 0600), 0);
    for (int calls = 1; calls <= 4; calls++)
        assert_int_equal(complete(OUTPUT, 0, 0, calls), ACQ_ERR_INTERRUPTED);
    assert_int_equal(acq_completion_read_report(OUTPUT, &report, NULL), ACQ_OK);
    assert_int_equal(complete(OUTPUT, 0, 0, 100), ACQ_OK); /* private files stay private */
    assert_int_equal(stat(OUTPUT, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_of_an_entity_most_likely_first),
        cmocka_unit_test(test_suggestions_are_the_likeliest_links),
        cmocka_unit_test(test_impossible_suggestions_are_refused),
        cmocka_unit_test(test_rows_of_many_are_those_of_each),
        cmocka_unit_test(test_ids_that_are_not_there_are_refused),
        cmocka_unit_test(test_parts_become_the_whole),
        cmocka_unit_test(test_a_stopped_completion_leaves_the_old_one),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
