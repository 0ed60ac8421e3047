/* units.c - the parts of the command that transcripts do not reach well: display width, wrapping,
 * the progress bar, near words, patterns and options. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/eval.h"
#include "cli/options.h"
#include "cli/pattern.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/table.h"

static void assert_shown(const char *text, const char *shown, size_t columns)
{
    acq_text out;
    acq_text_init(&out);
    acq_width_add(&out, text);
    assert_string_equal(out.bytes == NULL ? "" : out.bytes, shown);
    assert_int_equal(acq_width_of(text), columns);
    acq_text_deinit(&out);
}

static void test_width_counts_columns(void **state)
{
    (void)state;
    assert_shown("", "", 0);
    assert_shown("Paris", "Paris", 5);
    assert_shown("Dębica", "Dębica", 6);
    assert_shown("東京", "東京", 4);
    assert_shown("e\xcc\x81", "e\xcc\x81", 1);
    assert_shown("🎬", "🎬", 2);
}

static void test_unsafe_characters_are_shown_as_codes(void **state)
{
    (void)state;
    assert_shown("a\x1b[31m", "a\\x1b[31m", 9);
    assert_shown("a\tb\n", "a\\x09b\\x0a", 10);
    assert_shown("\xff\xfe", "\\xff\\xfe", 8);
    assert_shown("\xc0\x80", "\\xc0\\x80", 8);           /* overlong */
    assert_shown("\xed\xa0\x80", "\\xed\\xa0\\x80", 12); /* surrogate */
    assert_shown("a\xe2\x80\xae"
                 "b",
                 "a\\u{202e}b", 10);
    assert_shown("\xc2\x9b", "\\u{9b}", 6);
    assert_shown("\xe6\x9d", "\\xe6\\x9d", 8); /* cut off */
}

static void assert_cut(const char *text, size_t columns, const char *wanted)
{
    acq_text out;
    acq_text_init(&out);
    acq_width_add_cut(&out, text, columns);
    assert_string_equal(out.bytes == NULL ? "" : out.bytes, wanted);
    acq_text_deinit(&out);
}

static void test_cutting_keeps_the_width(void **state)
{
    (void)state;
    assert_cut("Paris", 5, "Paris");
    assert_cut("Paris", 4, "Par…");
    assert_cut("東京都", 6, "東京都");
    assert_cut("東京都", 5, "東京…");
    assert_cut("東京都", 4, "東…");
    assert_cut("Paris", 0, "");
}

static void test_cutting_the_middle_keeps_both_ends(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"abcdefgh", "abcdefgh"}, {"abcdefghij", "abc…ghij"}, {"東京東京東京", "東…東京"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        acq_text out;
        acq_text_init(&out);
        acq_width_add_cut_middle(&out, cases[i][0], 8);
        assert_string_equal(out.bytes, cases[i][1]);
        acq_text_deinit(&out);
    }
}

static void assert_wrapped(const char *text, size_t at, size_t indent, size_t columns,
                           const char *wanted)
{
    acq_text out;
    acq_text_init(&out);
    acq_width_wrap(&out, text, at, indent, columns);
    assert_string_equal(out.bytes == NULL ? "" : out.bytes, wanted);
    acq_text_deinit(&out);
}

static void test_wrapping_breaks_at_good_places(void **state)
{
    (void)state;
    assert_wrapped("one two three", 0, 2, 20, "one two three");
    assert_wrapped("one two three", 0, 2, 12, "one two\n  three");
    assert_wrapped("one two three", 0, 2, 13, "one two three");
    assert_wrapped("abcdefghijklmnop", 0, 0, 10, "abcdefghij\nklmnop");
    assert_wrapped("/film/film/genre", 0, 0, 12, "/film/film/\ngenre");
    assert_wrapped("東京東京東京", 0, 0, 9, "東京東京\n東京");
    assert_wrapped("", 0, 0, 10, "");
}

static void test_near_words_are_found(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"lmit", "limit", "limit"}, {"tiem", "time", "time"}, {"expl", "explain", "explain"},
        {"zzzz", "time", NULL},     {"", "time", NULL},       {"x", "all", NULL},
        {"alll", "all", "all"},     {"jsno", "json", "json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        acq_nearest nearest;
        acq_nearest_init(&nearest, cases[i][0]);
        acq_nearest_offer(&nearest, cases[i][1]);
        if (cases[i][2] == NULL)
            assert_null(nearest.best);
        else
            assert_string_equal(nearest.best, cases[i][2]);
    }
}

static void test_patterns_need_no_quotes(void **state)
{
    (void)state;
    acq_pattern p;
    assert_int_equal(acq_pattern_init(&p, ACQ_PATTERN_LINK, " r ( A(b, c), ? ) ", NULL), ACQ_OK);
    assert_string_equal(p.relation, "r");
    assert_string_equal(p.head, "A(b, c)");
    assert_true(p.tail == NULL && !p.is_inverse);
    acq_pattern_deinit(&p);
    assert_int_equal(
        acq_pattern_init(&p, ACQ_PATTERN_LINK, "inverse(\"+/film(x)\")(?, \"a \\\"b\\\"\")", NULL),
        ACQ_OK);
    assert_string_equal(p.relation, "+/film(x)");
    assert_string_equal(p.tail, "a \"b\"");
    assert_true(p.head == NULL && p.is_inverse);
    acq_pattern_deinit(&p);
    assert_int_equal(acq_pattern_init(&p, ACQ_PATTERN_LINK, "r(why?, ?)", NULL), ACQ_OK);
    assert_string_equal(p.head, "why?");
    acq_pattern_deinit(&p);
}

static void assert_fact(const char *text, const char *relation, const char *head, const char *tail,
                        bool is_inverse)
{
    acq_pattern p;
    acq_error error = {0};
    if (acq_pattern_init(&p, ACQ_PATTERN_FACT, text, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    assert_string_equal(p.relation, relation);
    assert_string_equal(p.head, head);
    assert_string_equal(p.tail, tail);
    assert_int_equal(p.is_inverse, is_inverse);
    acq_pattern_deinit(&p);
}

static void test_facts_are_spelled_as_in_queries(void **state)
{
    (void)state;
    assert_fact("r(a, b)", "r", "a", "b", false);
    assert_fact("  born in ( Christopher Nolan,London )", "born in", "Christopher Nolan", "London",
                false);
    assert_fact("r(Paris (Texas), b (c))", "r", "Paris (Texas)", "b (c)", false);
    assert_fact("r(\"a, b\", \"c, d\")", "r", "a, b", "c, d", false);
    assert_fact("\"r, (s)\"(a, \"?\")", "r, (s)", "a", "?", false);
    assert_fact("Inverse (r)(a, b)", "r", "a", "b", true);
    assert_fact("inverse( \"r)(\" )(a, b)", "r)(", "a", "b", true);
    assert_fact("\"inverse\"(a, b)", "inverse", "a", "b", false);
    assert_fact("<http://x/r(1)>(<http://x/a,b>, <http://x/c>)", "http://x/r(1)", "http://x/a,b",
                "http://x/c", false);
    assert_fact("r(\"\\\"1\\\"@en\", \"a\\tb\\\\\")", "r", "\"1\"@en", "a\tb\\", false);
}

static void assert_bad_pattern(acq_pattern_kind kind, const char *text)
{
    acq_pattern p;
    acq_error error = {0};
    if (acq_pattern_init(&p, kind, text, &error) == ACQ_OK)
        fail_msg("%s was taken", text);
    assert_int_equal(error.code, ACQ_ERR_PARSE);
    assert_true(error.column >= 1 && error.column <= strlen(text) + 1);
    acq_pattern_deinit(&p);
}

static void test_bad_patterns_do_not_read_past_their_end(void **state)
{
    (void)state;
    static const char *const both[] = {"",
                                       " ",
                                       "(",
                                       ")",
                                       "()",
                                       "r()",
                                       "r(?)",
                                       "r(?,",
                                       "inverse",
                                       "inverse()",
                                       "inverse(r)",
                                       "r(,?)",
                                       "r(?,)",
                                       "inverse(r(a, ?)",
                                       "\"r(a, ?)",
                                       "?",
                                       "inverse(",
                                       "r(?, ?)",
                                       "r(<>,?)",
                                       "r(\"\",?)",
                                       "<r(a, ?)",
                                       "r(?, \"a)",
                                       "r(\"a\\q\", ?)",
                                       "r(\"a\" b, ?)",
                                       "\"r\" s(a, ?)"};
    static const char *const facts[] = {
        "r(a)",      "r(a, b, c)",    "r(,b)",    "r(a,)",           "r(?, b)",   "r(a, ?)",
        "r(\"a, b)", "r(a, \"b\" c)", "r(a, <b)", "r(\"a\" x, b)",   "r(<>, b)",  "r(\"\", b)",
        "(a, b)",    "\"\"(a, b)",    "r(a, b",   "inverse(r(a, b)", "r(a, b) x", "inverse(a, b)",
        "r(\"\\",    "r(a, \"\\\")"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        assert_bad_pattern(ACQ_PATTERN_LINK, both[i]);
        assert_bad_pattern(ACQ_PATTERN_FACT, both[i]);
    }
    assert_bad_pattern(ACQ_PATTERN_LINK, "r(a,b,c)");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        assert_bad_pattern(ACQ_PATTERN_FACT, facts[i]);
}

static acq_status parse(acq_options *options, acq_command_id command, int argc,
                        const char *const *argv)
{
    return acq_options_init(options, command, argc, (char *const *)argv, NULL);
}

static void test_options_have_their_defaults(void **state)
{
    (void)state;
    acq_options options;
    const char *const argv[] = {"g", "q"};
    assert_int_equal(parse(&options, ACQ_COMMAND_ask, 2, argv), ACQ_OK);
    assert_true(options.threshold == 0.5 && options.time == 60 && options.seed == 1);
    assert_string_equal(options.predictor, "auto");
    assert_false(acq_options_has(&options, threshold));
    assert_int_equal(options.args.n, 2);
    acq_options_deinit(&options);
}

static void test_last_value_counts_and_lists_collect(void **state)
{
    (void)state;
    acq_options options;
    const char *const argv[] = {"qac", "--time=1",  "--queries", "a.json",     "b.json", "--time",
                                "2",   "--queries", "c.json",    "--observed", "g"};
    assert_int_equal(parse(&options, ACQ_COMMAND_eval, 11, argv), ACQ_OK);
    assert_true(options.time == 2 && acq_options_has(&options, time));
    assert_int_equal(options.queries.n, 3);
    assert_string_equal(options.queries.items[1], "b.json");
    assert_int_equal(options.args.n, 1);
    acq_options_deinit(&options);
}

static void test_worst_exit_code_wins(void **state)
{
    (void)state;
    assert_int_equal(acq_report_worse(0, 1), 1);
    assert_int_equal(acq_report_worse(3, 1), 3);
    assert_int_equal(acq_report_worse(3, 2), 2);
    assert_int_equal(acq_report_worse(2, 4), 4);
    assert_int_equal(acq_report_worse(0, 0), 0);
}

static void test_progress_fits_a_line(void **state)
{
    (void)state;
    acq_bar progress = {.label = "qac_valid_3hub.json and more"};
    char line[160];
    size_t width = acq_bar_format(&progress, 250, 1000, 10.0, line, sizeof line);
    assert_string_equal(line, "qac_valid_3hub.json   [#######-----------------------]  25%  "
                              "250/1000  30 s left");
    assert_true(width <= ACQ_COLUMNS);
    acq_bar_format(&progress, 0, 0, 0.0, line, sizeof line);
    assert_non_null(strstr(line, "100%  0/0"));
    acq_bar_format(&progress, 1, 100, 600.0, line, sizeof line);
    assert_non_null(strstr(line, "h left"));
}

static void test_stages_tell_rate_and_time_left(void **state)
{
    (void)state;
    char line[160];
    acq_progress now = {.phase = "reading", .done = 25, .total = 100, .facts = 5000000};
    size_t width = acq_bar_format_stage(&now, 4.0, 5000000, line, sizeof line);
    assert_string_equal(line, "reading  [#######-----------------------]  25%  1.25 M "
                              "triples/s  12 s left");
    assert_true(width <= ACQ_COLUMNS);
    now = (acq_progress){.phase = "sorting", .done = 100, .total = 100, .facts = 5000000};
    acq_bar_format_stage(&now, 1.0, 0, line, sizeof line);
    assert_string_equal(line, "sorting  [##############################] 100%");
    now = (acq_progress){.phase = "reading", .facts = 1234};
    acq_bar_format_stage(&now, 2.0, 1234, line, sizeof line);
    assert_string_equal(line, "reading  1234 triples  617 triples/s");
}

static void assert_meter(const acq_train_meter *meter, const acq_progress *now, const char *wanted)
{
    acq_text line;
    acq_text_init(&line);
    acq_train_meter_print(meter, now, &line);
    assert_string_equal(line.bytes, wanted);
    assert_true(line.length < ACQ_COLUMNS);
    acq_text_deinit(&line);
}

static void test_progress_of_a_link_predictor_is_estimated_by_its_phase(void **state)
{
    (void)state;
    acq_train_meter meter = {.first_done = 2000, .first_seconds = 100, .seconds = 110};
    acq_progress now = {.phase = "training",
                        .done = 4500,
                        .total = 12000,
                        .text = "training  4.5 of 12.0 epochs  loss 3.211"};
    assert_meter(&meter, &now, "training  4.5 of 12.0 epochs  loss 3.211  30 s left");
    meter.limit = 115;
    assert_meter(&meter, &now, "training  4.5 of 12.0 epochs  loss 3.211  5 s left");
    meter = (acq_train_meter){.seconds = 7};
    now = (acq_progress){.phase = "mining rules", .done = 7000, .total = 237000};
    assert_meter(&meter, &now, "mining rules  4 min left");
}

/* The table of 20,000 rows that weigh a million each, and of none. */
static void test_reliability_tables_fit_80_columns(void **state)
{
    (void)state;
    acq_reliability table = {.weight = 13e9, .log_loss = 1e9, .base_log_loss = 2e9};
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++)
        table.bins[i] = (acq_reliability_bin){
            .low = i / 13.0, .high = (i + 1) / 13.0, .weight = 1e9, .n = 1000, .stated = 3e8};
    acq_text out;
    acq_text_init(&out);
    acq_reliability_view_print(&table, "links:", &out);
    int n_lines = 0;
    for (char *line = out.bytes, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        assert_true(end - line <= ACQ_COLUMNS);
        n_lines++;
    }
    assert_int_equal(n_lines, ACQ_RELIABILITY_BINS + 7);
    assert_non_null(strstr(out.bytes, "\nlog-loss 0.07692, of the base rates alone 0.15385\n"));
    acq_text_clear(&out);
    acq_reliability_view_print(&(acq_reliability){0}, "links:", &out);
    assert_null(strstr(out.bytes, "nan"));
    acq_text_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width_counts_columns),
        cmocka_unit_test(test_unsafe_characters_are_shown_as_codes),
        cmocka_unit_test(test_cutting_keeps_the_width),
        cmocka_unit_test(test_cutting_the_middle_keeps_both_ends),
        cmocka_unit_test(test_wrapping_breaks_at_good_places),
        cmocka_unit_test(test_near_words_are_found),
        cmocka_unit_test(test_patterns_need_no_quotes),
        cmocka_unit_test(test_facts_are_spelled_as_in_queries),
        cmocka_unit_test(test_bad_patterns_do_not_read_past_their_end),
        cmocka_unit_test(test_options_have_their_defaults),
        cmocka_unit_test(test_last_value_counts_and_lists_collect),
        cmocka_unit_test(test_worst_exit_code_wins),
        cmocka_unit_test(test_progress_fits_a_line),
        cmocka_unit_test(test_stages_tell_rate_and_time_left),
        cmocka_unit_test(test_progress_of_a_link_predictor_is_estimated_by_its_phase),
        cmocka_unit_test(test_reliability_tables_fit_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
