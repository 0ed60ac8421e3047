/* api_memory.c - every function of the public header under failing allocations. Linked to the
 * modules and not to the shared library, which hides the switch that makes allocations fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/api_case.h"

/* One public call under test; frees what it made. */
typedef acq_status (*api_call)(acq_error *error);

static const acq_query *bound;   /* made before allocations fail */
static const acq_result *result; /* likewise */
static acq_result *refused;      /* likewise: a check that is proved to be none */

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
    acq_status status = acq_predictor_new(f.graph, "observed", NULL, &predictor, error);
    assert_true((status == ACQ_OK) == (predictor != NULL));
    acq_predictor_free(predictor);
    return status;
}

static acq_status call_predictor_new_perfect(acq_error *error)
{
    char spec[80];
    snprintf(spec, sizeof spec, "perfect:%s", f.path);
    acq_predictor *predictor = NULL;
    acq_status status = acq_predictor_new(f.graph, spec, NULL, &predictor, error);
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
    acq_graph_params read;
    acq_graph_params_init(&read);
    read.threads = 1;
    params.read = &read;
    params.replace = true;
    return acq_store_create(sources, 1, store_path, &params, error);
}

static acq_status call_check_many(acq_error *error)
{
    const char *values[] = {"Ada", "Bo"};
    acq_result *made[2] = {NULL};
    acq_status status = acq_check_many(bound, f.predictor, values, 2, NULL, made, error);
    assert_true((status == ACQ_OK) == (made[1] != NULL));
    acq_result_free(made[0]);
    acq_result_free(made[1]);
    return status;
}

static acq_status call_cursor(acq_error *error)
{
    acq_cursor *cursor = NULL;
    const acq_result *answer = NULL;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.limit = 0;
    acq_status status = acq_cursor_open(bound, f.predictor, &params, &cursor, error);
    do {
        if (status == ACQ_OK)
            status = acq_cursor_next(cursor, &answer, error);
    } while (status == ACQ_OK && answer != NULL);
    acq_cursor_free(cursor);
    return status;
}

static acq_status call_conflict(acq_error *error)
{
    acq_conflict *conflict = NULL;
    acq_status status = acq_result_find_conflict(refused, 0, &conflict, error);
    assert_true((status == ACQ_OK) == (acq_conflict_get_n(conflict) == 1));
    acq_conflict_free(conflict);
    return status;
}

#define BENCH ACQ_SOURCE_DIR "/tests/data/bench/graph/"

static acq_predictor *bench; /* likewise */

static acq_status call_evaluate(acq_error *error)
{
    static const char *const files[] = {BENCH "qac.json"};
    acq_evaluation *evaluation = NULL;
    acq_evaluate_params params;
    acq_evaluate_params_init(&params);
    params.threads = 1;
    acq_status status = acq_evaluate(bench, ACQ_TASK_QAC, files, 1, &params, &evaluation, error);
    assert_true((status == ACQ_OK) == (evaluation != NULL));
    acq_evaluation_free(evaluation);
    return status;
}

static acq_status call_evaluate_links(acq_error *error)
{
    acq_links_report report = {.size = sizeof report};
    acq_evaluate_links_params params;
    acq_evaluate_links_params_init(&params);
    params.threads = 1;
    return acq_evaluate_links(bench, bench, &params, &report, error);
}

static acq_status take_piece(void *context, const char *bytes, size_t length, acq_error *error)
{
    (void)context;
    (void)error;
    assert_int_equal(bytes[length - 1], '\n');
    return ACQ_OK;
}

static acq_status call_sql(acq_error *error)
{
    acq_status status = acq_sql_translate(api_chain, take_piece, NULL, error);
    return status == ACQ_OK ? acq_sql_translate_file(BENCH "qac.json", 0, take_piece, NULL, error)
                            : status;
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
    acq_query *query = api_read_query(api_chain);
    bound = query;
    acq_result *made = api_ask(query, NULL);
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
    fail_each_allocation("acq_check_many", call_check_many, false);
    fail_each_allocation("acq_cursor_next", call_cursor, false);
    const char *cy[] = {"Cy"};
    assert_int_equal(acq_check(query, f.predictor, cy, 1, NULL, &refused, NULL), ACQ_OK);
    fail_each_allocation("acq_result_find_conflict", call_conflict, false);
    acq_result_free(refused);
    acq_graph *graph;
    assert_int_equal(acq_graph_open(BENCH "train_kg.tsv", NULL, &graph, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(graph, "perfect:" BENCH "valid_kg.tsv", NULL, &bench, NULL),
                     ACQ_OK);
    fail_each_allocation("acq_evaluate", call_evaluate, false);
    fail_each_allocation("acq_evaluate_links", call_evaluate_links, false);
    fail_each_allocation("acq_sql_translate", call_sql, false);
    acq_predictor_free(bench);
    acq_graph_free(graph);
    api_make_store(store_path);
    fail_each_allocation("acq_graph_open, store", call_store_open, true);
    fail_each_allocation("acq_store_writer_open, add, remove, compact", call_store_writer, true);
    fail_each_allocation("acq_store_create", call_store_create, true);
    api_drop_store(store_path);
    acq_result_free(made);
    acq_query_free(query);
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_failed_allocation_is_a_status)};
    return cmocka_run_group_tests(tests, api_set_up, api_tear_down);
}
