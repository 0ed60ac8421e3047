/* query_faults.c - each public function with its N-th allocation failing, for every N until it
 * succeeds: always ACQ_ERR_MEMORY, nothing written, nothing leaked (the address sanitizer looks).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "query/print.h"
#include "query/query.h"

#ifdef ACQ_FAULTS

enum { MOST_ALLOCATIONS = 10000 };

static const char *const TEXTS[] = {
    "Goal(x, z) := exists y, w. \"dir\\\"ected\"(y, \"Oppen\\nheimer\") & inverse(born_in)(y, x) & "
    "!lives_in(y, z) & (r(x, w) & (s(w, Bob) | x = w) | s(w, z)) & x != z & (exists y. r(y, y))",
    "PREFIX ex: <http://e/> BASE <http://b/c> SELECT ?x ?y { ?x ex:r\\,s ?y ; a <d\\u0041> , ?z "
    "{ ?x <r> ?w } UNION { ?y <s> ?w . ?w <t> ?x } MINUS { ?x <t> ?y } VALUES (?x ?z) { (<a> <b>) "
    "(<c> <d>) } FILTER NOT EXISTS { ?y <u> ?z . ?z <u> <a> } FILTER(?x != ?y && (?x = ?z || "
    "EXISTS { ?x <v> ?y })) }",
    "SELECT * { ?x <r> ?y }",
};

/* Enough names and nodes that every growing array grows, and the arena needs more blocks. */
static char *long_text(void)
{
    acq_text text;
    char *out = NULL;
    acq_text_init(&text);
    for (int i = 0; i < 400; i++)
        acq_text_format(&text, "%sr%d(x%d, \"c%d\")", i > 0 ? " & " : "Q(x0) := ", i, i, i);
    assert_int_equal(acq_text_take(&text, &out, NULL), ACQ_OK);
    return out;
}

static void check_failure(acq_status status, const acq_error *error)
{
    assert_int_equal(status, ACQ_ERR_MEMORY);
    assert_int_equal(error->code, ACQ_ERR_MEMORY);
}

typedef acq_status (*parse_fn)(const char *text, size_t length, acq_query **out, acq_error *error);

static void check_parse(parse_fn parse, const char *text)
{
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_query *query = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = parse(text, strlen(text), &query, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK) {
            check_failure(status, &error);
            assert_null(query);
        }
        acq_query_free(query);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 4);
}

static void test_parsing_survives_every_failed_allocation(void **state)
{
    char *text = long_text();
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        check_parse(acq_query_parse, TEXTS[i]);
    check_parse(acq_query_parse, text);
    check_parse(acq_query_parse_benchmark,
                "((r1(s1,e1))&(r2(e1,f1)))&(!(r3(s2,f1)))&((r1(f1,f2))|(r2(s1,s2)))");
    acq_free(text);
}

/* Small queries fit in the arena's first block. A first name of nearly its size moves the start of
 * the second block, step by step, over every allocation from the arena. */
static void check_padded(parse_fn parse, const char *before, const char *after)
{
    for (size_t length = 13000; length < 16400; length += 16) {
        acq_text text;
        acq_status status = ACQ_ERR_MEMORY;
        acq_text_init(&text);
        acq_text_add(&text, before);
        for (size_t i = 0; i < length; i++)
            acq_text_add_char(&text, '1');
        acq_text_add(&text, after);
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_query *query = NULL;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = parse(text.bytes, text.length, &query, &error);
            acq_faults_fail_at(0);
            if (status != ACQ_OK)
                check_failure(status, &error);
            acq_query_free(query);
        }
        assert_int_equal(status, ACQ_OK);
        acq_text_deinit(&text);
    }
}

static void test_parsing_survives_a_failed_block_at_every_place(void **state)
{
    (void)state;
    check_padded(acq_query_parse, "Q",
                 "(x) := exists y, w. r(x, y) & !(s(y, Bob) | t(w, \"a\")) & "
                 "(exists y. r(y, y)) & x != y");
    check_padded(acq_query_parse, "ASK { <",
                 "> <r> ?x1 . ?x1 <r> ?x1 ; a ?y FILTER(?x1 != ?y) "
                 "{ ?x1 <s> ?y } UNION { ?y <t> ?x1 . ?x1 <r> <a> } VALUES ?z "
                 "{ <a> } FILTER NOT EXISTS { ?x1 <u> ?z } MINUS { ?x1 <w> ?y } }");
}

static acq_status parse_and_reduce(const char *text, size_t length, acq_query **out,
                                   acq_error *error)
{
    acq_query *query = NULL;
    acq_status status = acq_query_parse_benchmark(text, length, &query, error);
    if (status == ACQ_OK)
        status = acq_query_apply_reading(query, ACQ_ATOMS_PAIR, out, error);
    acq_query_free(query);
    return status;
}

static void test_benchmark_formulas_survive_a_failed_block_at_every_place(void **state)
{
    acq_text formula;
    (void)state;
    acq_text_init(&formula);
    for (int i = 0; i < 120; i++)
        acq_text_format(&formula, "%s(!(r%d(s%d,e%d)))", i > 0 ? "&" : "", i, i, i);
    for (int i = 0; i < 40; i++) {
        acq_status status = ACQ_ERR_MEMORY;
        acq_text_format(&formula, "&(r%d(f%d,e%d))", i % 3, i, i % 7);
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_query *query = NULL;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = parse_and_reduce(formula.bytes, formula.length, &query, &error);
            acq_faults_fail_at(0);
            if (status != ACQ_OK)
                check_failure(status, &error);
            acq_query_free(query);
        }
        assert_int_equal(status, ACQ_OK);
    }
    acq_text_deinit(&formula);
}

static void check_print(const acq_query *query, acq_syntax syntax)
{
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_text text;
        acq_error error = {0};
        acq_text_init(&text);
        acq_text_add(&text, "before");
        acq_faults_fail_at(n);
        status = syntax == ACQ_N_SYNTAXES ? acq_query_print_sql(query, NULL, &text, &error)
                                          : acq_query_print(query, syntax, &text, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK) {
            check_failure(status, &error);
            assert_string_equal(text.bytes, "before");
        }
        acq_text_deinit(&text);
    }
    assert_int_equal(status, ACQ_OK);
}

static void test_printing_survives_every_failed_allocation(void **state)
{
    static const char BENCHMARK[] = "(r1(s1,e1))&(r2(e1,f1))&((r1(f1,e2))|(!(r2(s1,e1))))";
    acq_query *query = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        assert_int_equal(acq_query_parse(TEXTS[i], strlen(TEXTS[i]), &query, NULL), ACQ_OK);
        check_print(query, ACQ_SYNTAX_TEXT);
        check_print(query, ACQ_N_SYNTAXES);
        if (i > 0)
            check_print(query, ACQ_SYNTAX_SPARQL);
        acq_query_free(query);
    }
    assert_int_equal(acq_query_parse_benchmark(BENCHMARK, strlen(BENCHMARK), &query, NULL), ACQ_OK);
    check_print(query, ACQ_SYNTAX_BENCHMARK);
    acq_query_free(query);
}

static void check_reading(const acq_query *query, acq_atoms_reading reading)
{
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_query *reduced = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_query_apply_reading(query, reading, &reduced, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK) {
            check_failure(status, &error);
            assert_null(reduced);
        }
        acq_query_free(reduced);
    }
    assert_int_equal(status, ACQ_OK);
}

static void test_readings_survive_every_failed_allocation(void **state)
{
    char *text = long_text();
    acq_query *query = NULL;
    (void)state;
    assert_int_equal(acq_query_parse(text, strlen(text), &query, NULL), ACQ_OK);
    check_reading(query, ACQ_ATOMS_WRITTEN);
    check_reading(query, ACQ_ATOMS_PAIR);
    acq_query_free(query);
    assert_int_equal(acq_query_parse(TEXTS[0], strlen(TEXTS[0]), &query, NULL), ACQ_OK);
    check_reading(query, ACQ_ATOMS_WRITTEN);
    acq_query_free(query);
    acq_free(text);
}

static void test_grounding_allocates_nothing(void **state)
{
    static const char FORMULA[] = "(r1(s1,e1))&(r2(e1,f1))";
    const char *const names[] = {"r1", "r2", "s1"};
    const uint32_t ids[] = {0, 1, 2};
    acq_query *query = NULL;
    (void)state;
    assert_int_equal(acq_query_parse_benchmark(FORMULA, strlen(FORMULA), &query, NULL), ACQ_OK);
    acq_faults_fail_at(1);
    acq_status status = acq_query_ground_pairs(query, names, ids, 3, NULL);
    size_t allocations = acq_faults_count();
    acq_faults_fail_at(0);
    assert_int_equal(status, ACQ_OK);
    assert_int_equal(allocations, 0);
    acq_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parsing_survives_every_failed_allocation),
        cmocka_unit_test(test_parsing_survives_a_failed_block_at_every_place),
        cmocka_unit_test(test_benchmark_formulas_survive_a_failed_block_at_every_place),
        cmocka_unit_test(test_printing_survives_every_failed_allocation),
        cmocka_unit_test(test_readings_survive_every_failed_allocation),
        cmocka_unit_test(test_grounding_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_faults_are_skipped_without_ACQ_FAULTS(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_skipped_without_ACQ_FAULTS)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
