/* The engine sql against brute force over all assignments: random queries with cycles, loops,
 * negation, "or" and inequalities, over the facts of random graphs. In SQLite, and in DuckDB where
 * ACQ_DUCKDB in the environment names its library (npm's @duckdb/node-bindings-linux-x64 has one).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "graph/build.h"
#include "search/sql/sql.h"
#include "support/case.h"

enum { CASES = 1500, DUCKDB_CASES = 40, MOST_ENTITIES = 12 };

static const char *library; /* NULL: SQLite */

/* Links below 1 are no facts. */
static void keep_facts(test_case *c)
{
    for (uint32_t r = 0; r < c->n_relations; r++)
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                c->table[r][h][t] = c->table[r][h][t] >= 1.0F ? 1.0F : 0.0F;
    c->scoring = ACQ_SCORING_DEFAULT;
}

static bool has_answer(const acq_engine_result *result, const acq_ent *tuple, uint32_t n_free)
{
    for (size_t i = 0; i < result->n_answers; i++)
        if (memcmp(result->answers[i].values, tuple, n_free * sizeof *tuple) == 0)
            return true;
    return false;
}

static void check_case(test_case *c, const acq_graph *graph, bool is_shared, size_t *n_yes)
{
    acq_predictor *facts;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result all, one;
    case_tuple *tuples;
    acq_sql_base *base = NULL;
    acq_error error = {0};
    assert_int_equal(acq_predictor_new_observed(graph, &facts, NULL), ACQ_OK);
    params.engine = ACQ_ENGINE_sql;
    params.search.limit = 0;
    if (is_shared)
        assert_int_equal(acq_sql_base_new(facts, library, &base, NULL), ACQ_OK);
    params.search.sql = base;
    params.search.sql_library = library;
    size_t n = case_brute_force(c, &tuples), n_true = 0;
    acq_status status = acq_engine_ask(c->query, facts, &params, &all, &error);
    if (status != ACQ_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < n; i++) {
        bool is_true = tuples[i].score >= 1.0;
        n_true += is_true;
        assert_int_equal(has_answer(&all, tuples[i].values, c->query->n_free), is_true);
    }
    if (c->query->n_free > 0)
        assert_int_equal(all.n_answers, n_true);
    assert_int_equal(all.outcome, n_true > 0 ? ACQ_ANSWERED : ACQ_NONE);
    for (size_t i = 0; i < n && i < 3; i++) {
        assert_int_equal(acq_engine_check(c->query, facts, tuples[i].values, &params, &one, &error),
                         ACQ_OK);
        assert_int_equal(one.outcome == ACQ_ANSWERED, tuples[i].score >= 1.0);
        acq_engine_result_deinit(&one);
    }
    *n_yes += n_true > 0;
    free(tuples);
    acq_engine_result_deinit(&all);
    acq_sql_base_free(base);
    acq_predictor_free(facts);
}

static void compare(size_t n_cases)
{
    test_case *c = malloc(sizeof *c);
    size_t n_done = 0, n_yes = 0;
    assert_non_null(c);
    for (uint64_t seed = 1; n_done < n_cases; seed++) {
        case_init(c, seed);
        acq_graph *graph = case_build_graph(c);
        if (c->n_entities <= MOST_ENTITIES && graph != NULL &&
            acq_graph_get_n_entities(graph) == c->n_entities &&
            acq_graph_get_n_relations(graph) == c->n_relations) {
            keep_facts(c);
            check_case(c, graph, library != NULL || seed % 2 == 0, &n_yes);
            n_done++;
        }
        acq_graph_free(graph);
        case_deinit(c);
    }
    assert_true(n_yes * 8 > n_cases && n_yes < n_cases);
    free(c);
}

static void test_answers_are_those_of_brute_force(void **state)
{
    (void)state;
    compare(CASES);
}

static void test_duckdb_answers_as_brute_force_does(void **state)
{
    (void)state;
    library = getenv("ACQ_DUCKDB");
    if (library == NULL)
        skip();
    compare(DUCKDB_CASES);
    library = NULL;
}

/* Every entity linked to every other one: a query of many variables is never over. */
static void test_duckdb_keeps_the_time_limit(void **state)
{
    (void)state;
    enum { N = 300 };
    uint32_t id;
    acq_graph_builder *builder;
    acq_graph *graph;
    acq_predictor *facts;
    acq_query *query;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    const char *text =
        "Q(a) := r(a, b) & r(b, c) & r(c, d) & r(d, e) & r(e, f) & r(f, a) & !s(a, a)";
    if (getenv("ACQ_DUCKDB") == NULL)
        skip();
    builder = acq_graph_builder_new();
    for (uint32_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_add_relation(builder, "r", 1, &id), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "s", 1, &id), ACQ_OK);
    for (uint32_t i = 0; i + 1 < N * N; i++)
        assert_int_equal(acq_graph_builder_add_fact(builder, i / N, 0, i % N), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, N - 1, 2, N - 1), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    assert_int_equal(acq_predictor_new_observed(graph, &facts, NULL), ACQ_OK);
    assert_int_equal(acq_query_parse(text, strlen(text), &query, NULL), ACQ_OK);
    assert_int_equal(acq_query_bind(query, graph, NULL, 0, &error), ACQ_OK);
    params.engine = ACQ_ENGINE_sql;
    params.search.sql_library = getenv("ACQ_DUCKDB");
    params.search.limit = 0;
    params.search.seconds = 0.3;
    int64_t begin = acq_clock_ns();
    assert_int_equal(acq_engine_ask(query, facts, &params, &result, &error), ACQ_OK);
    assert_int_equal(result.outcome, ACQ_UNDECIDED);
    assert_true((double)(acq_clock_ns() - begin) < 60e9);
    acq_engine_result_deinit(&result);
    acq_query_free(query);
    acq_predictor_free(facts);
    acq_graph_free(graph);
}

static void test_a_missing_library_is_told(void **state)
{
    (void)state;
    test_case *c = malloc(sizeof *c);
    acq_sql_base *base = NULL;
    acq_predictor *facts;
    acq_error error = {0};
    assert_non_null(c);
    case_init(c, 3);
    acq_graph *graph = case_build_graph(c);
    assert_int_equal(acq_predictor_new_observed(graph, &facts, NULL), ACQ_OK);
    assert_int_equal(acq_sql_base_new(facts, "/nonexistent/libduckdb.so", &base, &error),
                     ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "--sql-library is its libduckdb.so"));
    error = (acq_error){0};
    assert_int_equal(acq_sql_base_new(facts, "libm.so.6", &base, &error), ACQ_ERR_USAGE);
    assert_non_null(
        strstr(error.message, "libm.so.6 is no library of DuckDB: it lacks duckdb_open"));
    acq_predictor_free(facts);
    acq_graph_free(graph);
    case_deinit(c);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_those_of_brute_force),
        cmocka_unit_test(test_duckdb_answers_as_brute_force_does),
        cmocka_unit_test(test_duckdb_keeps_the_time_limit),
        cmocka_unit_test(test_a_missing_library_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
