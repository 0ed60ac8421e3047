/* api_store.c - stores through the public header: made, changed while open, compacted. */
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

static acq_graph *open_store(const char *path)
{
    acq_graph *graph;
    acq_error error = {0};
    if (acq_graph_open(path, NULL, &graph, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return graph;
}

static bool knows(const acq_graph *graph, const char *head, const char *tail)
{
    acq_query *query;
    acq_predictor *predictor;
    acq_result *result;
    char text[128];
    snprintf(text, sizeof text, "Q() := knows(\"%s\", \"%s\")", head, tail);
    if (acq_query_new(graph, text, &query, NULL) != ACQ_OK)
        return false;
    assert_int_equal(acq_predictor_new(graph, "observed", NULL, &predictor, NULL), ACQ_OK);
    assert_int_equal(acq_ask(query, predictor, NULL, &result, NULL), ACQ_OK);
    bool is_known = acq_result_get_outcome(result) == ACQ_RESULT_ANSWERED;
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    return is_known;
}

static void test_store_answers_like_its_source(void **state)
{
    (void)state;
    char path[64];
    api_make_store(path);
    acq_graph *graph = open_store(path);
    assert_int_equal(acq_graph_get_n_facts(graph), acq_graph_get_n_facts(f.graph));
    assert_int_equal(acq_graph_get_n_entities(graph), acq_graph_get_n_entities(f.graph));
    acq_ent ada = acq_graph_find_entity(graph, "Ada", 3);
    assert_string_equal(acq_graph_get_entity_name(graph, ada), "Ada");
    assert_string_equal(acq_graph_get_entity_key(graph, ada), "Ada");
    assert_string_equal(acq_graph_get_relation_key(graph, 0), "born_in");
    assert_int_equal(acq_graph_get_failure(graph, NULL), ACQ_OK);
    assert_true(knows(graph, "Ada", "Bo") && !knows(graph, "Bo", "Ada"));
    acq_graph_free(graph);
    api_drop_store(path);
}

static bool refuse(void *context, const acq_progress *now)
{
    (void)context;
    (void)now;
    return false;
}

static bool keep(void *context, const acq_progress *now)
{
    *(acq_progress *)context = *now;
    return true;
}

static void test_open_graph_is_a_snapshot(void **state)
{
    (void)state;
    char path[64];
    api_make_store(path);
    acq_graph *before = open_store(path);
    acq_store_writer *writer;
    assert_int_equal(acq_store_writer_open(path, &writer, NULL), ACQ_OK);
    const acq_store_fact changes[] = {{"Cy", "knows", "Ada", false, false},
                                      {"Ada", "knows", "Cy", true, false}, /* the same */
                                      {"Cy", "knows", "Dee", false, false},
                                      {"Ada", "knows", "Bo", false, false}};
    acq_store_report report = {.size = sizeof report};
    assert_int_equal(acq_store_add(writer, changes, 4, &report, NULL, NULL), ACQ_OK);
    assert_int_equal(report.changed, 2);
    assert_int_equal(report.unchanged, 2);
    assert_int_equal(report.new_entities, 1);
    assert_int_equal(report.new_relations, 0);
    assert_int_equal(acq_store_remove(writer, changes + 3, 1, NULL, NULL, NULL), ACQ_OK);
    acq_graph *after = open_store(path);
    assert_true(knows(before, "Ada", "Bo") && !knows(before, "Cy", "Ada"));
    assert_true(!knows(after, "Ada", "Bo") && knows(after, "Cy", "Ada"));
    uint64_t n_folded = 0;
    acq_store_writer_watch(writer, refuse, NULL);
    assert_int_equal(acq_store_compact(writer, &n_folded, NULL), ACQ_ERR_INTERRUPTED);
    assert_int_equal(n_folded, 0);
    acq_progress last = {0};
    acq_store_writer_watch(writer, keep, &last);
    assert_int_equal(acq_store_compact(writer, &n_folded, NULL), ACQ_OK);
    assert_int_equal(n_folded, 3);
    assert_true(last.total == 3 && last.done < 3 && strcmp(last.phase, "compacting") == 0);
    acq_store_writer_watch(writer, NULL, NULL);
    assert_int_equal(acq_store_compact(writer, NULL, NULL), ACQ_OK);
    acq_graph *compacted = open_store(path);
    assert_true(knows(before, "Ada", "Bo") && knows(after, "Cy", "Dee"));
    assert_true(!knows(compacted, "Ada", "Bo") && knows(compacted, "Cy", "Dee"));
    acq_graph_free(compacted);
    acq_graph_free(after);
    acq_graph_free(before);
    acq_store_writer_free(writer);
    api_drop_store(path);
}

static void test_bad_change_changes_nothing(void **state)
{
    (void)state;
    char path[64];
    api_make_store(path);
    acq_store_writer *writer;
    assert_int_equal(acq_store_writer_open(path, &writer, NULL), ACQ_OK);
    const acq_store_fact changes[] = {{"Ada", "knows", "Bo", false, false},
                                      {"Ada", "knows", "Boo", false, false}};
    size_t i_bad = 0;
    acq_error error = {0};
    assert_int_equal(acq_store_remove(writer, changes, 2, NULL, &i_bad, &error), ACQ_ERR_NAME);
    assert_int_equal(i_bad, 1);
    assert_non_null(strstr(error.message, "did you mean \"Bo\"?"));
    const acq_store_fact empty = {"", "knows", "Bo", false, false};
    assert_int_not_equal(acq_store_add(writer, &empty, 1, NULL, NULL, NULL), ACQ_OK);
    acq_graph *graph = open_store(path);
    assert_true(knows(graph, "Ada", "Bo"));
    acq_graph_free(graph);
    acq_store_writer_free(writer);
    acq_error other = {0};
    assert_int_not_equal(acq_store_writer_open(f.path, &writer, &other), ACQ_OK);
    const char *sources[] = {f.path};
    acq_error taken = {0};
    assert_int_not_equal(acq_store_create(sources, 1, f.path, NULL, &taken), ACQ_OK);
    api_drop_store(path);
}

static bool stop_at_once(void *context, const acq_progress *now)
{
    assert_true(now->phase != NULL);
    ++*(int *)context;
    return false;
}

static void test_a_stopped_import_leaves_nothing(void **state)
{
    (void)state;
    int n = 0;
    const char *sources[] = {f.path};
    acq_store_params params;
    acq_store_params_init(&params);
    acq_graph_params read;
    acq_graph_params_init(&read);
    read.progress = stop_at_once;
    read.context = &n;
    params.read = &read;
    acq_error error = {0};
    assert_int_equal(acq_store_create(sources, 1, "anycq-api-stopped.acq", &params, &error),
                     ACQ_ERR_INTERRUPTED);
    assert_true(n > 0);
    assert_int_not_equal(access("anycq-api-stopped.acq", F_OK), 0);
    assert_int_not_equal(access("anycq-api-stopped.acq.partial", F_OK), 0);
}

static void test_entities_of_answers_have_keys(void **state)
{
    (void)state;
    char path[] = "anycq-api-XXXXXX.nt";
    static const char text[] =
        "<http://x/a> <http://x/knows> <http://x/b> .\n"
        "<http://x/b> <http://www.w3.org/2000/01/rdf-schema#label> \"Bo\" .\n";
    int file = mkstemps(path, 3);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    acq_graph *graph = open_store(path);
    acq_query *query;
    acq_predictor *predictor;
    acq_result *result;
    assert_int_equal(acq_query_new(graph, "Q(x) := knows(<http://x/a>, x)", &query, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(graph, "observed", NULL, &predictor, NULL), ACQ_OK);
    assert_int_equal(acq_ask(query, predictor, NULL, &result, NULL), ACQ_OK);
    assert_string_equal(acq_result_get_value(result, 0, "x"), "Bo");
    acq_ent bo = acq_result_get_entity(result, 0, 0);
    assert_string_equal(acq_graph_get_entity_key(graph, bo), "http://x/b");
    assert_int_equal(acq_result_get_entity(result, 0, 1), UINT32_MAX);
    assert_int_equal(acq_result_get_entity(result, 1, 0), UINT32_MAX);
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    acq_graph_free(graph);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_answers_like_its_source),
        cmocka_unit_test(test_open_graph_is_a_snapshot),
        cmocka_unit_test(test_bad_change_changes_nothing),
        cmocka_unit_test(test_a_stopped_import_leaves_nothing),
        cmocka_unit_test(test_entities_of_answers_have_keys),
    };
    return cmocka_run_group_tests(tests, api_set_up, api_tear_down);
}
