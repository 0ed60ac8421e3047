/* graph_read.c - what the readers make of names, several sources, bad lines and odd files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "graph/text/reader.h"

#define GOOD ACQ_SOURCE_DIR "/tests/data/graph/good/"

static acq_status read_text(const char *text, acq_text_syntax syntax, bool strict,
                            acq_graph **graph, acq_read_report *report, acq_error *error)
{
    acq_memory_source source = {
        .name = "text", .bytes = text, .length = strlen(text), .syntax = syntax};
    acq_read_params params = {.strict = strict};
    return acq_graph_read_memory(&source, &params, graph, report, error);
}

static acq_graph *must_read(const char *text, acq_text_syntax syntax)
{
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (read_text(text, syntax, true, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%zu:%zu: %s", error.line, error.column, error.message);
    return graph;
}

static void expect_fact(const acq_graph *graph, const char *head, const char *rel, const char *tail)
{
    acq_ent h = acq_graph_find_entity(graph, head, strlen(head));
    acq_rel r = acq_graph_find_relation(graph, rel, strlen(rel));
    acq_ent t = acq_graph_find_entity(graph, tail, strlen(tail));
    if (h == ACQ_NO_ID || r == ACQ_NO_ID || t == ACQ_NO_ID || !acq_graph_has_fact(graph, h, r, t))
        fail_msg("%s %s %s is missing", head, rel, tail);
}

static void test_csv_quotes_are_undone(void **state)
{
    (void)state;
    acq_graph *graph = must_read("\"Paris, Texas\",\"a \"\"big\"\" r\",\"two\r\nlines\"\r\n"
                                 "\"\"\"\",r,\"x\"\"\"\n a ,r,b\n",
                                 ACQ_COMMAS);
    expect_fact(graph, "Paris, Texas", "a \"big\" r", "two\r\nlines");
    expect_fact(graph, "\"", "r", "x\"");
    expect_fact(graph, " a ", "r", "b");
    acq_graph_free(graph);
}

static void test_tsv_names_are_taken_as_they_stand(void **state)
{
    (void)state;
    acq_graph *graph = must_read("\"a\"\t r\tb,c\r\nx\ry\tr\tz\r", ACQ_TABS);
    expect_fact(graph, "\"a\"", " r", "b,c");
    expect_fact(graph, "x\ry", "r", "z");
    acq_graph_free(graph);
}

static void test_ids_follow_the_order_of_first_mention(void **state)
{
    (void)state;
    acq_graph *graph = must_read("b\ts\ta\na\tr\tc\n", ACQ_TABS);
    assert_string_equal(acq_graph_get_entity_name(graph, 0), "b");
    assert_string_equal(acq_graph_get_entity_name(graph, 1), "a");
    assert_string_equal(acq_graph_get_entity_name(graph, 2), "c");
    assert_string_equal(acq_graph_get_relation_name(graph, 0), "s");
    assert_string_equal(acq_graph_get_relation_name(graph, 2), "r");
    acq_graph_free(graph);
}

typedef struct complaints {
    size_t n;
    size_t lines[16];
    char last[512];
} complaints;

static void note_bad(void *context, const acq_error *bad)
{
    complaints *all = context;
    assert_int_equal(bad->code, ACQ_ERR_PARSE);
    assert_string_equal(bad->file, "text");
    if (all->n < 16)
        all->lines[all->n] = bad->line;
    all->n++;
    snprintf(all->last, sizeof all->last, "%s", bad->message);
}

static void test_bad_lines_are_reported_and_left_out(void **state)
{
    (void)state;
    const char *text = "a\tr\tb\nbad\n\nc\tr\td\n\tr\td\ne\tr\tf\tg\n";
    acq_memory_source source = {.name = "text", .bytes = text, .length = strlen(text)};
    complaints all = {0};
    acq_read_params params = {.bad_line = note_bad, .context = &all};
    acq_graph *graph = NULL;
    acq_read_report report;
    assert_int_equal(acq_graph_read_memory(&source, &params, &graph, &report, NULL), ACQ_OK);
    assert_int_equal(all.n, 3);
    assert_int_equal(all.lines[0], 2);
    assert_int_equal(all.lines[1], 5);
    assert_int_equal(all.lines[2], 6);
    assert_int_equal(report.lines, 5);
    assert_int_equal(report.bad, 3);
    assert_int_equal(acq_graph_get_n_facts(graph), 2);
    assert_int_equal(acq_graph_get_n_entities(graph), 4);
    acq_graph_free(graph);
}

static void test_a_lost_quote_costs_one_line(void **state)
{
    (void)state;
    acq_graph *graph = NULL;
    acq_read_report report;
    assert_int_equal(
        read_text("a,r,b\nc,\"r,d\ne,r,f\ng,r,h\n", ACQ_COMMAS, false, &graph, &report, NULL),
        ACQ_OK);
    assert_int_equal(report.bad, 1);
    expect_fact(graph, "e", "r", "f");
    expect_fact(graph, "g", "r", "h");
    acq_graph_free(graph);
}

static void test_all_lines_bad_names_the_first(void **state)
{
    (void)state;
    acq_graph *graph = NULL;
    acq_error error = {0};
    assert_int_equal(read_text("\nx\ny\n", ACQ_TABS, false, &graph, NULL, &error), ACQ_ERR_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
    assert_string_equal(error.file, "text");
    assert_non_null(strstr(error.message, "2 of 2 lines are bad; the first: expected 3 fields"));
}

static void test_outputs_are_untouched_on_failure(void **state)
{
    (void)state;
    acq_graph *graph = NULL;
    acq_read_report report = {.lines = 77};
    assert_int_equal(read_text("a\n", ACQ_TABS, true, &graph, &report, NULL), ACQ_ERR_PARSE);
    assert_null(graph);
    assert_int_equal(report.lines, 77);
}

static void test_sources_merge_into_one_graph(void **state)
{
    (void)state;
    const char *const paths[] = {GOOD "two.tsv", GOOD "quoted.csv", GOOD "splits"};
    acq_graph *graph = NULL;
    acq_read_report report;
    assert_int_equal(acq_graph_read(paths, 3, NULL, &graph, &report, NULL), ACQ_OK);
    expect_fact(graph, "Paris", "capital_of", "France");
    expect_fact(graph, "Paris, Texas", "in", "the \"lone star\" state");
    expect_fact(graph, "a", "r", "b");
    assert_int_equal(report.lines, 5);
    acq_graph_free(graph);
}

static void test_benchmark_graphs_do_not_merge(void **state)
{
    (void)state;
    const char *const paths[] = {GOOD "two.tsv", GOOD "benchmark"};
    acq_graph *graph = NULL;
    acq_error error = {0};
    assert_int_equal(acq_graph_read(paths, 2, NULL, &graph, NULL, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "cannot be merged"));
    assert_non_null(strstr(error.file, "benchmark"));
    error = (acq_error){0};
    assert_int_equal(acq_graph_read(paths, 0, NULL, &graph, NULL, &error), ACQ_ERR_USAGE);
}

static void test_benchmark_ids_are_those_of_the_index(void **state)
{
    (void)state;
    const char *const paths[] = {GOOD "benchmark"};
    acq_read_params params = {.split = "valid"};
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_read(paths, 1, &params, &graph, NULL, NULL), ACQ_OK);
    assert_int_equal(acq_graph_find_entity(graph, "c", 1), 2);
    assert_int_equal(acq_graph_find_relation(graph, "+s", 2), 2);
    assert_int_equal(acq_graph_find_relation(graph, "-s", 2), 3);
    assert_true(acq_graph_is_named(graph, 3));
    assert_true(acq_graph_has_fact(graph, 0, 0, 1));
    assert_true(acq_graph_has_fact(graph, 2, 2, 2));
    acq_graph_free(graph);
}

static void test_a_pipe_is_read_as_tab_triples(void **state)
{
    (void)state;
    int ends[2];
    char path[64];
    const char *text = "a\tr\tb\nc\tr\td\n";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_read(paths, 1, NULL, &graph, NULL, NULL), ACQ_OK);
    expect_fact(graph, "c", "r", "d");
    acq_graph_free(graph);
    close(ends[0]);
}

static void test_an_unreadable_file_is_an_io_error(void **state)
{
    (void)state;
    char path[] = "unreadable-XXXXXX.tsv";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    assert_int_equal(write(file, "a\tr\tb\n", 6), 6);
    close(file);
    chmod(path, 0);
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (access(path, R_OK) == 0) {
        print_message("skipped: this user may read everything\n");
    } else {
        assert_int_equal(acq_graph_read(paths, 1, NULL, &graph, NULL, &error), ACQ_ERR_IO);
        assert_non_null(strstr(error.message, "cannot open the file"));
        assert_string_equal(error.file, path);
    }
    unlink(path);
}

static void test_files_that_vanish_or_are_folders_are_named(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t length = 0;
    acq_error missing = {0}, folder = {0};
    assert_int_equal(acq_file_read("no-such-file", &bytes, &length, &missing), ACQ_ERR_INPUT);
    assert_string_equal(missing.file, "no-such-file");
    assert_int_equal(acq_file_read(".", &bytes, &length, &folder), ACQ_ERR_IO);
    assert_non_null(strstr(folder.message, "cannot read the file"));
    assert_null(bytes);
}

static void keep_note(void *context, const acq_error *note)
{
    acq_text_format(context, "%zu: %s\n", note->line, note->message);
}

/* What a header changes: the facts, and what the caller is told. */
static void check_header(const char *text, acq_text_syntax syntax, bool no_header, const char *fact,
                         const char *noted)
{
    char head[20], relation[20], tail[20];
    acq_memory_source source = {
        .name = "text", .bytes = text, .length = strlen(text), .syntax = syntax};
    acq_text notes;
    acq_graph *graph = NULL;
    acq_error error = {0};
    acq_text_init(&notes);
    acq_text_add(&notes, "");
    acq_read_params params = {
        .strict = true, .no_header = no_header, .note = keep_note, .context = &notes};
    if (acq_graph_read_memory(&source, &params, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(sscanf(fact, "%19s %19s %19s", head, relation, tail), 3);
    acq_ent h = acq_graph_find_entity(graph, head, strlen(head));
    acq_ent t = acq_graph_find_entity(graph, tail, strlen(tail));
    acq_rel r = acq_graph_find_relation(graph, relation, strlen(relation));
    if (!acq_graph_has_fact(graph, h, r, t))
        fail_msg("%s: lacks %s", text, fact);
    if (strncmp(notes.bytes, noted, strlen(noted)) != 0 ||
        (noted[0] == '\0') != (notes.length == 0))
        fail_msg("%s: told \"%s\"", text, notes.bytes);
    acq_text_deinit(&notes);
    acq_graph_free(graph);
}

static void test_a_header_is_noted_and_left_out(void **state)
{
    (void)state;
    const char *told = "1: read as a header and left out; --no-header reads it as a fact\n";
    const char *ordered = "1: read as a header, which says the order of the columns;";
    check_header("head,relation,tail\na,r,b\n", ACQ_COMMAS, false, "a r b", told);
    check_header("\"Subject\",PREDICATE,\"object\"\r\na,r,b\r\n", ACQ_COMMAS, false, "a r b", told);
    check_header("h\tr\tt\na\tx\tb\n", ACQ_TABS, false, "a x b", told);
    check_header("\xEF\xBB\xBF#Source \t Type\tTARGET\na\tx\tb\n", ACQ_TABS, false, "a x b", told);
    check_header("\n\nhead\trelation\ttail\n\na\tx\tb\n", ACQ_TABS, false, "a x b", "3: read as");
    check_header(":START_ID;:END_ID;:TYPE\na;b;r\n", ACQ_COMMAS, false, "a r b", ordered);
    check_header("relation\thead\ttail\nr\ta\tb\n", ACQ_TABS, false, "a r b", ordered);
    /* Asked for, or a fact: alone, or of a relation that others have. */
    check_header("head,relation,tail\na,r,b\n", ACQ_COMMAS, true, "head relation tail", "");
    check_header("h\tr\tt\n", ACQ_TABS, false, "h r t", "");
    check_header("h\tr\tt\na\tr\tb\n", ACQ_TABS, false, "h r t", "");
    check_header("s\tp\ts\na\tr\tb\n", ACQ_TABS, false, "s p s", "");
    check_header("a\tr\tb\nhead\trelation\ttail\n", ACQ_TABS, false, "head relation tail", "");
}

static void test_a_header_in_other_words_is_doubted(void **state)
{
    (void)state;
    const char *told = "1: read as a fact, with names that the next lines lack;";
    struct {
        const char *first, *fact, *noted;
    } cases[] = {{"who;what;whom\n", "who what whom", told},
                 {"who;r;whom\n", "who r whom", ""},
                 {"a3;what;whom\n", "a3 what whom", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int n = 19; n <= 20; n++) {
            char text[512];
            int length = snprintf(text, sizeof text, "%s", cases[i].first);
            for (int j = 0; j < n; j++)
                length += snprintf(text + length, sizeof text - (size_t)length, "a%d;r;b\n", j);
            check_header(text, ACQ_COMMAS, false, cases[i].fact, n < 20 ? "" : cases[i].noted);
            check_header(text, ACQ_COMMAS, true, cases[i].fact, "");
        }
    }
}

static void test_lines_behind_a_header_keep_their_numbers(void **state)
{
    (void)state;
    const char *const texts[] = {"head\trelation\ttail\na\tr\tb\nbad\n",
                                 "head,relation,tail\na,r,b\nbad\n"};
    for (int i = 0; i < 2; i++) {
        acq_memory_source source = {.name = "text",
                                    .bytes = texts[i],
                                    .length = strlen(texts[i]),
                                    .syntax = i == 0 ? ACQ_TABS : ACQ_COMMAS};
        acq_graph *graph = NULL;
        acq_error error = {0};
        acq_read_params params = {.strict = true};
        assert_int_equal(acq_graph_read_memory(&source, &params, &graph, NULL, &error),
                         ACQ_ERR_PARSE);
        assert_int_equal(error.line, 3);
    }
}

static void test_semicolons_separate_where_commas_do_not(void **state)
{
    (void)state;
    check_header("a;r;b\nc;r;\"d;e\"\n", ACQ_COMMAS, false, "c r d;e", "");
    check_header("a;r;b,c\nd;r;e\n", ACQ_COMMAS, false, "a r b,c", "");
    check_header("a,r,b;c\nd,r,e\n", ACQ_COMMAS, false, "a r b;c", "");
    check_header("\"a;1\",r,b\n\"c;2\",r,d\n", ACQ_COMMAS, false, "a;1 r b", "");
}

static void test_columns_that_look_swapped_are_noted(void **state)
{
    (void)state;
    acq_text text;
    for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
        acq_text_init(&text);
        for (int i = 0; i < 200; i++)
            acq_text_format(&text,
                            is_swapped ? "e%1$d\tf%2$d\tknows%3$d\n" : "e%1$d\tknows%3$d\tf%2$d\n",
                            i, i, i % 3);
        check_header(text.bytes, ACQ_TABS, false, is_swapped ? "e3 f3 knows0" : "e3 knows0 f3",
                     is_swapped ? "0: columns swapped? The first 200 lines have 200 relations and "
                                  "only 3 tails; the order is head, relation, tail\n"
                                : "");
        acq_text_deinit(&text);
    }
}

static void test_an_index_may_hold_any_json(void **state)
{
    (void)state;
    const char *index =
        " \t{\"other\" : [1, -2.5e+3, {\"x\": [], \"y\": {}}, null, true, \"\\\"\"],\r\n"
        "\"r\":{\"+r\":0,\"-r\" : 1}, \"e\":{\"caf\\u00e9\":1, \"\\ud83d\\ude00\":0,\n"
        "\"a\\/\\\"\\\\\\n\":2}, \"empty\": {}}\n";
    acq_memory_source source = {.name = "kg.tsv",
                                .bytes = "0\t0\t1\n1\t1\t0\n",
                                .length = 12,
                                .index = index,
                                .index_length = strlen(index)};
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_graph_read_memory(&source, NULL, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%zu:%zu: %s", error.line, error.column, error.message);
    assert_string_equal(acq_graph_get_entity_key(graph, 0), "\xf0\x9f\x98\x80");
    assert_string_equal(acq_graph_get_entity_key(graph, 1), "caf\xc3\xa9");
    assert_string_equal(acq_graph_get_entity_key(graph, 2), "a/\"\\\n");
    acq_graph_free(graph);
    static const char *const bad[] = {"{",
                                      "{}x",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\":01}",
                                      "{\"a\":1.}",
                                      "{\"a\":-}",
                                      "{\"a\":1e}",
                                      "{\"a\":nul}",
                                      "{\"a\":[1 2]}",
                                      "{\"a\":[1,]}",
                                      "{\"a\":{]}",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"\\ud800\":1}",
                                      "{\"\\udc00\":1}",
                                      "{\"\\u12\":1}",
                                      "{\"\\ud800\\u0041\":1}",
                                      "{\"a\":\"",
                                      "[",
                                      "\"",
                                      "{\"e\":{},\"e\":{}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        source.index = bad[i];
        source.index_length = strlen(bad[i]);
        error = (acq_error){0};
        assert_int_equal(acq_graph_read_memory(&source, NULL, &graph, NULL, &error), ACQ_ERR_PARSE);
        assert_non_null(strstr(error.message, "not valid JSON"));
    }
}

static void test_a_pipe_is_read_once(void **state)
{
    (void)state;
    char path[] = "pipe-XXXXXX";
    const char *const paths[] = {path, "other.tsv", path};
    acq_graph *graph = NULL;
    acq_error error = {0};
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(acq_graph_read(paths, 3, NULL, &graph, NULL, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "name it once"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_quotes_are_undone),
        cmocka_unit_test(test_tsv_names_are_taken_as_they_stand),
        cmocka_unit_test(test_ids_follow_the_order_of_first_mention),
        cmocka_unit_test(test_bad_lines_are_reported_and_left_out),
        cmocka_unit_test(test_a_lost_quote_costs_one_line),
        cmocka_unit_test(test_all_lines_bad_names_the_first),
        cmocka_unit_test(test_outputs_are_untouched_on_failure),
        cmocka_unit_test(test_sources_merge_into_one_graph),
        cmocka_unit_test(test_benchmark_graphs_do_not_merge),
        cmocka_unit_test(test_benchmark_ids_are_those_of_the_index),
        cmocka_unit_test(test_a_pipe_is_read_as_tab_triples),
        cmocka_unit_test(test_an_unreadable_file_is_an_io_error),
        cmocka_unit_test(test_files_that_vanish_or_are_folders_are_named),
        cmocka_unit_test(test_a_header_is_noted_and_left_out),
        cmocka_unit_test(test_a_header_in_other_words_is_doubted),
        cmocka_unit_test(test_lines_behind_a_header_keep_their_numbers),
        cmocka_unit_test(test_semicolons_separate_where_commas_do_not),
        cmocka_unit_test(test_columns_that_look_swapped_are_noted),
        cmocka_unit_test(test_an_index_may_hold_any_json),
        cmocka_unit_test(test_a_pipe_is_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
