/* `anycq eval` from the outside: objects on stdout, notes on stderr, exit codes. The first
 * argument is the command. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>
#include <jansson.h>

#define GRAPH ACQ_SOURCE_DIR "/tests/data/bench/graph/"

typedef struct outcome {
    int code;
    char text[16384];
} outcome;

/* Runs `anycq eval ARGUMENTS`, in which @ stands for the folder of the graph. */
static outcome run(void **state, const char *arguments)
{
    outcome result = {0};
    char line[8192];
    size_t n = (size_t)snprintf(line, sizeof line, "'%s' eval ", (const char *)*state);
    for (; *arguments != '\0'; arguments++) {
        const char one[2] = {*arguments, '\0'};
        n += (size_t)snprintf(line + n, sizeof line - n, "%s", *one == '@' ? GRAPH : one);
    }
    FILE *stream = popen(line, "r");
    assert_non_null(stream);
    size_t length = fread(result.text, 1, sizeof result.text - 1, stream);
    result.text[length] = '\0';
    int status = pclose(stream);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

static void assert_has(const outcome *result, const char *part)
{
    if (strstr(result->text, part) == NULL)
        fail_msg("no \"%s\" in: %s", part, result->text);
}

/* The i-th line as an object. */
static json_t *get_line(const outcome *result, int i)
{
    const char *line = result->text;
    for (; i > 0; i--)
        line = strchr(line, '\n') + 1;
    json_t *object = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(object);
    return object;
}

static void assert_number(const json_t *object, const char *name, double expected)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value) || fabs(json_number_value(value) - expected) > 1e-3)
        fail_msg("%s is not %g", name, expected);
}

static void test_json_has_one_line_per_file_and_a_total(void **state)
{
    outcome result = run(state, "qac --json --observed @train_kg.tsv --predictor observed "
                                "--queries @qac.json @qac.json 2>&-");
    assert_int_equal(result.code, 0);
    json_t *first = get_line(&result, 0), *total = get_line(&result, 2);
    assert_string_equal(json_string_value(json_object_get(first, "file")), "qac.json");
    assert_string_equal(json_string_value(json_object_get(first, "predictor")), "observed");
    assert_number(first, "f1", 25.0);
    assert_number(first, "f1_matched", 66.6667);
    assert_number(first, "instances", 6);
    assert_number(first, "prior", 0.5);
    assert_string_equal(json_string_value(json_object_get(total, "file")), "total");
    assert_number(total, "instances", 12);
    json_decref(first);
    json_decref(total);
}

static void test_csv_has_the_members_of_the_json(void **state)
{
    outcome result = run(state, "qac --output-format csv --observed @train_kg.tsv --predictor "
                                "observed --queries @qac.json 2>&-");
    assert_int_equal(result.code, 0);
    assert_has(&result, "task,file,engine,predictor,atoms,prior,queries,instances,f1,f1_matched,");
    assert_has(&result, "\nqac,qac.json,exact,observed,written,0.5,");
    assert_has(&result, ",6,25,66.6667,");
    assert_has(&result, "\nqac,total,");
}

static void test_truth_adds_the_verified_f1(void **state)
{
    outcome result =
        run(state, "qar --json --observed @train_kg.tsv --predictor perfect:@valid_kg.tsv "
                   "--truth @valid_kg.tsv --threads 2 --queries @qar.json 2>&-");
    assert_int_equal(result.code, 0);
    json_t *row = get_line(&result, 0);
    assert_number(row, "f1", 100.0);
    assert_number(row, "f1_verified", 100.0);
    assert_number(row, "recall_hard", 100.0);
    assert_number(row, "undecided", 0);
    json_decref(row);
}

static void test_first_limits_the_instances(void **state)
{
    outcome result = run(state, "qar --json --observed @train_kg.tsv --predictor observed "
                                "--first 1 --queries @qar.json 2>&-");
    json_t *row = get_line(&result, 0);
    assert_number(row, "instances", 1);
    assert_number(row, "queries", 1);
    json_decref(row);
}

static void test_table_has_the_always_yes_row_and_the_reading_is_said(void **state)
{
    outcome result = run(state, "qac --observed @train_kg.tsv --predictor observed "
                                "--queries @qac.json 2>&1");
    assert_int_equal(result.code, 0);
    assert_has(&result, "always yes");
    assert_has(&result, "total");
    assert_has(&result, "atoms read as written, which --atoms changes: qac.json");
    result = run(state, "qac --observed @train_kg.tsv --predictor observed --atoms pair --json "
                        "--queries @qac.json 2>&1");
    assert_has(&result, "\"atoms\": \"pair\"");
}

typedef struct refusal {
    const char *arguments, *message;
} refusal;

static void test_wrong_usage_exits_2_and_says_what_to_do(void **state)
{
    static const refusal cases[] = {
        {"qac --observed @train_kg.tsv --queries @qac.json", "--predictor observed, perfect:GRAPH"},
        {"qac --observed @train_kg.tsv --predictor auto --queries @qac.json", "predictor named"},
        {"qac --predictor observed --queries @qac.json", "--observed GRAPH"},
        {"qac --observed @train_kg.tsv --predictor observed", "--queries FILE"},
        {"abc --observed @train_kg.tsv --predictor observed --queries @qac.json", "\"abc\""},
        {"links --observed @train_kg.tsv --predictor observed", "--truth GRAPH"},
        {"qac --observed @train_kg.tsv --predictor observed --atoms all --queries @qac.json",
         "written, pair or ordered-pair"},
        {"qar --observed @train_kg.tsv --predictor observed --queries @qac.json",
         "formula 1, instance 1: member 3 is an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[1024];
        snprintf(arguments, sizeof arguments, "%s 2>&1", cases[i].arguments);
        outcome result = run(state, arguments);
        assert_int_equal(result.code, 2);
        assert_has(&result, cases[i].message);
    }
}

static const char *command;

static int set_command(void **state)
{
    *state = (void *)(uintptr_t)command;
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_has_one_line_per_file_and_a_total),
        cmocka_unit_test(test_csv_has_the_members_of_the_json),
        cmocka_unit_test(test_truth_adds_the_verified_f1),
        cmocka_unit_test(test_first_limits_the_instances),
        cmocka_unit_test(test_table_has_the_always_yes_row_and_the_reading_is_said),
        cmocka_unit_test(test_wrong_usage_exits_2_and_says_what_to_do),
    };
    if (argc != 2)
        return 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, set_command, NULL);
}
