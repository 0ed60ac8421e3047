/* query_limits.c - the stated limits: at each one the query is read, one past it is refused with
 * ACQ_ERR_LIMIT, and large queries take near linear time (counted in allocations and seconds far
 * above what is needed, so that no slow machine fails). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/text.h"
#include "query/print.h"
#include "query/query.h"

static void add_text_atoms(acq_text *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        acq_text_format(text, "%sr%u(x%u, y%u)", i > 0 ? " & " : "", i % 100, i % 5000, i);
}

static void add_benchmark_atoms(acq_text *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        acq_text_format(text, "%s(r%u(s%u,e%u))", i > 0 ? "&" : "", i % 100, i % 5000, i);
}

static void add_sparql_atoms(acq_text *text, unsigned n)
{
    acq_text_add(text, "ASK {");
    for (unsigned i = 0; i < n; i++)
        acq_text_format(text, " ?x%u <r%u> ?y%u .", i % 5000, i % 100, i);
    acq_text_add(text, "}");
}

static void check_atoms(void (*add)(acq_text *, unsigned), bool is_benchmark, unsigned n)
{
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    acq_text_init(&text);
    add(&text, n);
    acq_status status = is_benchmark
                            ? acq_query_parse_benchmark(text.bytes, text.length, &query, &error)
                            : acq_query_parse(text.bytes, text.length, &query, &error);
    if (n <= ACQ_MOST_ATOMS) {
        assert_int_equal(status, ACQ_OK);
        assert_int_equal(query->n_atoms, n);
        assert_int_equal(query->n_relations, n < 100 ? n : 100);
    } else {
        assert_int_equal(status, ACQ_ERR_LIMIT);
        assert_int_equal(error.code, ACQ_ERR_LIMIT);
        assert_string_equal(error.message, "more than 100000 atoms; split the query");
        assert_true(error.column > 1000000);
    }
    acq_query_free(query);
    acq_text_deinit(&text);
}

static void test_up_to_100000_atoms_are_read_and_one_more_is_refused(void **state)
{
    static const unsigned COUNTS[] = {1, 1000, ACQ_MOST_ATOMS, ACQ_MOST_ATOMS + 1};
    (void)state;
    clock_t start = clock();
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        check_atoms(add_text_atoms, false, COUNTS[i]);
        check_atoms(add_benchmark_atoms, true, COUNTS[i]);
        check_atoms(add_sparql_atoms, false, COUNTS[i]);
    }
    assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
}

static void test_large_queries_are_printed_and_reduced_quickly(void **state)
{
    acq_query *query = NULL, *reduced = NULL;
    acq_text text, printed;
    (void)state;
    clock_t start = clock();
    acq_text_init(&text);
    acq_text_init(&printed);
    add_benchmark_atoms(&text, ACQ_MOST_ATOMS);
    assert_int_equal(acq_query_parse_benchmark(text.bytes, text.length, &query, NULL), ACQ_OK);
    for (unsigned syntax = 0; syntax < ACQ_N_SYNTAXES; syntax++)
        assert_int_equal(acq_query_print(query, (acq_syntax)syntax, &printed, NULL), ACQ_OK);
    acq_sql_params params = ACQ_SQL_DEFAULT;
    assert_int_equal(acq_query_print_sql(query, &params, &printed, NULL), ACQ_ERR_LIMIT);
    params.most_tables = 0;
    assert_int_equal(acq_query_print_sql(query, &params, &printed, NULL), ACQ_OK);
    assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_PAIR, &reduced, NULL), ACQ_OK);
    assert_int_equal(reduced->n_atoms, ACQ_MOST_ATOMS);
    assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
    acq_query_free(reduced);
    acq_query_free(query);
    acq_text_deinit(&text);
    acq_text_deinit(&printed);
}

/* open^n atom close^n */
static acq_status parse_nested(unsigned n, const char *open, const char *atom, const char *close,
                               bool is_benchmark, acq_error *error)
{
    acq_query *query = NULL;
    acq_text text;
    acq_text_init(&text);
    for (unsigned i = 0; i < n; i++)
        acq_text_add(&text, open);
    acq_text_add(&text, atom);
    for (unsigned i = 0; i < n; i++)
        acq_text_add(&text, close);
    acq_status status = is_benchmark
                            ? acq_query_parse_benchmark(text.bytes, text.length, &query, error)
                            : acq_query_parse(text.bytes, text.length, &query, error);
    acq_query_free(query);
    acq_text_deinit(&text);
    return status;
}

static void test_1000_levels_are_read_and_one_more_is_refused(void **state)
{
    static const struct {
        const char *open, *atom, *close;
        bool is_benchmark;
        unsigned levels; /* that one `open` counts */
    } CASES[] = {
        {"(", "r(x, y)", ")", false, 1},  {"!", "r(x, y)", "", false, 1},
        {"!(", "r(x, y)", ")", false, 2}, {"(s(x, y) & ", "r(x, y)", ")", false, 1},
        {"(", "r1(s1,f1)", ")", true, 1}, {"!", "r1(s1,f1)", "", true, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        acq_error error = {0};
        unsigned most = ACQ_MOST_NESTING / CASES[i].levels;
        assert_int_equal(parse_nested(most, CASES[i].open, CASES[i].atom, CASES[i].close,
                                      CASES[i].is_benchmark, &error),
                         ACQ_OK);
        assert_int_equal(parse_nested(most + 1, CASES[i].open, CASES[i].atom, CASES[i].close,
                                      CASES[i].is_benchmark, &error),
                         ACQ_ERR_LIMIT);
        assert_string_equal(error.message, "nested deeper than 1000 levels; flatten the formula");
        assert_int_equal(error.line, 1);
        assert_true(error.column >= ACQ_MOST_NESTING);
    }
}

static void test_other_recursions_are_bounded_too(void **state)
{
    static const struct {
        const char *before, *repeated;
    } CASES[] = {
        {"", "r(\"a\", \"a\") & exists x. r(x, x) & "},
        {"ASK ", "{ "},
        {"ASK { ", "{ ?x <r> ?y } UNION { ?x <r> ?y . "},
        {"ASK { ", "?x <r> ?y FILTER NOT EXISTS { "},
        {"ASK { ", "?x <r> ?y MINUS { "},
        {"ASK { ?x <r> ?y FILTER", "("},
        {"ASK { ?x <r> ?y FILTER(", "!"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        acq_text text;
        acq_query *query = NULL;
        acq_error error = {0};
        acq_text_init(&text);
        acq_text_add(&text, CASES[i].before);
        for (unsigned n = 0; n <= ACQ_MOST_NESTING; n++)
            acq_text_add(&text, CASES[i].repeated);
        assert_int_equal(acq_query_parse(text.bytes, text.length, &query, &error), ACQ_ERR_LIMIT);
        assert_string_equal(error.message, "nested deeper than 1000 levels; flatten the formula");
        acq_text_deinit(&text);
    }
}

static void test_text_past_16_megabytes_is_refused(void **state)
{
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    (void)state;
    acq_text_init(&text);
    acq_text_add(&text, "r(x, y)");
    while (text.length < ACQ_MOST_TEXT)
        acq_text_add(&text, " ");
    assert_int_equal(acq_query_parse(text.bytes, text.length, &query, &error), ACQ_OK);
    acq_query_free(query);
    acq_text_add(&text, " ");
    assert_int_equal(acq_query_parse(text.bytes, text.length, &query, &error), ACQ_ERR_LIMIT);
    assert_string_equal(error.message,
                        "the query has 16777217 bytes, the limit is 16777216; split it");
    acq_text_deinit(&text);
}

/* A long prefix and many names would need more memory than the text: 60,000 * 300 bytes. */
static void test_names_in_full_stay_below_16_megabytes(void **state)
{
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    (void)state;
    acq_text_init(&text);
    acq_text_add(&text, "PREFIX a: <");
    for (unsigned i = 0; i < 300; i++)
        acq_text_add(&text, "a");
    acq_text_add(&text, "> ASK { a: a:");
    for (unsigned i = 0; i < 60000; i++)
        acq_text_format(&text, "%s a:%u", i > 0 ? "," : "", i);
    acq_text_add(&text, "}");
    assert_int_equal(acq_query_parse(text.bytes, text.length, &query, &error), ACQ_ERR_LIMIT);
    assert_string_equal(error.message, "the names of the query, written in full, have more than "
                                       "16777216 bytes; split the query");
    acq_text_deinit(&text);
}

static void test_values_takes_1000_variables(void **state)
{
    (void)state;
    for (unsigned n = 1000; n <= 1001; n++) {
        acq_query *query = NULL;
        acq_text text;
        acq_error error = {0};
        acq_text_init(&text);
        acq_text_add(&text, "ASK { VALUES (");
        for (unsigned i = 0; i < n; i++)
            acq_text_format(&text, " ?x%u", i);
        acq_text_add(&text, ") { (");
        for (unsigned i = 0; i < n; i++)
            acq_text_add(&text, " <a>");
        acq_text_add(&text, ") } }");
        assert_int_equal(acq_query_parse(text.bytes, text.length, &query, &error),
                         n == 1000 ? ACQ_OK : ACQ_ERR_LIMIT);
        if (n > 1000)
            assert_string_equal(error.message, "VALUES takes at most 1000 variables");
        acq_query_free(query);
        acq_text_deinit(&text);
    }
}

/* Thousands of variables of one name: each gets its own suffix without trying all others. */
static void test_many_variables_of_one_name_are_told_apart(void **state)
{
    enum { N = 30000 };
    acq_query *query = NULL;
    acq_text text;
    (void)state;
    acq_text_init(&text);
    for (unsigned i = 0; i < N; i++)
        acq_text_format(&text, "%s(exists y. r(y, y))", i > 0 ? "&" : "");
    assert_int_equal(acq_query_parse(text.bytes, text.length, &query, NULL), ACQ_OK);
    assert_int_equal(query->n_variables, N);
    assert_string_equal(query->variables[0].text, "y");
    assert_string_equal(query->variables[N - 1].text, "y_30000");
    acq_query_free(query);
    acq_text_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_to_100000_atoms_are_read_and_one_more_is_refused),
        cmocka_unit_test(test_large_queries_are_printed_and_reduced_quickly),
        cmocka_unit_test(test_1000_levels_are_read_and_one_more_is_refused),
        cmocka_unit_test(test_other_recursions_are_bounded_too),
        cmocka_unit_test(test_text_past_16_megabytes_is_refused),
        cmocka_unit_test(test_names_in_full_stay_below_16_megabytes),
        cmocka_unit_test(test_values_takes_1000_variables),
        cmocka_unit_test(test_many_variables_of_one_name_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
