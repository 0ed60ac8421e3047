/* base_locale.c - nothing that is written or read depends on the locale: run where numbers have a
 * decimal comma (a German locale, made with localedef in a temporary folder; skipped where that
 * cannot be done). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "calibrate/calibrator.h"

static char folder[] = "/tmp/anycq-locale-XXXXXX";

/* State: whether there is such a locale. */
static int enter_commas(void **state)
{
    static const char name[] = "de_DE.UTF-8";
    static bool has_commas;
    char command[200];
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/%s >%s/log 2>&1", folder,
             name, folder);
    has_commas = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                 setlocale(LC_ALL, name) != NULL && localeconv()->decimal_point[0] == ',';
    *state = &has_commas;
    return 0;
}

static int leave_commas(void **state)
{
    char command[80];
    (void)state;
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void need_commas(void **state)
{
    char text[8];
    if (!*(const bool *)*state)
        skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

static void test_numbers_have_a_point(void **state)
{
    need_commas(state);
    char buffer[32];
    acq_text text;
    acq_error error = {0};
    acq_text_init(&text);
    assert_int_equal(acq_format(buffer, sizeof buffer, "%g %.3f", 0.5, 2.25), 9);
    acq_text_format(&text, "%.17g", 0.1);
    (void)acq_fail(&error, ACQ_ERR_USAGE, "not %g", 1.5);
    assert_string_equal(buffer, "0.5 2.250");
    assert_string_equal(text.bytes, "0.10000000000000001");
    assert_string_equal(error.message, "not 1.5");
    acq_text_deinit(&text);
    snprintf(buffer, sizeof buffer, "%.1f", 0.5); /* the program's own numbers are left alone */
    assert_string_equal(buffer, "0,5");
}

static void test_numbers_come_back_to_the_last_bit(void **state)
{
    need_commas(state);
    acq_random random = acq_random_start(15, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t bits = acq_random_next(&random) & ~(1ULL << 62); /* finite */
        double number, back;
        char buffer[40], *end;
        memcpy(&number, &bits, sizeof number);
        acq_format(buffer, sizeof buffer, "%.17g;", number);
        back = acq_read_double(buffer, &end);
        assert_string_equal(end, ";");
        assert_memory_equal(&back, &number, sizeof back);
    }
    char *end;
    assert_true(acq_read_double("1,5", &end) == 1);
    assert_string_equal(end, ",5");
}

static void test_the_shipped_calibrator_is_read(void **state)
{
    need_commas(state);
    acq_calibrator *read = NULL, *again = NULL;
    acq_error error = {0};
    void *bytes = NULL;
    size_t length = 0;
    acq_status status = acq_calibrator_read(
        ACQ_SOURCE_DIR "/models/ultra-anycq-calibrator.safetensors", &read, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, ACQ_OK);
    assert_true(read->unsupported_balanced > 0 && read->unsupported_balanced < 1);
    assert_int_equal(acq_calibrator_write_memory(read, &bytes, &length, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_read_memory(bytes, length, "memory", &again, NULL), ACQ_OK);
    assert_true(again->unsupported_balanced == read->unsupported_balanced);
    acq_free(bytes);
    acq_calibrator_free(read);
    acq_calibrator_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_have_a_point),
        cmocka_unit_test(test_numbers_come_back_to_the_last_bit),
        cmocka_unit_test(test_the_shipped_calibrator_is_read),
    };
    return cmocka_run_group_tests(tests, enter_commas, leave_commas);
}
