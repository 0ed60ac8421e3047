/* base_text.c - growing strings and error details. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"

static void test_pieces_join_in_order(void **state)
{
    (void)state;
    acq_text text;
    acq_text_init(&text);
    acq_text_add(&text, "exists ");
    acq_text_add_char(&text, 'y');
    acq_text_add_bytes(&text, ". more", 2);
    acq_text_format(&text, "r%d(%s, %c)", 7, "x", 'y');
    assert_string_equal(text.bytes, "exists y. r7(x, y)");
    assert_int_equal(text.length, strlen(text.bytes));
    assert_int_equal(acq_text_finish(&text, NULL), ACQ_OK);
    acq_text_deinit(&text);
}

static void test_clear_keeps_the_memory(void **state)
{
    (void)state;
    acq_text text;
    acq_text_init(&text);
    acq_text_clear(&text);
    for (int i = 0; i < 1000; i++)
        acq_text_add(&text, "0123456789");
    size_t capacity = text.capacity;
    acq_text_clear(&text);
    assert_string_equal(text.bytes, "");
    assert_int_equal(text.capacity, capacity);
    acq_text_deinit(&text);
}

static void test_take_gives_an_empty_string_for_nothing(void **state)
{
    (void)state;
    acq_text text;
    char *taken = NULL;
    acq_text_init(&text);
    assert_int_equal(acq_text_take(&text, &taken, NULL), ACQ_OK);
    assert_string_equal(taken, "");
    assert_null(text.bytes);
    acq_free(taken);
}

static void test_bytes_after_a_nul_are_kept(void **state)
{
    (void)state;
    acq_text text;
    acq_text_init(&text);
    acq_text_add_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.bytes, "a\0b", 4);
    acq_text_deinit(&text);
}

#define BAD    "\xC3(\xED\xA0\x80" /* a cut sequence, a surrogate */
#define MENDED "\xEF\xBF\xBD"

static void test_strings_are_written_for_json_markup_and_queries(void **state)
{
    acq_text text;
    (void)state;
    acq_text_init(&text);
    acq_text_add_json_mended(&text, "a\"\\\n\x7F\xC3\xA9" BAD);
    assert_string_equal(text.bytes, "\"a\\\"\\\\\\u000a\x7F\xC3\xA9"
                                    "\\ufffd(\\ufffd\\ufffd\\ufffd\"");
    acq_text_clear(&text);
    acq_text_add_markup(&text, "<a b='\"'>&\t\xC3\xA9" BAD, SIZE_MAX);
    assert_string_equal(text.bytes, "&#60;a b=&#39;&#34;&#39;&#62;&#38; \xC3\xA9" MENDED
                                    "(" MENDED MENDED MENDED);
    acq_text_clear(&text);
    acq_text_add_markup(&text, "\xC3\xA9 is cut", 4);
    acq_text_add_markup(&text, "|all", 4);
    assert_string_equal(text.bytes, "\xC3\xA9 is\xE2\x80\xA6|all");
    acq_text_clear(&text);
    acq_text_add_quoted(&text, "a\"\\\n\r\tb", 7);
    assert_string_equal(text.bytes, "\"a\\\"\\\\\\n\\r\\tb\"");
    acq_text_deinit(&text);
}

static void test_first_message_wins(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(acq_fail_at(&error, ACQ_ERR_PARSE, 3, 9, "no %s here", "tab"), ACQ_ERR_PARSE);
    assert_int_equal(acq_fail(&error, ACQ_ERR_IO, "later"), ACQ_ERR_IO);
    assert_int_equal(error.code, ACQ_ERR_PARSE);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 9);
    assert_string_equal(error.message, "no tab here");
    acq_error_set_file(&error, "first.tsv");
    acq_error_set_file(&error, "second.tsv");
    assert_string_equal(error.file, "first.tsv");
}

static void test_errors_without_details_and_long_ones_are_safe(void **state)
{
    (void)state;
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    acq_error error = {0};
    assert_int_equal(acq_fail(NULL, ACQ_ERR_INPUT, "%s", name), ACQ_ERR_INPUT);
    acq_error_set_file(NULL, name);
    acq_error_set_file(&error, name);
    assert_string_equal(error.file, "");
    acq_fail(&error, ACQ_ERR_INPUT, "%s", name);
    acq_error_set_file(&error, name);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
}

static void test_every_status_has_its_own_name(void **state)
{
    (void)state;
    for (int a = ACQ_OK; a <= ACQ_ERR_INTERNAL; a++) {
        for (int b = ACQ_OK; b < a; b++)
            assert_string_not_equal(acq_status_name((acq_status)a), acq_status_name((acq_status)b));
    }
}

#ifdef ACQ_FAULTS
static void test_a_failed_append_is_remembered(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        acq_text text;
        acq_error error = {0};
        char *taken = NULL;
        acq_text_init(&text);
        acq_faults_fail_at(n);
        acq_text_add(&text, "short");
        acq_text_format(&text, "%0400d", 1); /* more than the first block has */
        acq_faults_fail_at(0);
        acq_text_add(&text, "more");
        assert_true(text.failed);
        assert_int_equal(acq_text_take(&text, &taken, &error), ACQ_ERR_MEMORY);
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
        assert_null(taken);
        acq_text_clear(&text);
        acq_text_add(&text, "again");
        assert_string_equal(text.bytes, "again");
        acq_text_deinit(&text);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_join_in_order),
        cmocka_unit_test(test_clear_keeps_the_memory),
        cmocka_unit_test(test_take_gives_an_empty_string_for_nothing),
        cmocka_unit_test(test_bytes_after_a_nul_are_kept),
        cmocka_unit_test(test_strings_are_written_for_json_markup_and_queries),
        cmocka_unit_test(test_first_message_wins),
        cmocka_unit_test(test_errors_without_details_and_long_ones_are_safe),
        cmocka_unit_test(test_every_status_has_its_own_name),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_a_failed_append_is_remembered),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
