/* cli_table.c - CSV and TSV: what needs quotes has them, every line has every cell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/table.h"

static const char lines[] =
    "{\"name\": \"a, \\\"b\\\"\", \"n\": 12345678, \"in\": {\"x\": 0.5, \"y\": null}, \"l\": [1]}\n"
    "{\"n\": -1, \"name\": \"t\\tl\\n\\\\\", \"in\": null, \"more\": 1}\n";

static void expect(char separator, const char *expected)
{
    acq_text out;
    acq_text_init(&out);
    acq_text_add(&out, lines);
    acq_table_from_json(&out, separator);
    assert_false(out.failed);
    assert_string_equal(out.bytes, expected);
    acq_text_deinit(&out);
}

static void test_objects_become_lines_of_the_first_ones_columns(void **state)
{
    (void)state;
    expect(',', "name,n,in.x,in.y\n\"a, \"\"b\"\"\",12345678,0.5,\n\"t\tl\n\\\",-1,,\n");
    expect('\t', "name\tn\tin.x\tin.y\na, \"b\"\t12345678\t0.5\t\nt\\tl\\n\\\\\t-1\t\t\n");
    expect('\0', lines);
}

static void test_an_empty_first_cell_keeps_its_separator(void **state)
{
    (void)state;
    acq_text out;
    acq_text_init(&out);
    acq_table table = {.out = &out, .separator = '\t'};
    acq_table_add_number(&table, (double)NAN);
    acq_table_add_text(&table, "");
    acq_table_add_count(&table, INT64_MAX);
    acq_table_end_line(&table);
    assert_string_equal(out.bytes, "\t\t9223372036854775807\n");
    acq_text_deinit(&out);
}

#ifdef ACQ_FAULTS
static void test_a_table_is_whole_or_fails(void **state)
{
    (void)state;
    bool is_over = false;
    for (size_t n = 1; !is_over; n++) {
        acq_text out;
        acq_text_init(&out);
        acq_text_add(&out, lines);
        acq_faults_fail_at(n);
        acq_table_from_json(&out, ',');
        is_over = acq_faults_count() < n;
        acq_faults_fail_at(0);
        assert_true(out.failed || strstr(out.bytes, "-1,,\n") != NULL);
        acq_text_deinit(&out);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_become_lines_of_the_first_ones_columns),
        cmocka_unit_test(test_an_empty_first_cell_keeps_its_separator),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_a_table_is_whole_or_fails),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
