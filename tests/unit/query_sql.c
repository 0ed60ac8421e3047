/* query_sql.c - the SQL of small queries, word for word. That the statements answer like a brute
 * force on random graphs is checked elsewhere, by running them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/print.h"
#include "query/query.h"

static void check_params(const char *in, const acq_sql_params *params, const char *expected)
{
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    acq_text_init(&text);
    assert_int_equal(acq_query_parse(in, strlen(in), &query, NULL), ACQ_OK);
    acq_status status = acq_query_print_sql(query, params, &text, &error);
    assert_string_equal(status == ACQ_OK ? text.bytes : error.message, expected);
    acq_text_deinit(&text);
    acq_query_free(query);
}

static void check(const char *in, const char *expected)
{
    check_params(in, NULL, expected);
}

static void test_atoms_are_joined(void **state)
{
    (void)state;
    check("Q(x) := exists y. r(x, y) & s(y, \"O'Hara\")",
          "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1, facts AS f2 WHERE f1.relation = 'r' "
          "AND f2.relation = 's' AND f2.head = f1.tail AND f2.tail = 'O''Hara'");
    check("r(x, x)", "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1 WHERE f1.relation = 'r' "
                     "AND f1.tail = f1.head");
    check("inverse(r)(x, \"a\")", "SELECT DISTINCT f1.tail AS \"x\" FROM facts AS f1 WHERE "
                                  "f1.relation = 'r' AND f1.head = 'a'");
    check("SELECT ?x { ?x <r> ?y } LIMIT 7",
          "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1 WHERE f1.relation = 'r' LIMIT 7");
}

static void test_a_boolean_query_gives_one_truth_value(void **state)
{
    (void)state;
    check("Goal := r(x, \"a\")", "SELECT EXISTS (SELECT 1 FROM facts AS f1 WHERE f1.relation = 'r' "
                                 "AND f1.tail = 'a') AS \"Goal\"");
    check("ASK { <a> <r> <b> }", "SELECT EXISTS (SELECT 1 FROM facts AS f1 WHERE f1.relation = 'r' "
                                 "AND f1.head = 'a' AND f1.tail = 'b') AS \"Q\"");
    check("!r(\"a\", \"b\")",
          "SELECT EXISTS (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM facts AS f1 WHERE f1.relation = "
          "'r' AND f1.head = 'a' AND f1.tail = 'b')) AS \"Q\"");
}

static void test_negations_and_comparisons_are_conditions(void **state)
{
    (void)state;
    check("r(x, y) & !s(y, x) & x != y & x = \"a\"",
          "SELECT DISTINCT f1.head AS \"x\", f1.tail AS \"y\" FROM facts AS f1 WHERE f1.relation = "
          "'r' AND NOT EXISTS (SELECT 1 FROM facts AS f2 WHERE f2.relation = 's' AND f2.head = "
          "f1.tail AND f2.tail = f1.head) AND f1.head <> f1.tail AND f1.head = 'a'");
    check("r(x, y) & !(x != y) & !(s(x, y) | x = y)",
          "SELECT DISTINCT f1.head AS \"x\", f1.tail AS \"y\" FROM facts AS f1 WHERE f1.relation = "
          "'r' AND NOT (f1.head <> f1.tail) AND NOT (EXISTS (SELECT 1 FROM facts AS f2 WHERE "
          "f2.relation = 's' AND f2.head = f1.head AND f2.tail = f1.tail) OR f1.head = f1.tail)");
}

static void test_variables_without_an_atom_range_over_entities(void **state)
{
    (void)state;
    check("Q(x) := !r(x, y)",
          "SELECT DISTINCT e1.name AS \"x\" FROM entities AS e1, entities AS e2 WHERE NOT EXISTS "
          "(SELECT 1 FROM facts AS f1 WHERE f1.relation = 'r' AND f1.head = e1.name AND f1.tail = "
          "e2.name)");
}

static void test_existentials_of_one_disjunction_stay_in_its_branches(void **state)
{
    (void)state;
    check("Q(x) := r(x, \"a\") & (s(x, y) | y = x)",
          "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1 WHERE f1.relation = 'r' AND f1.tail = "
          "'a' AND (EXISTS (SELECT 1 FROM facts AS f2 WHERE f2.relation = 's' AND f2.head = "
          "f1.head) OR EXISTS (SELECT 1 FROM entities AS e1 WHERE e1.name = f1.head))");
    check("Q(x) := (r(x, y) | s(x, y)) & !t(y, x)",
          "SELECT DISTINCT e1.name AS \"x\" FROM entities AS e1, entities AS e2 WHERE (EXISTS "
          "(SELECT 1 FROM facts AS f1 WHERE f1.relation = 'r' AND f1.head = e1.name AND f1.tail = "
          "e2.name) OR EXISTS (SELECT 1 FROM facts AS f2 WHERE f2.relation = 's' AND f2.head = "
          "e1.name AND f2.tail = e2.name)) AND NOT EXISTS (SELECT 1 FROM facts AS f3 WHERE "
          "f3.relation = 't' AND f3.head = e2.name AND f3.tail = e1.name)");
}

static void test_tables_beyond_the_limit_become_exists(void **state)
{
    acq_sql_params params = ACQ_SQL_DEFAULT;
    (void)state;
    params.most_tables = 1;
    check_params("r(x, y) & s(x, y)", &params,
                 "SELECT DISTINCT f1.head AS \"x\", f1.tail AS \"y\" FROM facts AS f1 WHERE "
                 "f1.relation = 'r' AND EXISTS (SELECT 1 FROM facts AS f2 WHERE f2.relation = 's' "
                 "AND f2.head = f1.head AND f2.tail = f1.tail)");
    check_params("r(x, y) & s(y, z)", &params,
                 "the SQL would join more than 1 tables; split the query into parts");
}

static void test_table_names_and_columns_are_quoted_as_needed(void **state)
{
    acq_sql_params params = ACQ_SQL_DEFAULT;
    (void)state;
    params.facts = "my facts";
    params.entities = "2\"things";
    check_params("Q(x) := r(x, y) & z != x", &params,
                 "SELECT DISTINCT f1.head AS \"x\" FROM \"my facts\" AS f1, \"2\"\"things\" AS e1 "
                 "WHERE f1.relation = 'r' AND e1.name <> f1.head");
}

static void check_benchmark(bool use_ids, const char *expected)
{
    static const char FORMULA[] = "(r1(s1,f1))&(!(r2(f1,s1)))";
    const char *const names[] = {"r1", "r2", "s1"};
    const uint32_t ids[] = {4, 7, 11};
    acq_query *query = NULL;
    acq_text text;
    acq_sql_params params = ACQ_SQL_DEFAULT;
    params.use_ids = use_ids;
    acq_text_init(&text);
    assert_int_equal(acq_query_parse_benchmark(FORMULA, strlen(FORMULA), &query, NULL), ACQ_OK);
    assert_int_equal(acq_query_ground_pairs(query, names, ids, 3, NULL), ACQ_OK);
    acq_text_add(&text, "-- ");
    assert_int_equal(acq_query_print_sql(query, &params, &text, NULL), ACQ_OK);
    assert_string_equal(text.bytes, expected);
    acq_text_deinit(&text);
    acq_query_free(query);
}

static void test_grounded_names_are_integers(void **state)
{
    static const char SQL[] = "-- SELECT DISTINCT f1.tail AS \"f1\" FROM facts AS f1 WHERE "
                              "f1.relation = 4 AND f1.head = 11 AND NOT EXISTS (SELECT 1 FROM "
                              "facts AS f2 WHERE f2.relation = 7 AND f2.head = f1.tail AND f2.tail "
                              "= 11)";
    (void)state;
    check_benchmark(false, SQL);
    check_benchmark(true, SQL);
}

/* inverse(r) bound to 5 is r, bound to 4, the other way round. */
static void test_bound_names_are_integers_on_demand(void **state)
{
    static const char TEXT[] = "inverse(r)(x, \"a\")";
    acq_query *query = NULL;
    acq_text text;
    acq_sql_params params = ACQ_SQL_DEFAULT;
    (void)state;
    params.use_ids = true;
    acq_text_init(&text);
    assert_int_equal(acq_query_parse(TEXT, strlen(TEXT), &query, NULL), ACQ_OK);
    query->relations[0].id = 5;
    query->constants[0].id = 3;
    assert_int_equal(acq_query_print_sql(query, &params, &text, NULL), ACQ_OK);
    assert_string_equal(text.bytes, "SELECT DISTINCT f1.tail AS \"x\" FROM facts AS f1 WHERE "
                                    "f1.relation = 4 AND f1.head = 3");
    acq_text_deinit(&text);
    acq_query_free(query);
}

/* SQLite refuses expressions deeper than 1000, and counts a flat chain of ANDs as a deep one. */
static void test_long_chains_are_balanced(void **state)
{
    acq_query *query = NULL;
    acq_text in, out;
    acq_sql_params params = ACQ_SQL_DEFAULT;
    (void)state;
    acq_text_init(&in);
    acq_text_init(&out);
    acq_text_add(&in, "r(x, y) & (x = \"a\"");
    for (int i = 0; i < 3000; i++)
        acq_text_format(&in, " | x = \"a%d\"", i);
    acq_text_add(&in, ")");
    for (int i = 0; i < 3000; i++)
        acq_text_format(&in, " & s%d(x, y)", i);
    assert_int_equal(acq_query_parse(in.bytes, in.length, &query, NULL), ACQ_OK);
    assert_int_equal(acq_query_print_sql(query, &params, &out, NULL), ACQ_OK);
    size_t chain = 0, longest = 0;
    for (const char *at = out.bytes; *at != '\0'; at++) {
        chain = strchr("()", *at) != NULL ? 0 : chain + (strncmp(at, " AND ", 5) == 0);
        longest = chain > longest ? chain : longest;
    }
    assert_true(longest < 100);
    acq_text_deinit(&in);
    acq_text_deinit(&out);
    acq_query_free(query);
}

static void test_empty_and_and_or_are_true_and_false(void **state)
{
    acq_query *query = NULL;
    acq_text text;
    (void)state;
    acq_text_init(&text);
    assert_int_equal(acq_query_parse("!r(\"a\", \"b\")", 12, &query, NULL), ACQ_OK);
    query->root->kind = ACQ_NODE_OR;
    query->root->n_children = 0;
    assert_int_equal(acq_query_print_sql(query, NULL, &text, NULL), ACQ_OK);
    assert_string_equal(text.bytes, "SELECT EXISTS (SELECT 1 WHERE 1 = 0) AS \"Q\"");
    query->root->kind = ACQ_NODE_AND;
    acq_text_clear(&text);
    assert_int_equal(acq_query_print_sql(query, NULL, &text, NULL), ACQ_OK);
    assert_string_equal(text.bytes, "SELECT EXISTS (SELECT 1) AS \"Q\"");
    acq_text_deinit(&text);
    acq_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_are_joined),
        cmocka_unit_test(test_a_boolean_query_gives_one_truth_value),
        cmocka_unit_test(test_negations_and_comparisons_are_conditions),
        cmocka_unit_test(test_variables_without_an_atom_range_over_entities),
        cmocka_unit_test(test_existentials_of_one_disjunction_stay_in_its_branches),
        cmocka_unit_test(test_tables_beyond_the_limit_become_exists),
        cmocka_unit_test(test_table_names_and_columns_are_quoted_as_needed),
        cmocka_unit_test(test_grounded_names_are_integers),
        cmocka_unit_test(test_bound_names_are_integers_on_demand),
        cmocka_unit_test(test_long_chains_are_balanced),
        cmocka_unit_test(test_empty_and_and_or_are_true_and_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
