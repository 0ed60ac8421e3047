/* cli_width.c - columns of names in many scripts; what would upset a terminal is shown as codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/table.h"

static const struct {
    const char *text;
    size_t columns;
} cases[] = {
    {"", 0},
    {"Zürich", 6},
    {"Zu\xcc\x88rich", 6},           /* u and its dots apart */
    {"東京", 4},                     /* wide */
    {"ｔ", 2},                       /* full width */
    {"서울", 4},                     /* Hangul syllables */
    {"🦊", 2},                     /* emoji */
    {"\xe0\xae\x95\xe0\xaf\x8d", 1}, /* Tamil letter and its virama */
    {"\xe0\xb8\x81\xe0\xb8\xb4", 1}, /* Thai letter and the vowel above */
    {"a\xe2\x80\x8b"
     "b",
     2},                 /* a space of no width */
    {"a\nb", 6},         /* a\x0ab */
    {"\xff", 4},         /* \xff */
    {"\xe2\x80\xae", 8}, /* \u{202e} */
    {"\xc2\x85", 6},     /* \u{85} */
};

static void test_padding_goes_to_a_column_or_nowhere(void **state)
{
    (void)state;
    acq_text text;
    acq_text_init(&text);
    acq_width_pad_to(&text, 3, 5);
    acq_width_pad_to(&text, 5, 5);
    acq_width_pad_to(&text, 6, 5); /* what is there is wider */
    assert_int_equal(text.length, 2);
    acq_text_deinit(&text);
}

static void test_columns_of_many_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (acq_width_of(cases[i].text) != cases[i].columns)
            fail_msg("case %zu has %zu columns", i, acq_width_of(cases[i].text));
}

static void expect_shown(const char *text, const char *expected)
{
    acq_text out;
    acq_text_init(&out);
    acq_width_add(&out, text);
    assert_string_equal(out.bytes, expected);
    acq_text_deinit(&out);
}

static void test_bytes_that_are_no_utf8_are_shown_one_by_one(void **state)
{
    (void)state;
    expect_shown("a\xc3", "a\\xc3");                          /* cut off */
    expect_shown("\xe6\x9d", "\\xe6\\x9d");                   /* cut off after two */
    expect_shown("\xc0\x80", "\\xc0\\x80");                   /* longer than needed */
    expect_shown("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* half of a pair */
    expect_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    expect_shown("\x1b[2J", "\\x1b[2J");
}

static void test_a_cut_stays_within_its_columns(void **state)
{
    (void)state;
    for (size_t columns = 1; columns < 12; columns++) {
        acq_text end, middle;
        acq_text_init(&end);
        acq_text_init(&middle);
        acq_width_add_cut(&end, "東京 Zürich 서울", columns);
        acq_width_add_cut_middle(&middle, "東京 Zürich 서울", columns);
        assert_true(acq_width_of(end.bytes) <= columns);
        assert_true(acq_width_of(middle.bytes) <= columns);
        acq_text_deinit(&end);
        acq_text_deinit(&middle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding_goes_to_a_column_or_nowhere),
        cmocka_unit_test(test_columns_of_many_scripts),
        cmocka_unit_test(test_bytes_that_are_no_utf8_are_shown_one_by_one),
        cmocka_unit_test(test_a_cut_stays_within_its_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
