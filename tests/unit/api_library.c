/* api_library.c - the public library through its header: names in, names out, and every function
 * under failing allocations. Linked to the modules and not to the shared library, which hides
 * the switch that makes allocations fail. */
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

#include "anycq.h"
#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion.h"
#include "support/calibrator.h"

static const char facts[] = "Ada\tborn_in\tLondon\n"
                            "Bo\tborn_in\tParis\n"
                            "Ada\tlives_in\tParis\n"
                            "Bo\tlives_in\tParis\n"
                            "Ada\tknows\tBo\n"
                            "Bo\tknows\tCy\n"
                            "a line that is no triple\n";

static const char *const chain = "Q(x) := exists y. knows(x, y) & born_in(y, \"Paris\")";

typedef struct fixture {
    char path[64];
    acq_graph *graph;
    acq_predictor *predictor;
} fixture;

static fixture f;

static int set_up(void **state)
{
    (void)state;
    strcpy(f.path, "anycq-api-XXXXXX.tsv");
    int file = mkstemps(f.path, 4);
    if (file < 0 || write(file, facts, sizeof facts - 1) != (ssize_t)(sizeof facts - 1))
        return -1;
    close(file);
    return acq_graph_open(f.path, NULL, &f.graph, NULL) == ACQ_OK &&
                   acq_predictor_new(f.graph, "observed", &f.predictor, NULL) == ACQ_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    acq_predictor_free(f.predictor);
    acq_graph_free(f.graph);
    return unlink(f.path);
}

static acq_query *read_query(const char *text)
{
    acq_query *query;
    acq_error error = {0};
    if (acq_query_new(f.graph, text, &query, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    return query;
}

static acq_result *ask(const acq_query *query, const acq_ask_params *params)
{
    acq_result *result;
    acq_error error = {0};
    if (acq_ask(query, f.predictor, params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result;
}

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

static void test_answer_is_read_by_name(void **state)
{
    (void)state;
    acq_query *query = read_query(chain);
    acq_result *result = ask(query, NULL);
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
    acq_query *query =
        read_query("Q(x) := inverse(knows)(\"Bo\", x) & !lives_in(x, \"London\") & x != \"Bo\"");
    acq_result *result = ask(query, NULL);
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
    acq_query *query = read_query(chain);
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
    acq_query *query = read_query(chain);
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "fast";
    assert_refused(query, &params, "no engine \"fast\"; use exact, policy, climb or random");
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
    acq_query_free(query);
}

/* Believes born_in(Cy, Paris) with 0.8 and born_in(Cy, London) with 0.3; answers are likely from
 * 0.5 on, with a prior from 0.2 on. */
static void write_calibrated(const char *path)
{
    acq_rel born_in = acq_graph_find_relation(f.graph, "born_in", 7);
    acq_ent cy = acq_graph_find_entity(f.graph, "Cy", 2);
    acq_link believed[] = {{cy, acq_graph_find_entity(f.graph, "Paris", 5), 0.8F},
                           {cy, acq_graph_find_entity(f.graph, "London", 6), 0.3F}};
    acq_calibrator *calibrator = acq_test_calibrator(.5, .2);
    acq_completion_params params = {.predictor = "test", .floor = .01, .calibrator = calibrator};
    acq_completion_writer *writer;
    acq_links *links;
    assert_int_equal(acq_links_new(believed, 2, acq_graph_get_n_entities(f.graph), true, &links),
                     ACQ_OK);
    assert_int_equal(acq_completion_writer_open(path, f.graph, &params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, born_in, links, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_finish(writer, NULL), ACQ_OK);
    acq_completion_writer_close(writer);
    acq_links_free(links);
    acq_calibrator_free(calibrator);
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
    write_calibrated(path);
    snprintf(spec, sizeof spec, "completion:%s", path);
    acq_predictor *predictor;
    assert_int_equal(acq_predictor_new(f.graph, spec, &predictor, NULL), ACQ_OK);
    acq_query *paris = read_query("Q(x) := born_in(x, \"Paris\")");
    acq_query *london = read_query("Q(x) := born_in(x, \"London\")");
    acq_ask_params params;
    acq_ask_params_init(&params);
    assert_true(params.prior < 0 && params.min_p == 0.5 && params.threshold == 0);

    acq_result *likely = check_cy(paris, predictor, &params);
    assert_int_equal(acq_result_get_outcome(likely), ACQ_RESULT_ANSWERED);
    double p = acq_result_get_probability(likely, 0);
    assert_true(p > 0.9 && p < 1);
    assert_true(acq_result_get_best_probability(likely) == p);
    assert_true(isnan(acq_result_get_probability(likely, 1)));
    acq_result_free(likely);

    acq_result *unlikely = check_cy(london, predictor, &params);
    assert_int_equal(acq_result_get_outcome(unlikely), ACQ_RESULT_NONE);
    assert_int_equal(acq_result_get_n_answers(unlikely), 0);
    assert_true(acq_result_get_best_probability(unlikely) < 0.1);
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
    acq_query *query = read_query(chain);
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
        acq_result *result = ask(query, &params);
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
    acq_query *query = read_query("Q(x) := knows(\"Paris\", x)");
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
    result = ask(query, &params);
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

static void test_query_of_a_larger_graph_is_refused(void **state)
{
    (void)state;
    char path[] = "anycq-api-XXXXXX.tsv";
    int file = mkstemps(path, 4);
    assert_int_equal(write(file, "a\tr\tb\n", 6), 6);
    close(file);
    acq_graph *small;
    acq_predictor *predictor;
    assert_int_equal(acq_graph_open(path, NULL, &small, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(small, "observed", &predictor, NULL), ACQ_OK);
    acq_query *query = read_query(chain);
    acq_result *result;
    acq_error error = {0};
    assert_int_equal(acq_ask(query, predictor, NULL, &result, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "the query and the predictor belong to different graphs");
    acq_query_free(query);
    acq_predictor_free(predictor);
    acq_graph_free(small);
    unlink(path);
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

/* The facts of f.path in a store of their own; removed with its log by drop_store. */
static void make_store(char *path)
{
    strcpy(path, "anycq-api-XXXXXX.acq");
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    const char *sources[] = {f.path};
    acq_error error = {0};
    if (acq_store_create(sources, 1, path, NULL, &error) != ACQ_OK)
        fail_msg("%s", error.message);
}

static void drop_store(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

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
    assert_int_equal(acq_predictor_new(graph, "observed", &predictor, NULL), ACQ_OK);
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
    make_store(path);
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
    drop_store(path);
}

static void test_open_graph_is_a_snapshot(void **state)
{
    (void)state;
    char path[64];
    make_store(path);
    acq_graph *before = open_store(path);
    acq_store_writer *writer;
    assert_int_equal(acq_store_writer_open(path, &writer, NULL), ACQ_OK);
    const acq_store_fact changes[] = {{"Cy", "knows", "Ada", false, false},
                                      {"Ada", "knows", "Cy", true, false}, /* the same */
                                      {"Cy", "knows", "Dee", false, false},
                                      {"Ada", "knows", "Bo", false, false}};
    acq_store_report report;
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
    assert_int_equal(acq_store_compact(writer, &n_folded, NULL), ACQ_OK);
    assert_int_equal(n_folded, 3);
    assert_int_equal(acq_store_compact(writer, NULL, NULL), ACQ_OK);
    acq_graph *compacted = open_store(path);
    assert_true(knows(before, "Ada", "Bo") && knows(after, "Cy", "Dee"));
    assert_true(!knows(compacted, "Ada", "Bo") && knows(compacted, "Cy", "Dee"));
    acq_graph_free(compacted);
    acq_graph_free(after);
    acq_graph_free(before);
    acq_store_writer_free(writer);
    drop_store(path);
}

static void test_bad_change_changes_nothing(void **state)
{
    (void)state;
    char path[64];
    make_store(path);
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
    drop_store(path);
}

static bool stop_at_once(void *context, const acq_stage *now)
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
    params.read.progress = stop_at_once;
    params.read.context = &n;
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
    assert_int_equal(acq_predictor_new(graph, "observed", &predictor, NULL), ACQ_OK);
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

#ifdef ACQ_FAULTS
/* One public call under test; frees what it made. */
typedef acq_status (*api_call)(acq_error *error);

static const acq_query *bound;   /* made before allocations fail */
static const acq_result *result; /* likewise */

static acq_status call_graph_open(acq_error *error)
{
    acq_graph *graph = NULL;
    acq_status status = acq_graph_open(f.path, NULL, &graph, error);
    assert_true((status == ACQ_OK) == (graph != NULL));
    acq_graph_free(graph);
    return status;
}

static acq_status call_query_new(acq_error *error)
{
    acq_query *query = NULL;
    acq_status status = acq_query_new(
        f.graph, "Q(x) := exists y. (knows(x, y) | !born_in(x, y)) & x != y", &query, error);
    assert_true((status == ACQ_OK) == (query != NULL));
    acq_query_free(query);
    return status;
}

static acq_status call_query_new_unknown(acq_error *error)
{
    acq_query *query = NULL;
    acq_status status = acq_query_new(f.graph, "Q(x) := knos(x, \"Bo\")", &query, error);
    assert_null(query);
    return status == ACQ_ERR_NAME ? ACQ_OK : status;
}

static acq_status call_predictor_new(acq_error *error)
{
    acq_predictor *predictor = NULL;
    acq_status status = acq_predictor_new(f.graph, "observed", &predictor, error);
    assert_true((status == ACQ_OK) == (predictor != NULL));
    acq_predictor_free(predictor);
    return status;
}

static acq_status call_predictor_new_perfect(acq_error *error)
{
    char spec[80];
    snprintf(spec, sizeof spec, "perfect:%s", f.path);
    acq_predictor *predictor = NULL;
    acq_status status = acq_predictor_new(f.graph, spec, &predictor, error);
    assert_true((status == ACQ_OK) == (predictor != NULL));
    acq_predictor_free(predictor);
    return status;
}

static acq_status ask_with(const char *engine, acq_error *error)
{
    acq_result *made = NULL;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = engine;
    params.limit = 0;
    params.steps = 50;
    acq_status status = acq_ask(bound, f.predictor, &params, &made, error);
    assert_true((status == ACQ_OK) == (made != NULL));
    acq_result_free(made);
    return status;
}

static acq_status call_ask(acq_error *error)
{
    return ask_with("exact", error);
}

static acq_status call_ask_random(acq_error *error)
{
    return ask_with("random", error);
}

static acq_status call_ask_climb(acq_error *error)
{
    return ask_with("climb", error);
}

static acq_status call_ask_policy(acq_error *error)
{
    return ask_with("policy", error);
}

static acq_status call_policy_open(acq_error *error)
{
    acq_policy *policy = NULL;
    acq_status status = acq_policy_open("untrained:3", 1, &policy, error);
    assert_true((status == ACQ_OK) == (policy != NULL));
    acq_policy_free(policy);
    return status;
}

static acq_status call_check(acq_error *error)
{
    const char *values[] = {"Ada"};
    acq_result *made = NULL;
    acq_status status = acq_check(bound, f.predictor, values, 1, NULL, &made, error);
    assert_true((status == ACQ_OK) == (made != NULL));
    acq_result_free(made);
    return status;
}

static acq_status call_explain(acq_error *error)
{
    acq_evidence_list *list = NULL;
    acq_status status = acq_result_explain(result, 0, &list, error);
    assert_true((status == ACQ_OK) == (list != NULL));
    acq_evidence_list_free(list);
    return status;
}

static char store_path[64]; /* made before allocations fail */

static acq_status call_store_open(acq_error *error)
{
    acq_graph *graph = NULL;
    acq_status status = acq_graph_open(store_path, NULL, &graph, error);
    assert_true((status == ACQ_OK) == (graph != NULL));
    acq_graph_free(graph);
    return status;
}

static acq_status call_store_writer(acq_error *error)
{
    acq_store_writer *writer = NULL;
    acq_status status = acq_store_writer_open(store_path, &writer, error);
    assert_true((status == ACQ_OK) == (writer != NULL));
    const acq_store_fact fact = {"Ada", "knows", "a new one", false, false};
    if (status == ACQ_OK)
        status = acq_store_add(writer, &fact, 1, NULL, NULL, error);
    if (status == ACQ_OK)
        status = acq_store_remove(writer, &fact, 1, NULL, NULL, error);
    if (status == ACQ_OK)
        status = acq_store_compact(writer, NULL, error);
    acq_store_writer_free(writer);
    return status;
}

static acq_status call_store_create(acq_error *error)
{
    const char *sources[] = {f.path};
    acq_store_params params;
    acq_store_params_init(&params);
    params.read.threads = 1;
    params.replace = true;
    return acq_store_create(sources, 1, store_path, &params, error);
}

/* Some memory is only wished for, to give the rest back or to suggest a name: such a call may
 * also succeed without it. */
static void fail_each_allocation(const char *name, api_call call, bool may_do_without)
{
    enum { MANY = 100000 };
    size_t n = 1;
    for (; n < MANY; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        acq_status status = call(&error);
        size_t attempts = acq_faults_count();
        acq_faults_fail_at(0);
        if (attempts < n) {
            assert_int_equal(status, ACQ_OK);
            break;
        }
        if (status != ACQ_ERR_MEMORY && !(status == ACQ_OK && may_do_without))
            fail_msg("%s: allocation %zu failed, status %s", name, n, acq_status_name(status));
        if (status == ACQ_ERR_MEMORY)
            assert_int_equal(error.code, ACQ_ERR_MEMORY);
    }
    assert_true(n > 1 && n < MANY);
}

static void test_every_failed_allocation_is_a_status(void **state)
{
    (void)state;
    acq_query *query = read_query(chain);
    bound = query;
    acq_result *made = ask(query, NULL);
    result = made;
    fail_each_allocation("acq_graph_open", call_graph_open, true);
    fail_each_allocation("acq_query_new", call_query_new, false);
    fail_each_allocation("acq_query_new, unknown name", call_query_new_unknown, true);
    fail_each_allocation("acq_predictor_new", call_predictor_new, false);
    fail_each_allocation("acq_predictor_new, perfect", call_predictor_new_perfect, true);
    fail_each_allocation("acq_ask", call_ask, false);
    fail_each_allocation("acq_ask, random", call_ask_random, false);
    fail_each_allocation("acq_ask, climb", call_ask_climb, false);
    fail_each_allocation("acq_policy_open", call_policy_open, false);
    fail_each_allocation("acq_ask, policy", call_ask_policy, false);
    fail_each_allocation("acq_check", call_check, false);
    fail_each_allocation("acq_result_explain", call_explain, false);
    make_store(store_path);
    fail_each_allocation("acq_graph_open, store", call_store_open, true);
    fail_each_allocation("acq_store_writer_open, add, remove, compact", call_store_writer, true);
    fail_each_allocation("acq_store_create", call_store_create, true);
    drop_store(store_path);
    acq_result_free(made);
    acq_query_free(query);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_tells_names_and_counts),
        cmocka_unit_test(test_lines_left_out_are_told),
        cmocka_unit_test(test_answer_is_read_by_name),
        cmocka_unit_test(test_evidence_names_each_fact),
        cmocka_unit_test(test_check_takes_names),
        cmocka_unit_test(test_bad_parameters_are_refused),
        cmocka_unit_test(test_answers_have_probabilities),
        cmocka_unit_test(test_policy_answers_with_shipped_and_other_weights),
        cmocka_unit_test(test_policy_says_why_it_finds_nothing),
        cmocka_unit_test(test_bad_weights_are_refused),
        cmocka_unit_test(test_query_of_a_larger_graph_is_refused),
        cmocka_unit_test(test_errors_tell_the_place),
        cmocka_unit_test(test_store_answers_like_its_source),
        cmocka_unit_test(test_open_graph_is_a_snapshot),
        cmocka_unit_test(test_bad_change_changes_nothing),
        cmocka_unit_test(test_a_stopped_import_leaves_nothing),
        cmocka_unit_test(test_entities_of_answers_have_keys),
        cmocka_unit_test(test_freeing_nothing_is_legal),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_a_status),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
