/* query_print.c - print -> parse -> the same tree, on seeded random queries in every syntax. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "query/print.h"
#include "query/query.h"
#include "unit/query_random.h"

enum { CASES = 6000 };

static query_random_params params_of(unsigned seed)
{
    return (query_random_params){.most_depth = seed % 5,
                                 .n_free = seed / 5 % 4,
                                 .n_exists = seed / 7 % 5,
                                 .n_constants = 1 + seed % 40,
                                 .n_relations = 1 + seed % 30,
                                 .plain_names = seed % 4 == 0,
                                 .equalities = seed % 3 != 0,
                                 .inverses = seed % 2 == 0,
                                 .conjunctive = seed % 11 == 0};
}

static acq_query *random_query(unsigned seed, bool limits)
{
    acq_random random = acq_random_start(20240229, seed);
    query_random_params params = params_of(seed);
    params.limits = limits;
    acq_query *query = query_random_new(&random, &params);
    assert_non_null(query);
    return query;
}

static acq_status parse(acq_syntax syntax, const acq_text *text, acq_query **out, acq_error *error)
{
    return syntax == ACQ_SYNTAX_BENCHMARK
               ? acq_query_parse_benchmark(text->bytes, text->length, out, error)
               : acq_query_parse(text->bytes, text->length, out, error);
}

/* What the syntax can say must come back; returns whether it could. */
static bool check_round_trip(const acq_query *query, acq_syntax syntax)
{
    acq_text text, again;
    acq_error error = {0};
    acq_query *copy = NULL;
    acq_text_init(&text);
    acq_text_init(&again);
    acq_status status = acq_query_print(query, syntax, &text, &error);
    if (status != ACQ_OK) {
        assert_int_equal(status, ACQ_ERR_INPUT);
        assert_int_equal(error.code, ACQ_ERR_INPUT);
        assert_int_equal(text.length, 0);
        acq_text_deinit(&text);
        return false;
    }
    status = parse(syntax, &text, &copy, &error);
    if (status != ACQ_OK)
        fail_msg("%s\n%zu:%zu: %s", text.bytes, error.line, error.column, error.message);
    if (!query_same(query, copy, syntax != ACQ_SYNTAX_BENCHMARK))
        fail_msg("another tree: %s", text.bytes);
    assert_int_equal(acq_query_print(copy, syntax, &again, NULL), ACQ_OK);
    assert_string_equal(text.bytes, again.bytes);
    acq_query_free(copy);
    acq_text_deinit(&again);
    acq_text_deinit(&text);
    return true;
}

static bool has_equality(const acq_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (has_equality(node->children[i]))
            return true;
    }
    return node->kind == ACQ_NODE_EQUAL;
}

static void test_every_query_survives_the_text_syntax(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < CASES; seed++) {
        acq_query *query = random_query(seed, false);
        assert_true(check_round_trip(query, ACQ_SYNTAX_TEXT));
        acq_query_free(query);
    }
}

static void test_every_query_without_equality_survives_the_benchmark_syntax(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < CASES; seed++) {
        acq_query *query = random_query(seed, false);
        assert_int_equal(check_round_trip(query, ACQ_SYNTAX_BENCHMARK), !has_equality(query->root));
        acq_query_free(query);
    }
}

static void test_every_query_that_sparql_can_say_survives_it(void **state)
{
    unsigned said = 0;
    (void)state;
    for (unsigned seed = 0; seed < CASES; seed++) {
        acq_query *query = random_query(seed, true);
        said += check_round_trip(query, ACQ_SYNTAX_SPARQL);
        acq_query_free(query);
    }
    assert_true(said > CASES / 5);
}

static void test_written_reading_is_a_copy(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < CASES / 10; seed++) {
        acq_query *query = random_query(seed, true), *copy = NULL;
        assert_int_equal(acq_query_apply_reading(query, ACQ_ATOMS_WRITTEN, &copy, NULL), ACQ_OK);
        assert_true(query_same(query, copy, true));
        assert_string_equal(query->name, copy->name);
        acq_query_free(copy);
        acq_query_free(query);
    }
}

static void check_print(const char *in, acq_syntax syntax, const char *expected)
{
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    acq_text_init(&text);
    assert_int_equal(acq_query_parse(in, strlen(in), &query, NULL), ACQ_OK);
    acq_status status = acq_query_print(query, syntax, &text, &error);
    assert_string_equal(status == ACQ_OK ? text.bytes : error.message, expected);
    acq_text_deinit(&text);
    acq_query_free(query);
}

/* A name of 1 to 12 pieces: what the syntax itself is made of, and any characters but NUL. */
static size_t draw_name(acq_random *random, char out[64])
{
    static const char *const pieces[] = {"\"", "\\",     "\n",      "\t", "\r",   "exists", "not",
                                         "or", "and",    "inverse", "?",  "#",    " ",      "<",
                                         ">",  "(",      ")",       ",",  ".",    ":-",     "\\n",
                                         "ä",  "\u00A0", "\u200B",  "😀",  "\x01", "\x7f",   "Q"};
    size_t n = 0, n_pieces = 1 + acq_random_below(random, 12);
    for (size_t i = 0; i < n_pieces; i++) {
        bool is_piece = acq_random_below(random, 2) == 0;
        const char *piece = pieces[acq_random_below(random, sizeof pieces / sizeof *pieces)];
        uint32_t point = 1 + (uint32_t)acq_random_below(random, 0xD7FF);
        if (n + 8 > 64)
            break;
        if (is_piece)
            memcpy(out + n, piece, strlen(piece));
        n += is_piece ? strlen(piece) : acq_utf8_encode(point, out + n);
    }
    return n;
}

static void check_name(const acq_query_name *wanted, const acq_query_name *found)
{
    assert_int_equal(found->length, wanted->length);
    assert_memory_equal(found->text, wanted->text, wanted->length);
    assert_int_equal(found->is_inverse, wanted->is_inverse);
}

static void test_any_names_are_read_back(void **state)
{
    (void)state;
    static const char text[] = "Q(x) := exists y. r(x, y) & inverse(s)(y, \"a\") & x != \"b\"";
    acq_random random = acq_random_start(15, 3);
    for (int i = 0; i < 20000; i++) {
        acq_query *query = NULL, *back = NULL;
        acq_text printed;
        acq_error error = {0};
        char names[4][64];
        acq_query_name *places[4];
        assert_int_equal(acq_query_parse(text, strlen(text), &query, NULL), ACQ_OK);
        for (int k = 0; k < 4; k++) {
            places[k] = k < 2 ? &query->relations[k] : &query->constants[k - 2];
            places[k]->text = names[k];
            do
                places[k]->length = draw_name(&random, names[k]);
            while (k % 2 == 1 && places[k]->length == places[k - 1]->length &&
                   memcmp(names[k], names[k - 1], places[k]->length) == 0);
        }
        acq_text_init(&printed);
        assert_int_equal(acq_query_print(query, ACQ_SYNTAX_TEXT, &printed, NULL), ACQ_OK);
        acq_status status = acq_query_parse(printed.bytes, printed.length, &back, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(status, ACQ_OK);
        for (int k = 0; k < 4; k++)
            check_name(places[k], k < 2 ? &back->relations[k] : &back->constants[k - 2]);
        acq_text_deinit(&printed);
        acq_query_free(query);
        acq_query_free(back);
    }
}

static void test_datalog_is_the_same_query(void **state)
{
    (void)state;
    const char *const same[] = {
        "Q(x) := r(x, y) & !s(y, \"a\")", "Q(x) :- r(x, y), not s(y, \"a\")",
        "Q(x) :- r(x, y), !s(y, \"a\").\n", "Q(x):-exists y. r(x, y), not s(y, a)."};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_print(same[i], ACQ_SYNTAX_TEXT, "Q(x) := exists y. r(x, y) & !s(y, \"a\")");
    check_print("select :- r(\"a\", \"b\").", ACQ_SYNTAX_TEXT, "select() := r(\"a\", \"b\")");
}

static void test_printed_forms(void **state)
{
    (void)state;
    check_print("SELECT ?x { ?x <r s> <a> MINUS { ?x <t> <b> } }", ACQ_SYNTAX_TEXT,
                "Q(x) := \"r s\"(x, \"a\") & !t(x, \"b\")");
    check_print("Goal(b, a) := r(a, c), s(c, b) or not not t(b, \"x\")", ACQ_SYNTAX_TEXT,
                "Goal(b, a) := exists c. r(a, c) & s(c, b) | !!t(b, \"x\")");
    check_print("r(x, \"a\") & !s(x, \"b\")", ACQ_SYNTAX_BENCHMARK, "(r1(f1,s1))&(!(r2(f1,s2)))");
    check_print("Q(f2) := r7(f2, \"s3\") & r9(e, \"s12\")", ACQ_SYNTAX_BENCHMARK,
                "(r7(f2,s3))&(r9(e1,s12))");
    check_print("Q(f2, f1) := r1(f1, f2)", ACQ_SYNTAX_BENCHMARK, "r1(f2,f1)");
    check_print("r1(x, y) & r1x(x, y)", ACQ_SYNTAX_BENCHMARK, "(r1(f1,f2))&(r2(f1,f2))");
    check_print("r(x, y) & (x = \"a\" & x = \"b\" | x = \"c\" & x = \"d\")", ACQ_SYNTAX_SPARQL,
                "SELECT DISTINCT ?x ?y WHERE { ?x <r> ?y . { VALUES ?x { <a> } VALUES ?x { <b> } } "
                "UNION { VALUES ?x { <c> } VALUES ?x { <d> } } }");
    check_print("Q(x) := inverse(r)(x, y) & y != x", ACQ_SYNTAX_SPARQL,
                "SELECT DISTINCT ?x WHERE { ?x ^<r> ?y . FILTER (?y != ?x) }");
    check_print("r(x, y) & (s(x, y) | !t(x, y))", ACQ_SYNTAX_SPARQL,
                "SELECT DISTINCT ?x ?y WHERE { ?x <r> ?y . FILTER (EXISTS { ?x <s> ?y . } || NOT "
                "EXISTS { ?x <t> ?y . }) }");
}

static void test_what_a_syntax_cannot_say_is_an_error_that_says_so(void **state)
{
    (void)state;
    check_print("SELECT * { ?x <r> ?y } LIMIT 3", ACQ_SYNTAX_TEXT,
                "the text syntax has no LIMIT; print the query as SPARQL, or drop the limit");
    check_print("SELECT * { ?x <r> ?y } LIMIT 3", ACQ_SYNTAX_BENCHMARK,
                "the benchmark syntax has no LIMIT; print the query as SPARQL, or drop the limit");
    check_print("ASK { ?not <r> ?y }", ACQ_SYNTAX_TEXT,
                "the text syntax has no variable called 'not'; rename it");
    check_print("ASK { ?1 <r> ?y }", ACQ_SYNTAX_TEXT,
                "the text syntax has no variable called '1'; rename it");
    check_print("r(x, y) & x != y", ACQ_SYNTAX_BENCHMARK,
                "the benchmark syntax has no equality; use another syntax");
    check_print("!r(x, \"a\")", ACQ_SYNTAX_SPARQL,
                "SPARQL cannot say this query: no positive atom binds 'x' in every case; use "
                "another syntax or add an atom");
    check_print("Q(x) := r(x, y) | s(y, \"a\")", ACQ_SYNTAX_SPARQL,
                "SPARQL cannot say this query: no positive atom binds 'x' in every case; use "
                "another syntax or add an atom");
    check_print("r(x, y)", ACQ_N_SYNTAXES, "unknown query syntax");
    assert_string_equal(acq_syntax_get_name(ACQ_SYNTAX_SPARQL), "sparql");
    assert_string_equal(acq_syntax_get_name(ACQ_N_SYNTAXES), "unknown");
}

/* 1000 negations are within the limit as text; SPARQL and the benchmark need more levels. */
static void test_text_that_could_not_be_read_again_is_not_written(void **state)
{
    char in[ACQ_MOST_NESTING + 32];
    acq_query *query = NULL;
    acq_text text;
    acq_error error = {0};
    (void)state;
    memset(in, '!', ACQ_MOST_NESTING);
    strcpy(in + ACQ_MOST_NESTING, "r(\"a\", \"b\")");
    acq_text_init(&text);
    assert_int_equal(acq_query_parse(in, strlen(in), &query, NULL), ACQ_OK);
    assert_true(check_round_trip(query, ACQ_SYNTAX_TEXT));
    acq_text_add(&text, "before");
    assert_int_equal(acq_query_print(query, ACQ_SYNTAX_SPARQL, &text, &error), ACQ_ERR_LIMIT);
    assert_string_equal(error.message, "in the sparql syntax the query would be nested 1003 levels "
                                       "deep, the limit is 1000; use another syntax");
    assert_int_equal(acq_query_print(query, ACQ_SYNTAX_BENCHMARK, &text, NULL), ACQ_ERR_LIMIT);
    assert_string_equal(text.bytes, "before");
    acq_text_deinit(&text);
    acq_query_free(query);
}

static void test_a_print_too_long_to_read_again_is_refused(void **state)
{
    enum { LONG = ACQ_MOST_TEXT - 100 };
    acq_query *query = NULL;
    acq_text in, out;
    acq_error error = {0};
    (void)state;
    acq_text_init(&in);
    acq_text_init(&out);
    acq_text_add(&in, "r(x,<");
    for (size_t i = 0; i < LONG; i++)
        acq_text_add_char(&in, '"');
    acq_text_add(&in, ">)");
    assert_int_equal(acq_query_parse(in.bytes, in.length, &query, NULL), ACQ_OK);
    assert_int_equal(acq_query_print(query, ACQ_SYNTAX_TEXT, &out, &error), ACQ_ERR_LIMIT);
    assert_non_null(strstr(error.message, "bytes, the limit is 16777216"));
    acq_text_deinit(&in);
    acq_text_deinit(&out);
    acq_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_query_survives_the_text_syntax),
        cmocka_unit_test(test_every_query_without_equality_survives_the_benchmark_syntax),
        cmocka_unit_test(test_every_query_that_sparql_can_say_survives_it),
        cmocka_unit_test(test_written_reading_is_a_copy),
        cmocka_unit_test(test_printed_forms),
        cmocka_unit_test(test_any_names_are_read_back),
        cmocka_unit_test(test_datalog_is_the_same_query),
        cmocka_unit_test(test_what_a_syntax_cannot_say_is_an_error_that_says_so),
        cmocka_unit_test(test_text_that_could_not_be_read_again_is_not_written),
        cmocka_unit_test(test_a_print_too_long_to_read_again_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
