/* query_cases.c - named inputs with what must come of them, from tests/data/query:
 *
 *   == name of the case
 *   the input, on one or more lines
 *   -- line:column: message, or the query in the text syntax
 *
 * bad/ holds errors, good/ what the text syntax and SPARQL mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/input.h"
#include "query/print.h"
#include "query/query.h"

typedef acq_status (*parse_fn)(const char *text, size_t length, acq_query **out, acq_error *error);

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

/* The three parts of the case at *at, NUL-terminated in place; false at the end of the file. */
static bool next_case(char **at, char **name, char **input, char **expected)
{
    if (strncmp(*at, "== ", 3) != 0)
        return false;
    *name = *at + 3;
    char *end = strchr(*name, '\n');
    *end = '\0';
    *input = end + 1;
    end = strstr(end + 1, "\n-- ");
    assert_non_null(end);
    *end = '\0';
    *expected = end + 4;
    end = strchr(*expected, '\n');
    *end = '\0';
    *at = end + 1;
    return true;
}

/* Parses a heap copy of the exact size, so that a sanitizer sees any step past the end. */
static acq_status parse_exactly(parse_fn parse, const char *input, acq_query **out,
                                acq_error *error)
{
    size_t length = strlen(input);
    char *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, input, length);
    acq_status status = parse(copy, length, out, error);
    free(copy);
    return status;
}

static size_t check_bad(const char *path, parse_fn parse)
{
    char *text = read_file(path), *at = text, *name, *input, *expected, got[700];
    size_t n = 0;
    for (; next_case(&at, &name, &input, &expected); n++) {
        acq_query *query = NULL;
        acq_error error = {0};
        acq_status status = parse_exactly(parse, input, &query, &error);
        if (status == ACQ_OK)
            fail_msg("%s: accepted", name);
        assert_null(query);
        assert_int_equal(status, error.code);
        assert_int_equal(status, ACQ_ERR_PARSE);
        snprintf(got, sizeof got, "%zu:%zu: %s", error.line, error.column, error.message);
        if (strcmp(got, expected) != 0)
            fail_msg("%s: %s", name, got);
        assert_int_equal(parse_exactly(parse, input, &query, NULL), ACQ_ERR_PARSE);
    }
    assert_int_equal(*at, '\0');
    free(text);
    return n;
}

static size_t check_good(const char *path)
{
    char *text = read_file(path), *at = text, *name, *input, *expected;
    size_t n = 0;
    for (; next_case(&at, &name, &input, &expected); n++) {
        acq_query *query = NULL;
        acq_error error = {0};
        acq_text printed;
        acq_text_init(&printed);
        if (parse_exactly(acq_query_parse, input, &query, &error) != ACQ_OK)
            fail_msg("%s: %zu:%zu: %s", name, error.line, error.column, error.message);
        assert_int_equal(acq_query_print(query, ACQ_SYNTAX_TEXT, &printed, NULL), ACQ_OK);
        if (strcmp(printed.bytes, expected) != 0)
            fail_msg("%s: %s", name, printed.bytes);
        acq_text_deinit(&printed);
        acq_query_free(query);
    }
    assert_int_equal(*at, '\0');
    free(text);
    return n;
}

#define DATA ACQ_SOURCE_DIR "/tests/data/query/"

static void test_bad_text_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_true(check_bad(DATA "bad/text.cases", acq_query_parse) >= 140);
}

static void test_bad_benchmark_formulas_are_refused_at_their_place(void **state)
{
    (void)state;
    assert_true(check_bad(DATA "bad/benchmark.cases", acq_query_parse_benchmark) >= 30);
}

static void test_bad_sparql_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_true(check_bad(DATA "bad/sparql.cases", acq_query_parse) >= 125);
}

static void test_good_text_means_what_it_should(void **state)
{
    (void)state;
    assert_true(check_good(DATA "good/text.cases") >= 50);
}

static void test_good_sparql_means_what_it_should(void **state)
{
    (void)state;
    assert_true(check_good(DATA "good/sparql.cases") >= 50);
}

/* Bytes that a text file of cases should not hold. */
static void test_bytes_that_are_not_text_are_refused_at_their_place(void **state)
{
    static const struct {
        const char *input;
        size_t length;
        size_t line, column;
        const char *message;
    } CASES[] = {
        {"r(x,\n\0)", 7, 2, 1, "a query cannot contain a NUL byte; remove it"},
        {"r(\"\xC3\", x)", 9, 1, 4, "byte 0xC3 is not valid UTF-8; save the query as UTF-8"},
        {"\x80", 1, 1, 1, "byte 0x80 is not valid UTF-8; save the query as UTF-8"},
        {"\xC0\xAF", 2, 1, 1, "byte 0xC0 is not valid UTF-8; save the query as UTF-8"},
        {"\xE0\x80\x80", 3, 1, 1, "byte 0xE0 is not valid UTF-8; save the query as UTF-8"},
        {"\xED\xA0\x80", 3, 1, 1, "byte 0xED is not valid UTF-8; save the query as UTF-8"},
        {"\xF0\x80\x80\x80", 4, 1, 1, "byte 0xF0 is not valid UTF-8; save the query as UTF-8"},
        {"\xF4\x90\x80\x80", 4, 1, 1, "byte 0xF4 is not valid UTF-8; save the query as UTF-8"},
        {"\xE2\x82", 2, 1, 1, "byte 0xE2 is not valid UTF-8; save the query as UTF-8"},
        {"\xE2\x82g", 3, 1, 1, "byte 0xE2 is not valid UTF-8; save the query as UTF-8"},
        {"SELECT ?x {\n?x <\xFF> ?y }", 23, 2, 5,
         "byte 0xFF is not valid UTF-8; save the query as UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        acq_query *query = NULL;
        acq_error error = {0};
        assert_int_equal(acq_query_parse(CASES[i].input, CASES[i].length, &query, &error),
                         ACQ_ERR_PARSE);
        assert_string_equal(error.message, CASES[i].message);
        assert_int_equal(error.line, CASES[i].line);
        assert_int_equal(error.column, CASES[i].column);
        assert_int_equal(acq_query_parse_benchmark(CASES[i].input, CASES[i].length, &query, NULL),
                         ACQ_ERR_PARSE);
        assert_null(query);
    }
    assert_int_equal(acq_utf8_length("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_text_is_refused_at_its_place),
        cmocka_unit_test(test_bad_benchmark_formulas_are_refused_at_their_place),
        cmocka_unit_test(test_bad_sparql_is_refused_at_its_place),
        cmocka_unit_test(test_good_text_means_what_it_should),
        cmocka_unit_test(test_good_sparql_means_what_it_should),
        cmocka_unit_test(test_bytes_that_are_not_text_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
