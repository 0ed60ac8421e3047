/* Printed rows: the table fits 80 columns, a JSON line is one valid object with the agreed fields.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "eval/eval.h"

static acq_eval_row qac_row(const char *file)
{
    acq_qac_metrics m = {100.0, 74.9, 100.0, 100.0, NAN};
    return (acq_eval_row){.task = ACQ_TASK_QAC,
                          .file = file,
                          .engine = "exact",
                          .predictor = "perfect:a \"graph\"\xff\n",
                          .atoms = "pair",
                          .prior = 0.5,
                          .min_p = NAN,
                          .n_queries = 300,
                          .n_sets = 123456,
                          .n_decisions = 9999999,
                          .qac = m,
                          .always_yes = m,
                          .auc_matched = 100.0,
                          .n_undecided = 99999,
                          .ms = {99.9994, 1.5, 2, 60000.25}};
}

static acq_eval_row qar_row(const char *file)
{
    acq_eval_row row = qac_row(file);
    row.task = ACQ_TASK_QAR;
    row.prior = NAN;
    row.qar = (acq_qar_metrics){100, 100, 100, 100, 100, 100, NAN};
    row.ms.mean = 0.245;
    row.n_undecided = 0;
    return row;
}

static void assert_fits(const acq_text *text)
{
    const char *line = text->bytes;
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        if (length > 80)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + 1;
    }
}

static void test_table_fits_80_columns(void **state)
{
    (void)state;
    acq_text text;
    acq_text_init(&text);
    acq_eval_row qac[] = {qac_row("qac_valid_type0001.json"),
                          qac_row("a_very_long_file_name_of_somebody_else.json"), qac_row("total")};
    acq_eval_print_table(&text, qac, 3);
    assert_fits(&text);
    assert_non_null(strstr(text.bytes, "qac_valid_type0001 2p"));
    assert_non_null(strstr(text.bytes, "\n  always yes"));
    acq_text_clear(&text);
    acq_eval_row qar[] = {qar_row("qar_valid_3hub_efo1.json"), qar_row("total")};
    acq_eval_print_table(&text, qar, 2);
    assert_fits(&text);
    acq_text_deinit(&text);
}

static json_t *load_line(const acq_eval_row *row)
{
    acq_text text;
    acq_text_init(&text);
    acq_eval_print_json(&text, row);
    assert_int_equal(text.bytes[text.length - 1], '\n');
    assert_ptr_equal(strchr(text.bytes, '\n'), text.bytes + text.length - 1);
    json_t *object = json_loads(text.bytes, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    acq_text_deinit(&text);
    return object;
}

static void assert_fields(json_t *object, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_object_get(object, names[i]) == NULL)
            fail_msg("no field %s", names[i]);
    assert_int_equal(json_object_size(object), n);
}

static void test_qac_line_has_exactly_the_agreed_fields(void **state)
{
    (void)state;
    static const char *const names[] = {
        "task",        "file",          "engine",  "predictor",  "atoms",          "prior",
        "queries",     "instances",     "f1",      "f1_matched", "wrong_accepted", "auc_matched",
        "recall_seen", "recall_unseen", "correct", "right",      "undecided",      "ms_mean",
        "ms_p50",      "ms_p99",        "ms_max",
    };
    acq_eval_row row = qac_row("x.json");
    json_t *object = load_line(&row);
    assert_fields(object, names, sizeof names / sizeof *names);
    assert_true(json_is_null(json_object_get(object, "recall_unseen")));
    assert_string_equal(json_string_value(json_object_get(object, "predictor")),
                        "perfect:a \"graph\"\xef\xbf\xbd\n");
    assert_int_equal(json_integer_value(json_object_get(object, "instances")), 9999999);
    json_decref(object);
}

static void test_qar_line_has_exactly_the_agreed_fields(void **state)
{
    (void)state;
    static const char *const names[] = {
        "task",        "file",      "engine",      "predictor", "atoms",  "prior",
        "queries",     "instances", "f1",          "precision", "recall", "recall_easy",
        "recall_hard", "f1_paper",  "f1_verified", "correct",   "right",  "easy",
        "undecided",   "ms_mean",   "ms_p50",      "ms_p99",    "ms_max",
    };
    acq_eval_row row = qar_row("total");
    json_t *object = load_line(&row);
    assert_fields(object, names, sizeof names / sizeof *names);
    assert_true(json_is_null(json_object_get(object, "f1_verified")));
    assert_string_equal(json_string_value(json_object_get(object, "file")), "total");
    json_decref(object);
}

static void test_policy_adds_weights_classes_and_operations(void **state)
{
    (void)state;
    acq_eval_row row = qac_row("total");
    json_t *plain = load_line(&row);
    row.weights = "m\\.st";
    row.classes_mean = 1204.5;
    row.gflop = 0.25;
    json_t *object = load_line(&row);
    assert_int_equal(json_object_size(object), json_object_size(plain) + 3);
    assert_string_equal(json_string_value(json_object_get(object, "weights")), "m\\.st");
    assert_true(json_real_value(json_object_get(object, "classes_mean")) == 1204.5);
    assert_true(json_real_value(json_object_get(object, "gflop")) == 0.25);
    json_decref(object);
    json_decref(plain);
    acq_text text;
    acq_text_init(&text);
    acq_eval_print_table(&text, &row, 1);
    assert_fits(&text);
    assert_non_null(strstr(text.bytes, "mean 1204.5; GFLOP: mean 0.2500\n"));
    acq_text_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_fits_80_columns),
        cmocka_unit_test(test_qac_line_has_exactly_the_agreed_fields),
        cmocka_unit_test(test_qar_line_has_exactly_the_agreed_fields),
        cmocka_unit_test(test_policy_adds_weights_classes_and_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
