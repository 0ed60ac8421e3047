/* cli_json.c - JSON is whole or an error, whichever allocation fails, those inside jansson too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/report.h"

static json_t *make_object(void)
{
    json_t *list = json_array(), *object = json_object();
    for (int i = 0; i < 20; i++)
        json_array_append_new(list, json_real(i + .5));
    json_object_set_new(object, "name", acq_json_text("bad \xff byte"));
    json_object_set_new(object, "n", acq_json_count(7));
    json_object_set_new(object, "hash", acq_json_hash(255));
    json_object_set_new(object, "list", list);
    return object;
}

static void test_json_is_whole_or_fails(void **state)
{
    (void)state;
    acq_text whole, text;
    acq_json_init();
    acq_text_init(&whole);
    acq_json_add(&whole, make_object());
    assert_false(whole.failed);
#ifdef ACQ_FAULTS
    size_t n = 1, n_failed = 0;
    for (bool is_over = false; !is_over; n++) {
        acq_text_init(&text);
        acq_faults_fail_at(n);
        acq_json_add(&text, make_object());
        is_over = acq_faults_count() < n;
        acq_faults_fail_at(0);
        n_failed += text.failed;
        assert_true(text.failed || strcmp(text.bytes, whole.bytes) == 0);
        acq_text_deinit(&text);
    }
    assert_true(n_failed > 20);
#endif
    acq_text_init(&text);
    acq_json_add(&text, make_object()); /* a failure is told once */
    assert_string_equal(text.bytes, whole.bytes);
    acq_text_deinit(&text);
    acq_text_deinit(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_is_whole_or_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
