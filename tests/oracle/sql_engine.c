/* The engine sql against brute force over all assignments: random queries with cycles, loops,
 * negation, "or" and inequalities, over the facts of random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "search/sql/sql.h"
#include "support/case.h"

enum { CASES = 1500, MOST_ENTITIES = 12 };

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
        assert_int_equal(acq_sql_base_new(facts, &base, NULL), ACQ_OK);
    params.search.sql = base;
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
        assert_int_equal(
            acq_engine_check(c->query, facts, tuples[i].values, &params, &one, &error), ACQ_OK);
        assert_int_equal(one.outcome == ACQ_ANSWERED, tuples[i].score >= 1.0);
        acq_engine_result_deinit(&one);
    }
    *n_yes += n_true > 0;
    free(tuples);
    acq_engine_result_deinit(&all);
    acq_sql_base_free(base);
    acq_predictor_free(facts);
}

static void test_answers_are_those_of_brute_force(void **state)
{
    (void)state;
    test_case *c = malloc(sizeof *c);
    size_t n_done = 0, n_yes = 0;
    assert_non_null(c);
    for (uint64_t seed = 1; n_done < CASES; seed++) {
        case_init(c, seed);
        acq_graph *graph = case_build_graph(c);
        if (c->n_entities <= MOST_ENTITIES && graph != NULL &&
            acq_graph_get_n_entities(graph) == c->n_entities &&
            acq_graph_get_n_relations(graph) == c->n_relations) {
            keep_facts(c);
            check_case(c, graph, seed % 2 == 0, &n_yes);
            n_done++;
        }
        acq_graph_free(graph);
        case_deinit(c);
    }
    assert_true(n_yes > 200 && n_yes < CASES);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_those_of_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
