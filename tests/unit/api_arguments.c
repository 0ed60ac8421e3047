/* api_arguments.c - what every public function makes of NULL, and sized structs of other versions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/api_case.h"

/* Fails unless the call is refused with the names of the function and the argument. */
#define REFUSES(function, argument, ...)                                                           \
    do {                                                                                           \
        acq_error e = {0};                                                                         \
        acq_error *error = &e;                                                                     \
        assert_int_equal(function(__VA_ARGS__, error), ACQ_ERR_USAGE);                             \
        assert_string_equal(e.message, #function ": " argument " is NULL");                        \
        assert_int_equal(function(__VA_ARGS__, NULL), ACQ_ERR_USAGE);                              \
    } while (0)

static acq_query *query;
static acq_result *result;

static bool refuse_name(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)context;
    (void)entity;
    (void)name;
    return length == SIZE_MAX;
}

static void test_graphs_and_stores(void **state)
{
    (void)state;
    acq_graph *graph = NULL;
    acq_store_writer *writer = NULL;
    const char *sources[] = {f.path}, *hole[] = {f.path, NULL};
    acq_solutions *solutions = NULL;
    REFUSES(acq_solve, "graph", NULL, "ASK {}", NULL, NULL, &solutions);
    REFUSES(acq_solve, "sparql", f.graph, NULL, NULL, NULL, &solutions);
    REFUSES(acq_solve, "out", f.graph, "ASK {}", NULL, NULL, NULL);
    REFUSES(acq_solutions_explain, "solutions", NULL, 0, NULL);
    assert_int_equal(acq_solve(f.graph, "ASK {}", NULL, NULL, &solutions, NULL), ACQ_OK);
    REFUSES(acq_solutions_explain, "out", solutions, 0, NULL);
    acq_solutions_free(solutions);
    REFUSES(acq_graph_open, "path", NULL, NULL, &graph);
    REFUSES(acq_graph_open, "out", f.path, NULL, NULL);
    REFUSES(acq_graph_get_failure, "graph", NULL);
    REFUSES(acq_graph_each_name, "graph", NULL, "A", 1, refuse_name, NULL);
    REFUSES(acq_graph_each_name, "prefix", f.graph, NULL, 1, refuse_name, NULL);
    REFUSES(acq_graph_each_name, "visit", f.graph, "A", 1, NULL, NULL);
    REFUSES(acq_store_create, "sources", NULL, 1, "x.acq", NULL);
    REFUSES(acq_store_create, "sources[i]", hole, 2, "x.acq", NULL);
    REFUSES(acq_store_create, "path", sources, 1, NULL, NULL);
    acq_store_writer_watch(NULL, NULL, NULL); /* nothing happens */
    REFUSES(acq_store_writer_open, "path", NULL, &writer);
    REFUSES(acq_store_writer_open, "out", f.path, NULL);
    acq_store_fact fact = {.head = "Ada", .relation = "knows", .tail = "Bo"};
    REFUSES(acq_store_add, "writer", NULL, &fact, 1, NULL, NULL);
    REFUSES(acq_store_remove, "writer", NULL, &fact, 1, NULL, NULL);
    REFUSES(acq_store_compact, "writer", NULL, NULL);
    REFUSES(acq_store_add_from, "writer", NULL, f.path, NULL, NULL);
    REFUSES(acq_store_remove_from, "writer", NULL, f.path, NULL, NULL);
    acq_store_summary summary = {.size = sizeof summary};
    REFUSES(acq_store_describe, "path", NULL, &summary);
    REFUSES(acq_store_describe, "summary", f.path, NULL);
    REFUSES(acq_store_verify, "path", NULL, NULL, NULL);
    acq_relation_counts counts = {.size = sizeof counts};
    REFUSES(acq_graph_count_relation, "graph", NULL, 0, &counts);
    REFUSES(acq_graph_count_relation, "counts", f.graph, 0, NULL);
    acq_graph_write_params write;
    acq_graph_write_params_init(&write);
    REFUSES(acq_graph_write, "graph", NULL, &write, NULL);
    REFUSES(acq_graph_write, "given", f.graph, NULL, NULL);
    REFUSES(acq_graph_write, "params->put", f.graph, &write, NULL);
    char path[64];
    api_make_store(path);
    assert_int_equal(acq_store_writer_open(path, &writer, NULL), ACQ_OK);
    fact.relation = NULL;
    REFUSES(acq_store_add_from, "path", writer, NULL, NULL, NULL);
    REFUSES(acq_store_remove_from, "path", writer, NULL, NULL, NULL);
    REFUSES(acq_store_add, "facts", writer, NULL, 1, NULL, NULL);
    REFUSES(acq_store_remove, "facts", writer, NULL, 1, NULL, NULL);
    REFUSES(acq_store_add, "a name of facts[0]", writer, &fact, 1, NULL, NULL);
    REFUSES(acq_store_remove, "a name of facts[0]", writer, &fact, 1, NULL, NULL);
    assert_int_equal(acq_store_add(writer, NULL, 0, NULL, NULL, NULL), ACQ_OK);
    acq_store_writer_free(writer);
    api_drop_store(path);
}

static acq_status refuse_piece(void *context, const char *bytes, size_t length, acq_error *error)
{
    (void)context;
    (void)bytes;
    (void)length;
    (void)error;
    return ACQ_ERR_INTERNAL;
}

static void test_sql_and_evaluation(void **state)
{
    (void)state;
    const char *files[] = {"x"}, *hole[] = {NULL};
    char path[8];
    acq_evaluation *evaluation = NULL;
    acq_predictor *predictor = NULL;
    acq_links_report report = {.size = sizeof report};
    REFUSES(acq_limit_instructions, "set", NULL);
    assert_int_equal(acq_limit_instructions("mmx", NULL), ACQ_ERR_USAGE);
    REFUSES(acq_sql_translate, "query", NULL, refuse_piece, NULL);
    REFUSES(acq_sql_translate, "put", api_chain, NULL, NULL);
    REFUSES(acq_sql_translate_file, "path", NULL, 0, refuse_piece, NULL);
    REFUSES(acq_sql_translate_file, "put", "x", 0, NULL, NULL);
    REFUSES(acq_generate, "observed", NULL, f.graph, "x", NULL, NULL);
    REFUSES(acq_generate, "complete", f.graph, NULL, "x", NULL, NULL);
    REFUSES(acq_generate, "path", f.graph, f.graph, NULL, NULL, NULL);
    acq_ranking *ranking = NULL;
    REFUSES(acq_rank_file, "predictor", NULL, "x", NULL, &ranking);
    REFUSES(acq_rank_file, "path", f.predictor, NULL, NULL, &ranking);
    REFUSES(acq_rank_file, "out", f.predictor, "x", NULL, NULL);
    REFUSES(acq_draw, "query", NULL, "x");
    REFUSES(acq_draw, "path", api_chain, NULL);
    REFUSES(acq_evaluate, "predictor", NULL, ACQ_TASK_QAC, files, 1, NULL, &evaluation);
    REFUSES(acq_evaluate, "files", f.predictor, ACQ_TASK_QAC, NULL, 1, NULL, &evaluation);
    REFUSES(acq_evaluate, "files[i]", f.predictor, ACQ_TASK_QAC, hole, 1, NULL, &evaluation);
    REFUSES(acq_evaluate, "out", f.predictor, ACQ_TASK_QAC, files, 1, NULL, NULL);
    REFUSES(acq_evaluate_links, "predictor", NULL, f.predictor, NULL, &report);
    REFUSES(acq_evaluate_links, "truth", f.predictor, NULL, NULL, &report);
    REFUSES(acq_evaluate_links, "report", f.predictor, f.predictor, NULL, NULL);
    REFUSES(acq_predictor_new_of_facts, "graph", NULL, f.graph, "x", &predictor, NULL);
    REFUSES(acq_predictor_new_of_facts, "complete", f.graph, NULL, "x", &predictor, NULL);
    REFUSES(acq_predictor_new_of_facts, "name", f.graph, f.graph, NULL, &predictor, NULL);
    REFUSES(acq_predictor_new_of_facts, "out", f.graph, f.graph, "x", NULL, NULL);
    REFUSES(acq_completion_find_path, "graph_path", NULL, path, sizeof path);
    REFUSES(acq_completion_find_path, "out", "x", NULL, sizeof path);
    assert_int_equal(acq_fit_completion_check(NULL, NULL), ACQ_OK);
    assert_int_equal(acq_evaluate_check(NULL, NULL), ACQ_OK);
}

static void test_questions(void **state)
{
    (void)state;
    acq_query *new_query = NULL;
    acq_predictor *predictor = NULL;
    acq_policy *policy = NULL;
    acq_result *out = NULL;
    acq_evidence_list *list = NULL;
    const char *values[] = {"Ada"}, *hole[] = {NULL};
    REFUSES(acq_query_new, "graph", NULL, api_chain, &new_query);
    REFUSES(acq_query_new, "text", f.graph, NULL, &new_query);
    REFUSES(acq_query_new, "out", f.graph, api_chain, NULL);
    REFUSES(acq_predictor_new, "graph", NULL, "observed", NULL, &predictor);
    REFUSES(acq_predictor_new, "spec", f.graph, NULL, NULL, &predictor);
    REFUSES(acq_predictor_new, "out", f.graph, "observed", NULL, NULL);
    REFUSES(acq_predictor_check_spec, "spec", NULL);
    acq_covering *covering = NULL;
    REFUSES(acq_cover_find, "query", NULL, f.predictor, NULL, &covering);
    REFUSES(acq_cover_find, "predictor", query, NULL, NULL, &covering);
    REFUSES(acq_cover_find, "out", query, f.predictor, NULL, NULL);
    acq_suggestions *suggestions = NULL;
    REFUSES(acq_suggest, "predictor", NULL, NULL, &suggestions);
    REFUSES(acq_suggest, "out", f.predictor, NULL, NULL);
    acq_reasons *reasons = NULL;
    REFUSES(acq_reasons_find, "predictor", NULL, 0, 0, 0, &reasons);
    REFUSES(acq_reasons_find, "out", f.predictor, 0, 0, 0, NULL);
    acq_predictions *links = NULL;
    acq_completion_report report = {.size = sizeof report};
    acq_ent ada = 0;
    const char *parts[] = {"x"};
    REFUSES(acq_predict, "predictor", NULL, 0, 0, &links);
    REFUSES(acq_predict, "out", f.predictor, 0, 0, NULL);
    REFUSES(acq_predict_within, "predictor", NULL, 0, 0, NULL, &links);
    REFUSES(acq_predict_within, "out", f.predictor, 0, 0, NULL, NULL);
    REFUSES(acq_predict_rows, "predictor", NULL, &ada, 1, 0, &links);
    REFUSES(acq_predict_rows, "entities", f.predictor, NULL, 1, 0, &links);
    REFUSES(acq_predict_rows, "out", f.predictor, &ada, 1, 0, NULL);
    REFUSES(acq_complete, "predictor", NULL, "x", NULL);
    REFUSES(acq_complete, "path", f.predictor, NULL, NULL);
    REFUSES(acq_merge, "parts", NULL, 1, "x", NULL, NULL);
    REFUSES(acq_merge, "parts[i]", hole, 1, "x", NULL, NULL);
    REFUSES(acq_merge, "path", parts, 1, NULL, NULL, NULL);
    REFUSES(acq_completion_read_report, "path", NULL, &report);
    REFUSES(acq_completion_read_report, "report", "x", NULL);
    REFUSES(acq_policy_open, "spec", NULL, 1, &policy);
    REFUSES(acq_policy_open, "out", "shipped", 1, NULL);
    REFUSES(acq_ask, "query", NULL, f.predictor, NULL, &out);
    REFUSES(acq_ask, "predictor", query, NULL, NULL, &out);
    REFUSES(acq_ask, "out", query, f.predictor, NULL, NULL);
    REFUSES(acq_check, "query", NULL, f.predictor, values, 1, NULL, &out);
    REFUSES(acq_check, "predictor", query, NULL, values, 1, NULL, &out);
    REFUSES(acq_check, "values", query, f.predictor, NULL, 1, NULL, &out);
    REFUSES(acq_check, "values[0]", query, f.predictor, hole, 1, NULL, &out);
    REFUSES(acq_check, "out", query, f.predictor, values, 1, NULL, NULL);
    REFUSES(acq_check_many, "query", NULL, f.predictor, values, 1, NULL, &out);
    REFUSES(acq_check_many, "predictor", query, NULL, values, 1, NULL, &out);
    REFUSES(acq_check_many, "values", query, f.predictor, NULL, 1, NULL, &out);
    REFUSES(acq_check_many, "values[0]", query, f.predictor, hole, 1, NULL, &out);
    REFUSES(acq_check_many, "results", query, f.predictor, values, 1, NULL, NULL);
    acq_cursor *cursor = NULL;
    const acq_result *answer = NULL;
    REFUSES(acq_cursor_open, "query", NULL, f.predictor, NULL, &cursor);
    REFUSES(acq_cursor_open, "predictor", query, NULL, NULL, &cursor);
    REFUSES(acq_cursor_open, "out", query, f.predictor, NULL, NULL);
    REFUSES(acq_cursor_next, "cursor", NULL, &answer);
    REFUSES(acq_cursor_next_some, "cursor", NULL, &answer);
    assert_int_equal(acq_cursor_open(query, f.predictor, NULL, &cursor, NULL), ACQ_OK);
    REFUSES(acq_cursor_next, "out", cursor, NULL);
    REFUSES(acq_cursor_next_some, "out", cursor, NULL);
    acq_cursor_free(cursor);
    REFUSES(acq_train_check, "kind", NULL, NULL, 0);
    REFUSES(acq_train_check, "options", "complex", NULL, 1);
    acq_train_option nameless = {.value = "4"};
    assert_int_equal(acq_train_check("complex", &nameless, 1, NULL), ACQ_ERR_USAGE);
    acq_train_params train;
    acq_train_params_init(&train);
    train.n_options = 1;
    REFUSES(acq_train, "params->options", "complex", (const acq_graph *const *)&f.graph, 1, "x",
            &train, NULL);
    REFUSES(acq_train, "kind", NULL, (const acq_graph *const *)&f.graph, 1, "x", NULL, NULL);
    REFUSES(acq_train, "graphs", "complex", NULL, 1, "x", NULL, NULL);
    REFUSES(acq_train, "output", "complex", (const acq_graph *const *)&f.graph, 1, NULL, NULL,
            NULL);
    acq_rule_reader *reader = NULL;
    REFUSES(acq_rule_reader_open, "path", NULL, &reader);
    REFUSES(acq_rule_reader_open, "out", "x", NULL);
    char plan[200];
    REFUSES(acq_fit_completion_plan, "graph", NULL, NULL, plan, sizeof plan);
    REFUSES(acq_fit_completion_plan, "out", f.graph, NULL, NULL, 0);
    REFUSES(acq_fit_completion, "graph", NULL, "x", NULL);
    REFUSES(acq_fit_completion, "path", f.graph, NULL, NULL);
    acq_conflict *conflict = NULL;
    REFUSES(acq_result_find_conflict, "result", NULL, 0, &conflict);
    REFUSES(acq_result_find_conflict, "out", result, 0, NULL);
    REFUSES(acq_result_explain, "result", NULL, 0, &list);
    REFUSES(acq_result_explain, "out", result, 0, NULL);
}

static void test_functions_without_a_status_give_nothing(void **state)
{
    (void)state;
    acq_error_clear(NULL);
    acq_rule_reader_close(NULL);
    acq_rule_reader_describe(NULL, NULL);
    assert_false(acq_rule_reader_get(NULL, 0, NULL));
    assert_false(acq_rules_is_model(NULL));
    acq_ranking_free(NULL);
    assert_int_equal(acq_ranking_get_n(NULL), 0);
    assert_null(acq_ranking_get(NULL, 0));
    assert_int_equal(acq_ranking_get_left_out(NULL, NULL), 0);
    acq_generate_params_init(NULL);
    acq_graph_params_init(NULL);
    acq_store_params_init(NULL);
    acq_graph_write_params_init(NULL);
    assert_false(acq_store_is_database(NULL));
    assert_int_equal(acq_graph_get_dictionary_fingerprint(NULL), 0);
    acq_ask_params_init(NULL);
    assert_int_equal(acq_graph_get_n_entities(NULL), 0);
    assert_int_equal(acq_graph_get_n_relations(NULL), 0);
    assert_int_equal(acq_graph_get_n_facts(NULL), 0);
    assert_string_equal(acq_graph_get_entity_name(NULL, 0), "");
    assert_string_equal(acq_graph_get_entity_key(NULL, 0), "");
    assert_string_equal(acq_graph_get_relation_name(NULL, 0), "");
    assert_string_equal(acq_graph_get_relation_key(NULL, 0), "");
    assert_int_equal(acq_graph_find_entity(NULL, "Ada", 3), UINT32_MAX);
    assert_int_equal(acq_graph_find_entity(f.graph, NULL, 3), UINT32_MAX);
    assert_int_equal(acq_graph_find_relation(NULL, "knows", 5), UINT32_MAX);
    assert_int_equal(acq_graph_find_relation(f.graph, NULL, 5), UINT32_MAX);
    assert_false(acq_graph_is_named(NULL, 0) || acq_graph_is_rdf(NULL));
    assert_false(acq_graph_has_fact(NULL, 0, 0, 0));
    assert_null(acq_graph_suggest_entity(NULL, "Ada", 3));
    assert_null(acq_graph_suggest_entity(f.graph, NULL, 3));
    assert_null(acq_graph_suggest_relation(NULL, "knows", 5));
    assert_null(acq_graph_suggest_relation(f.graph, NULL, 5));
    assert_int_equal(acq_graph_get_fingerprint(NULL), 0);
    assert_int_equal(acq_query_get_limit(NULL), 0);
    assert_string_equal(acq_query_get_hint(NULL), "");
    acq_predictor_params_init(NULL);
    acq_complete_params_init(NULL);
    assert_int_equal(acq_predictions_get_n(NULL), 0);
    assert_null(acq_predictions_get(NULL, 0));
    acq_predictions_free(NULL);
    acq_cover_params_init(NULL);
    acq_cover_report covered = {.size = sizeof covered, .held = 1};
    acq_covering_get_report(NULL, &covered);
    assert_int_equal(covered.held, 0);
    assert_int_equal(acq_covering_get_n(NULL), 0);
    assert_null(acq_covering_get(NULL, 0));
    acq_covering_free(NULL);
    acq_suggest_params_init(NULL);
    acq_relation_quality quality = {.size = sizeof quality};
    assert_false(acq_predictor_get_quality(NULL, 0, &quality));
    assert_false(acq_predictor_get_quality(f.predictor, 0, NULL));
    assert_false(acq_predictor_get_quality(f.predictor, UINT32_MAX, &quality));
    acq_reliability reliability;
    assert_false(acq_predictor_get_reliability(NULL, &reliability));
    assert_false(acq_predictor_get_reliability(f.predictor, NULL));
    acq_suggest_report suggested = {.size = sizeof suggested, .rows = 1};
    acq_suggestions_get_report(NULL, &suggested);
    assert_int_equal(suggested.rows, 0);
    assert_int_equal(acq_suggestions_get_n(NULL), 0);
    assert_null(acq_suggestions_get(NULL, 0));
    acq_suggestions_free(NULL);
    assert_false(acq_is_sparql(NULL));
    assert_false(acq_query_needs_solve(NULL));
    assert_int_equal(acq_solutions_get_form(NULL), ACQ_SOLUTIONS_ROWS);
    assert_int_equal(acq_solutions_get_n(NULL), 0);
    assert_int_equal(acq_solutions_get_n_variables(NULL), 0);
    assert_null(acq_solutions_get_variable(NULL, 0));
    assert_int_equal(acq_solutions_get_term(NULL, 0, 0).kind, ACQ_RDF_UNBOUND);
    assert_false(acq_solutions_is_predicted(NULL, 0));
    assert_true(isnan(acq_solutions_get_probability(NULL, 0)));
    assert_string_equal(acq_solutions_get_spent(NULL), "");
    assert_string_equal(acq_solutions_get_warning(NULL), "");
    assert_string_equal(acq_solutions_get_note(NULL), "");
    acq_solutions_free(NULL);
    acq_solve_params_init(NULL);
    assert_int_equal(acq_reasons_get_n(NULL), 0);
    assert_null(acq_reasons_get(NULL, 0));
    assert_string_equal(acq_reasons_get_note(NULL), "");
    acq_reasons_free(NULL);
    acq_fit_completion_params_init(NULL);
    assert_true(acq_reliability_get_gap(NULL, 0) == 0);
    acq_evaluate_params_init(NULL);
    acq_evaluate_links_params_init(NULL);
    assert_int_equal(acq_evaluation_get_n(NULL), 0);
    assert_null(acq_evaluation_get(NULL, 0));
    assert_string_equal(acq_evaluation_get_json(NULL, 0), "");
    assert_string_equal(acq_evaluation_get_table(NULL), "");
    acq_evaluation_free(NULL);
    acq_train_params_init(NULL);
    acq_trained_get(NULL, NULL);
    assert_string_equal(acq_predictor_get_name(NULL), "");
    assert_null(acq_predictor_get_note(NULL));
    assert_false(acq_predictor_is_calibrated(NULL));
    assert_true(acq_predictor_get_floor(NULL) == 0);
    assert_string_equal(acq_policy_get_name(NULL), "");
    assert_null(acq_get_engine(SIZE_MAX));
    acq_result_stats stats = {.size = sizeof stats, .nodes = 7};
    acq_result_get_stats(NULL, &stats);
    assert_int_equal(stats.nodes, 0);
    acq_result_get_stats(result, NULL);
    assert_false(acq_result_has_probabilities(NULL));
    assert_true(isnan(acq_result_get_unsupported_probability(NULL)));
    assert_int_equal(acq_conflict_get_n(NULL), 0);
    assert_null(acq_conflict_get_text(NULL, 0));
    assert_true(acq_conflict_get_condition(NULL, 0) == SIZE_MAX);
    acq_cursor_stop(NULL);
    assert_null(acq_cursor_get_result(NULL));
    assert_int_equal(acq_query_get_n_variables(NULL), 0);
    assert_int_equal(acq_query_get_n_free(NULL), 0);
    assert_null(acq_query_get_variable(NULL, 0));
    acq_query_atom atom = {.size = sizeof atom};
    assert_int_equal(acq_query_get_n_atoms(NULL), 0);
    assert_false(acq_query_get_atom(NULL, 0, &atom));
    assert_false(acq_query_get_atom(query, 0, NULL));
    assert_int_equal(acq_result_get_outcome(NULL), ACQ_RESULT_UNDECIDED);
    assert_false(acq_result_is_complete(NULL));
    assert_string_equal(acq_result_get_spent(NULL), "");
    assert_string_equal(acq_result_get_note(NULL), "");
    assert_int_equal(acq_result_get_nodes(NULL), 0);
    assert_int_equal(acq_result_get_n_answers(NULL), 0);
    assert_true(acq_result_get_score(NULL, 0) == 0);
    assert_true(isnan(acq_result_get_probability(NULL, 0)));
    assert_true(isnan(acq_result_get_probability_if_answered(NULL, 0)));
    assert_true(isnan(acq_result_get_prior_probability(NULL, 0)));
    assert_true(isnan(acq_result_get_whole_probability(NULL)));
    assert_true(isnan(acq_result_get_best_probability(NULL)));
    assert_null(acq_result_get_value(NULL, 0, "x"));
    assert_null(acq_result_get_value(result, 0, NULL));
    assert_null(acq_result_get_value_at(NULL, 0, 0));
    assert_int_equal(acq_result_get_entity(NULL, 0, 0), UINT32_MAX);
    assert_int_equal(acq_evidence_list_get_n(NULL), 0);
    assert_null(acq_evidence_list_get(NULL, 0));
    assert_false(acq_evidence_list_is_observed(NULL));
}

static void test_unknown_ids_have_no_name(void **state)
{
    (void)state;
    char path[64];
    acq_graph *store;
    api_make_store(path);
    assert_int_equal(acq_graph_open(path, NULL, &store, NULL), ACQ_OK);
    const acq_graph *graphs[] = {f.graph, store};
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(acq_graph_get_entity_name(graphs[i], 5), "");
        assert_string_equal(acq_graph_get_entity_key(graphs[i], UINT32_MAX), "");
        assert_string_equal(acq_graph_get_relation_name(graphs[i], 6), "");
        assert_string_equal(acq_graph_get_relation_key(graphs[i], UINT32_MAX), "");
        assert_int_equal(acq_graph_get_failure(graphs[i], NULL), ACQ_OK);
    }
    acq_graph_free(store);
    api_drop_store(path);
}

/* What acq_ask_params was, and may be, in another version. */
typedef struct shorter {
    size_t size;
    const char *engine;
} shorter;

typedef struct longer {
    acq_ask_params known;
    double unknown[3];
} longer;

static void expect_ask(const void *params, acq_status status, const char *message)
{
    acq_result *made = NULL;
    acq_error error = {0};
    assert_int_equal(acq_ask(query, f.predictor, params, &made, &error), status);
    assert_string_equal(error.message, message);
    acq_result_free(made);
}

static void test_params_of_other_versions(void **state)
{
    (void)state;
    shorter old;
    acq_ask_params_init_sized((acq_ask_params *)&old, sizeof old);
    assert_int_equal(old.size, sizeof old);
    assert_string_equal(old.engine, "exact");
    expect_ask(&old, ACQ_OK, "");
    longer new;
    memset(&new, 0xee, sizeof new);
    acq_ask_params_init_sized(&new.known, sizeof new);
    assert_true(new.known.size == sizeof new &&new.known.min_p == 0.5 && new.unknown[2] == 0);
    expect_ask(&new, ACQ_OK, "");
    new.unknown[2] = 1;
    expect_ask(&new, ACQ_ERR_USAGE,
               "acq_ask: params has a field that version " ACQ_VERSION
               " of the library does not know");
    acq_ask_params zero = {0};
    expect_ask(&zero, ACQ_ERR_USAGE,
               "acq_ask: the size of params is not set; begin with its _init");
    acq_graph_params read = {0};
    acq_graph *graph;
    assert_int_equal(acq_graph_open(f.path, &read, &graph, NULL), ACQ_ERR_USAGE);
}

static int set_up(void **state)
{
    if (api_set_up(state) != 0)
        return -1;
    query = api_read_query(api_chain);
    result = api_ask(query, NULL);
    return 0;
}

static int tear_down(void **state)
{
    acq_result_free(result);
    acq_query_free(query);
    return api_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_and_stores),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_sql_and_evaluation),
        cmocka_unit_test(test_functions_without_a_status_give_nothing),
        cmocka_unit_test(test_unknown_ids_have_no_name),
        cmocka_unit_test(test_params_of_other_versions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
