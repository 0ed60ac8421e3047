/* api_library.c - the public library through its header: names in, names out. */
#include <math.h>
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

static void count_line(void *context, const acq_error *line)
{
    assert_true(line->line == 7 && line->message[0] != '\0');
    ++*(int *)context;
}

static void test_graph_tells_names_and_counts(void **state)
{
    (void)state;
    assert_int_equal(acq_graph_get_n_entities(f.graph), 5);
    assert_int_equal(acq_graph_get_n_relations(f.graph), 6);
    assert_int_equal(acq_graph_get_n_facts(f.graph), 6);
    acq_ent ada = acq_graph_find_entity(f.graph, "Ada", 3);
    assert_string_equal(acq_graph_get_entity_name(f.graph, ada), "Ada");
    assert_int_equal(acq_graph_find_entity(f.graph, "Eve", 3), UINT32_MAX);
    acq_rel knows = acq_graph_find_relation(f.graph, "knows", 5);
    assert_string_equal(acq_graph_get_relation_name(f.graph, knows), "knows");
    assert_string_equal(acq_get_version(), ACQ_VERSION);
}

static void test_lines_left_out_are_told(void **state)
{
    (void)state;
    int n = 0;
    acq_graph_params params;
    acq_graph_params_init(&params);
    params.left_out = count_line;
    params.context = &n;
    acq_graph *graph;
    assert_int_equal(acq_graph_open(f.path, &params, &graph, NULL), ACQ_OK);
    assert_int_equal(n, 1);
    acq_graph_free(graph);
    acq_error error = {0};
    params.strict = true;
    assert_int_equal(acq_graph_open(f.path, &params, &graph, &error), ACQ_ERR_PARSE);
    assert_int_equal(error.line, 7);
}

static void test_query_is_taken_apart(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x) := exists y. born_in(x, y) & !lives_in(x, \"Paris\") & "
                                      "(x != y | inverse(born_in)(\"London\", x))");
    acq_query_atom atom = {.size = sizeof atom};
    assert_int_equal(acq_query_get_n_atoms(query), 4);
    assert_true(acq_query_get_atom(query, 0, &atom));
    assert_true(atom.is_alone && !atom.is_negated && atom.condition == 0);
    assert_true(atom.head_variable == 0 && atom.tail_variable == 1 && atom.head == UINT32_MAX);
    assert_string_equal(acq_graph_get_relation_name(f.graph, atom.relation), "born_in");
    assert_true(acq_query_get_atom(query, 1, &atom));
    assert_true(atom.is_alone && atom.is_negated && atom.condition == 1);
    assert_true(atom.tail_variable == SIZE_MAX);
    assert_string_equal(acq_graph_get_entity_name(f.graph, atom.tail), "Paris");
    assert_true(acq_query_get_atom(query, 2, &atom));
    assert_true(!atom.is_alone && atom.is_negated && atom.relation == UINT32_MAX);
    assert_true(acq_query_get_atom(query, 3, &atom));
    assert_true(!atom.is_alone && !atom.is_negated && atom.condition == 2);
    assert_false(acq_graph_is_named(f.graph, atom.relation));
    assert_string_equal(acq_graph_get_entity_name(f.graph, atom.head), "London");
    assert_false(acq_query_get_atom(query, 4, &atom));
    acq_query_free(query);
}

static void test_answer_is_read_by_name(void **state)
{
    (void)state;
    acq_query *query = api_read_query(api_chain);
    acq_result *result = api_ask(query, NULL);
    assert_int_equal(acq_query_get_n_free(query), 1);
    assert_int_equal(acq_query_get_n_variables(query), 2);
    assert_string_equal(acq_query_get_variable(query, 1), "y");
    assert_null(acq_query_get_variable(query, 2));
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_ANSWERED);
    assert_true(acq_result_is_complete(result));
    assert_string_equal(acq_result_get_spent(result), "");
    assert_int_equal(acq_result_get_n_answers(result), 1);
    assert_true(acq_result_get_score(result, 0) == 1);
    assert_string_equal(acq_result_get_value(result, 0, "x"), "Ada");
    assert_string_equal(acq_result_get_value(result, 0, "y"), "Bo");
    assert_string_equal(acq_result_get_value_at(result, 0, 1), "Bo");
    assert_null(acq_result_get_value(result, 0, "z"));
    assert_null(acq_result_get_value(result, 1, "x"));
    assert_null(acq_result_get_value_at(result, 0, 2));
    acq_result_free(result);
    acq_query_free(query);
}

static void test_evidence_names_each_fact(void **state)
{
    (void)state;
    acq_query *query = api_read_query(
        "Q(x) := inverse(knows)(\"Bo\", x) & !lives_in(x, \"London\") & x != \"Bo\"");
    acq_result *result = api_ask(query, NULL);
    acq_evidence_list *list;
    assert_int_equal(acq_result_explain(result, 0, &list, NULL), ACQ_OK);
    assert_int_equal(acq_evidence_list_get_n(list), 3);
    const acq_fact *fact = acq_evidence_list_get(list, 0);
    assert_string_equal(fact->relation, "knows");
    assert_true(fact->is_inverse);
    assert_string_equal(fact->head, "Bo");
    assert_string_equal(fact->tail, "Ada");
    assert_int_equal(fact->kind, ACQ_FACT_OBSERVED);
    fact = acq_evidence_list_get(list, 1);
    assert_int_equal(fact->kind, ACQ_FACT_ABSENT);
    assert_true(fact->is_negated && fact->is_used && fact->score == 1 && fact->link == 0);
    fact = acq_evidence_list_get(list, 2);
    assert_int_equal(fact->kind, ACQ_FACT_EQUALITY);
    assert_string_equal(fact->relation, "");
    assert_null(acq_evidence_list_get(list, 3));
    assert_true(acq_evidence_list_is_observed(list));
    acq_evidence_list_free(list);
    acq_error error = {0};
    assert_int_equal(acq_result_explain(result, 1, &list, &error), ACQ_ERR_USAGE);
    acq_result_free(result);
    acq_query_free(query);
}

static void test_check_takes_names(void **state)
{
    (void)state;
    acq_query *query = api_read_query(api_chain);
    acq_result *result;
    const char *ada[] = {"Ada"}, *bo[] = {"Bo"}, *unknown[] = {"Adda"};
    acq_error error = {0};
    assert_int_equal(acq_check(query, f.predictor, ada, 1, NULL, &result, &error), ACQ_OK);
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_ANSWERED);
    assert_string_equal(acq_result_get_value(result, 0, "y"), "Bo");
    acq_result_free(result);
    assert_int_equal(acq_check(query, f.predictor, bo, 1, NULL, &result, &error), ACQ_OK);
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_NONE);
    acq_result_free(result);
    assert_int_equal(acq_check(query, f.predictor, unknown, 1, NULL, &result, &error),
                     ACQ_ERR_NAME);
    assert_string_equal(error.message,
                        "no entity \"Adda\" for x in this graph; did you mean \"Ada\"?");
    acq_query_free(query);
}

static void assert_refused(const acq_query *query, const acq_ask_params *params,
                           const char *message)
{
    acq_result *result = NULL;
    acq_error error = {0};
    assert_int_equal(acq_ask(query, f.predictor, params, &result, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, message);
    assert_null(result);
}

static void test_bad_parameters_are_refused(void **state)
{
    (void)state;
    acq_query *query = api_read_query(api_chain);
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "fast";
    assert_refused(query, &params, "no engine \"fast\"; acq_get_engine lists them");
    acq_ask_params_init(&params);
    params.threshold = -0.5;
    assert_refused(query, &params, "threshold -0.5 is not between 0 (the default) and 1");
    params.threshold = __builtin_nan("");
    assert_refused(query, &params, "threshold nan is not between 0 (the default) and 1");
    acq_ask_params_init(&params);
    params.binarize = -1;
    assert_refused(query, &params, "binarize -1 is not between 0 and 1");
    acq_ask_params_init(&params);
    params.negation_threshold = 2;
    assert_refused(query, &params, "negation threshold 2 is above 1");
    acq_ask_params_init(&params);
    params.prior = 1;
    assert_refused(query, &params,
                   "prior 1 is not between 0 and 1, nor negative for the natural one");
    acq_ask_params_init(&params);
    params.min_p = 1.5;
    assert_refused(query, &params, "min_p 1.5 is not between 0 and 1");
    acq_ask_params_init(&params);
    params.seconds = -1;
    assert_refused(query, &params, "seconds -1 is no time limit; 0 means none");
    params.seconds = __builtin_nan("");
    assert_refused(query, &params, "seconds nan is no time limit; 0 means none");
    acq_query_free(query);
}

static acq_result *check_cy(const acq_query *query, const acq_predictor *predictor,
                            const acq_ask_params *params)
{
    acq_result *result;
    const char *value = "Cy";
    assert_int_equal(acq_check(query, predictor, &value, 1, params, &result, NULL), ACQ_OK);
    return result;
}

static void test_answers_have_probabilities(void **state)
{
    (void)state;
    char path[] = "anycq-api-XXXXXX", spec[64];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    api_write_scored(path, true);
    snprintf(spec, sizeof spec, "completion:%s", path);
    acq_predictor *predictor;
    assert_int_equal(acq_predictor_new(f.graph, spec, NULL, &predictor, NULL), ACQ_OK);
    acq_query *paris = api_read_query("Q(x) := born_in(x, \"Paris\")");
    acq_query *london = api_read_query("Q(x) := born_in(x, \"London\")");
    acq_ask_params params;
    acq_ask_params_init(&params);
    assert_true(params.prior < 0 && params.min_p == 0.5 && params.threshold == 0);

    acq_result *likely = check_cy(paris, predictor, &params);
    assert_int_equal(acq_result_get_outcome(likely), ACQ_RESULT_ANSWERED);
    double p = acq_result_get_probability(likely, 0);
    assert_true(fabs(p - .8) < .001);
    assert_true(acq_result_get_best_probability(likely) == p);
    assert_true(isnan(acq_result_get_probability(likely, 1)));
    acq_result_free(likely);

    acq_result *unlikely = check_cy(london, predictor, &params);
    assert_int_equal(acq_result_get_outcome(unlikely), ACQ_RESULT_NONE);
    assert_int_equal(acq_result_get_n_answers(unlikely), 0);
    assert_true(fabs(acq_result_get_best_probability(unlikely) - .3) < .001);
    acq_result_free(unlikely);

    params.prior = 0.5;
    acq_result *even = check_cy(london, predictor, &params);
    assert_int_equal(acq_result_get_outcome(even), ACQ_RESULT_ANSWERED);
    acq_result_free(even);

    params.prior = -1;
    params.min_p = 0;
    params.threshold = 0.5;
    acq_result *by_score = check_cy(london, predictor, &params);
    assert_int_equal(acq_result_get_outcome(by_score), ACQ_RESULT_NONE);
    assert_true(isnan(acq_result_get_best_probability(by_score)));
    acq_result_free(by_score);
    acq_query_free(paris);
    acq_query_free(london);
    acq_predictor_free(predictor);
    unlink(path);
}

static void test_policy_answers_with_shipped_and_other_weights(void **state)
{
    (void)state;
    static const char *const specs[] = {"shipped", "untrained", "untrained:4"};
    acq_query *query = api_read_query(api_chain);
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "policy";
    params.steps = 5000;
    params.restart = 50;
    for (size_t i = 0; i <= 3; i++) {
        acq_policy *policy = NULL;
        if (i > 0) /* the first time none are named */
            assert_int_equal(acq_policy_open(specs[i - 1], 7, &policy, NULL), ACQ_OK);
        params.policy = policy;
        params.observed_pe = i == 2;
        acq_result *result = api_ask(query, &params);
        assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_ANSWERED);
        assert_string_equal(acq_result_get_value(result, 0, "x"), "Ada");
        assert_string_equal(acq_result_get_note(result), "");
        acq_result_free(result);
        acq_policy_free(policy);
    }
    acq_query_free(query);
}

static void test_policy_says_why_it_finds_nothing(void **state)
{
    (void)state;
    acq_query *query = api_read_query("Q(x) := knows(\"Paris\", x)");
    const char *values[] = {"Bo"};
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "policy";
    acq_result *result;
    assert_int_equal(acq_check(query, f.predictor, values, 1, &params, &result, NULL), ACQ_OK);
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_UNDECIDED);
    assert_non_null(strstr(acq_result_get_note(result), "\"knows\""));
    acq_result_free(result);
    params.paper = true;
    result = api_ask(query, &params);
    assert_int_equal(acq_result_get_outcome(result), ACQ_RESULT_NONE);
    assert_false(acq_result_is_complete(result));
    acq_result_free(result);
    acq_query_free(query);
}

static void test_bad_weights_are_refused(void **state)
{
    (void)state;
    acq_policy *policy = NULL;
    acq_error missing = {0}, text = {0}, zero = {0};
    assert_int_equal(acq_policy_open("no/such", 1, &policy, &missing), ACQ_ERR_INPUT);
    assert_string_equal(missing.file, "no/such");
    assert_int_equal(acq_policy_open(f.path, 1, &policy, &text), ACQ_ERR_INPUT);
    assert_string_equal(text.file, f.path);
    assert_int_equal(acq_policy_open("untrained:0", 1, &policy, &zero), ACQ_ERR_USAGE);
    assert_null(policy);
}

/* The same file opened twice: ids and facts may have changed in between. */
static void test_query_of_another_graph_is_refused(void **state)
{
    (void)state;
    acq_graph *other;
    acq_predictor *predictor;
    assert_int_equal(acq_graph_open(f.path, NULL, &other, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(other, "observed", NULL, &predictor, NULL), ACQ_OK);
    acq_query *query = api_read_query(api_chain);
    acq_result *result = NULL;
    acq_error error = {0};
    const char *value = "Ada";
    assert_int_equal(acq_ask(query, predictor, NULL, &result, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message,
                        "acq_ask: the query and the predictor are of different graphs; make both "
                        "with the graph of one acq_graph_open");
    acq_error_clear(&error);
    assert_int_equal(error.code, ACQ_OK);
    assert_string_equal(error.message, "");
    assert_int_equal(acq_check(query, predictor, &value, 1, NULL, &result, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "acq_check: the query and the predictor"));
    assert_null(result);
    acq_query_free(query);
    acq_predictor_free(predictor);
    acq_graph_free(other);
}

static void test_errors_tell_the_place(void **state)
{
    (void)state;
    acq_query *query = NULL;
    acq_error error = {0};
    assert_int_equal(acq_query_new(f.graph, "Q(x) := knos(x, \"Bo\")", &query, &error),
                     ACQ_ERR_NAME);
    assert_true(error.line == 1 && error.column == 9);
    assert_null(query);
    acq_error other = {0};
    assert_int_equal(acq_query_new(f.graph, "Q(x) := knows(x,", &query, &other), ACQ_ERR_PARSE);
    assert_int_equal(other.line, 1);
}

static void test_freeing_nothing_is_legal(void **state)
{
    acq_store_writer_free(NULL);
    (void)state;
    acq_graph_free(NULL);
    acq_query_free(NULL);
    acq_predictor_free(NULL);
    acq_result_free(NULL);
    acq_evidence_list_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_tells_names_and_counts),
        cmocka_unit_test(test_lines_left_out_are_told),
        cmocka_unit_test(test_query_is_taken_apart),
        cmocka_unit_test(test_answer_is_read_by_name),
        cmocka_unit_test(test_evidence_names_each_fact),
        cmocka_unit_test(test_check_takes_names),
        cmocka_unit_test(test_bad_parameters_are_refused),
        cmocka_unit_test(test_answers_have_probabilities),
        cmocka_unit_test(test_policy_answers_with_shipped_and_other_weights),
        cmocka_unit_test(test_policy_says_why_it_finds_nothing),
        cmocka_unit_test(test_bad_weights_are_refused),
        cmocka_unit_test(test_query_of_another_graph_is_refused),
        cmocka_unit_test(test_errors_tell_the_place),
        cmocka_unit_test(test_freeing_nothing_is_legal),
    };
    return cmocka_run_group_tests(tests, api_set_up, api_tear_down);
}
