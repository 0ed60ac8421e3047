/* predict_perfect.c - the observed and the perfect predictor, with equal and other dictionaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/build.h"
#include "graph/text/reader.h"
#include "predict/predictor.h"

static acq_graph *read_text(const char *text, const char *index)
{
    acq_memory_source source = {.name = "text",
                                .bytes = text,
                                .length = strlen(text),
                                .index = index,
                                .index_length = index == NULL ? 0 : strlen(index)};
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_graph_read_memory(&source, NULL, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return graph;
}

static float score(const acq_predictor *predictor, const char *head, const char *rel,
                   const char *tail)
{
    const acq_graph *graph = predictor->graph;
    acq_ent h = acq_graph_find_entity(graph, head, strlen(head));
    acq_rel r = acq_graph_find_relation(graph, rel, strlen(rel));
    acq_ent t = acq_graph_find_entity(graph, tail, strlen(tail));
    assert_true(h != ACQ_NO_ID && r != ACQ_NO_ID && t != ACQ_NO_ID);
    float forward = acq_predictor_get_score(predictor, h, r, t);
    assert_true(forward == acq_predictor_get_score(predictor, t, acq_inverse(r), h));
    return forward;
}

static void check_links(const acq_predictor *predictor)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(predictor->graph); r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_predictor_open_links(predictor, r, &links, NULL), ACQ_OK);
        assert_true(acq_links_check(links, &reason));
    }
}

static void test_observed_scores_facts_with_one(void **state)
{
    (void)state;
    acq_graph *graph = read_text("a\tr\tb\nb\ts\tc\n", NULL);
    acq_predictor *predictor = NULL;
    assert_int_equal(acq_predictor_new_observed(graph, &predictor, NULL), ACQ_OK);
    assert_true(score(predictor, "a", "r", "b") == 1.0F);
    assert_true(score(predictor, "b", "r", "a") == 0.0F);
    assert_string_equal(predictor->name, "observed");
    assert_null(acq_predictor_get_note(predictor));
    assert_int_equal(acq_predictor_get_row(predictor, 0, 0).n, 1);
    assert_int_equal(acq_predictor_get_row(predictor, 99, 0).n, 0);
    assert_int_equal(acq_predictor_get_row(predictor, 0, 99).n, 0);
    assert_true(acq_predictor_get_score(predictor, 99, 0, 0) == 0.0F);
    assert_true(acq_predictor_get_score(predictor, 0, 99, 0) == 0.0F);
    check_links(predictor);
    acq_predictor_free(predictor);
    acq_predictor_free(NULL);
    acq_graph_free(graph);
}

static acq_predictor *make_perfect(const acq_graph *graph, acq_graph *complete,
                                   acq_perfect_report *report)
{
    acq_predictor *predictor = NULL;
    assert_int_equal(
        acq_predictor_new_perfect(graph, complete, "perfect:x", &predictor, report, NULL), ACQ_OK);
    acq_graph_free(complete);
    check_links(predictor);
    assert_string_equal(predictor->name, "perfect:x");
    return predictor;
}

static void test_perfect_knows_the_complete_graph_and_outlives_it(void **state)
{
    (void)state;
    const char *index = "{\"e\":{\"a\":0,\"b\":1,\"c\":2},\"r\":{\"+r\":0,\"-r\":1}}";
    acq_graph *graph = read_text("0\t0\t1\n", index);
    acq_perfect_report report;
    acq_predictor *predictor = make_perfect(graph, read_text("0\t0\t1\n1\t0\t2\n", index), &report);
    assert_true(score(predictor, "a", "+r", "b") == 1.0F);
    assert_true(score(predictor, "b", "+r", "c") == 1.0F);
    assert_true(score(predictor, "a", "+r", "c") == 0.0F);
    assert_int_equal(report.unknown_entities, 0);
    assert_int_equal(report.dropped_facts, 0);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
}

static void test_perfect_matches_names_of_another_dictionary(void **state)
{
    (void)state;
    acq_graph *graph = read_text("a\tr\tb\nb\ts\tc\n", NULL);
    acq_graph *complete = read_text("z\tr\ta\nc\ts\tb\nc\tr\ta\na\tr\tb\na\tother\tb\n", NULL);
    acq_perfect_report report;
    acq_predictor *predictor = make_perfect(graph, complete, &report);
    assert_true(score(predictor, "c", "s", "b") == 1.0F);
    assert_true(score(predictor, "c", "r", "a") == 1.0F);
    assert_true(score(predictor, "a", "r", "b") == 1.0F);
    assert_true(score(predictor, "b", "s", "c") == 0.0F);
    assert_int_equal(report.unknown_entities, 1);
    assert_int_equal(report.dropped_facts, 2);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
}

static void test_named_inverses_meet_plain_relations(void **state)
{
    (void)state;
    const char *index = "{\"e\":{\"a\":0,\"b\":1},\"r\":{\"r\":0,\"r_back\":1}}";
    acq_graph *named = read_text("0\t0\t0\n", index);
    acq_predictor *predictor =
        make_perfect(named, read_text("a\tr_back\tb\nb\tr\tb\n", NULL), NULL);
    assert_true(score(predictor, "b", "r", "a") == 1.0F);
    assert_true(score(predictor, "b", "r", "b") == 1.0F);
    assert_true(score(predictor, "a", "r", "b") == 0.0F);
    acq_predictor_free(predictor);
    acq_graph *plain = read_text("a\tr_back\tb\nb\tr\tb\n", NULL);
    acq_perfect_report report;
    predictor = make_perfect(plain, read_text("1\t0\t0\n", index), &report);
    assert_true(score(predictor, "b", "r", "a") == 1.0F);
    assert_int_equal(report.dropped_facts, 0);
    acq_predictor_free(predictor);
    acq_graph_free(plain);
    acq_graph_free(named);
}

#ifdef ACQ_FAULTS
static void test_failed_allocations_are_reported(void **state)
{
    (void)state;
    acq_graph *graph = read_text("a\tr\tb\nb\ts\tc\n", NULL);
    acq_graph *complete = read_text("c\tr\ta\nb\ts\tc\n", NULL);
    acq_predictor *predictor = NULL;
    acq_status status = ACQ_ERR_MEMORY;
    acq_faults_fail_at(1);
    assert_int_equal(acq_predictor_new_observed(graph, &predictor, NULL), ACQ_ERR_MEMORY);
    assert_null(predictor);
    size_t n = 1;
    for (; status != ACQ_OK && n < 1000; n++) {
        acq_error error = {0};
        assert_null(predictor);
        acq_faults_fail_at(n);
        status = acq_predictor_new_perfect(graph, complete, "p", &predictor, NULL, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
    }
    assert_true(n > 10);
    acq_predictor_free(predictor);
    acq_graph_free(complete);
    acq_graph_free(graph);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observed_scores_facts_with_one),
        cmocka_unit_test(test_perfect_knows_the_complete_graph_and_outlives_it),
        cmocka_unit_test(test_perfect_matches_names_of_another_dictionary),
        cmocka_unit_test(test_named_inverses_meet_plain_relations),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocations_are_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
