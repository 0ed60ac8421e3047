/* graph_files.c - every file of tests/data/graph: good ones have the counts of their table, bad
 * ones the message of theirs, and a bad line alone never stops a tolerant reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/build.h"
#include "graph/text/read.h"

#define DATA ACQ_SOURCE_DIR "/tests/data/graph/"

enum { COLUMNS = 8, LINE = 2000 };

typedef void (*row_fn)(char *const *columns);

/* Calls `check` for each line of a table; columns are separated by tabs. */
static size_t each_row(const char *table, size_t n_columns, row_fn check)
{
    FILE *file = fopen(table, "r");
    char line[LINE];
    size_t n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *columns[COLUMNS] = {line};
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        for (size_t i = 1; i < n_columns; i++) {
            char *tab = strchr(columns[i - 1], '\t');
            assert_non_null(tab);
            *tab = '\0';
            columns[i] = tab + 1;
        }
        check(columns);
        n++;
    }
    fclose(file);
    return n;
}

static acq_status read_one(const char *folder, char *const *columns, bool strict, acq_graph **graph,
                           acq_read_report *report, acq_error *error)
{
    char path[LINE];
    snprintf(path, sizeof path, DATA "%s/%s", folder, columns[0]);
    const char *const paths[] = {path};
    acq_read_params params = {.strict = strict, .split = columns[1][0] == '-' ? NULL : columns[1]};
    return acq_graph_read(paths, 1, &params, graph, report, error);
}

static void expect_number(const char *path, const char *what, uint64_t found, const char *wanted)
{
    if (found != strtoull(wanted, NULL, 10))
        fail_msg("%s: %llu %s, expected %s", path, (unsigned long long)found, what, wanted);
}

static void check_whole(const char *path, const acq_graph *graph)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        if (!acq_links_check(links, &reason))
            fail_msg("%s: relation %u: %s", path, r, reason);
    }
    for (acq_ent e = 0; e < acq_graph_get_n_entities(graph); e++) {
        const char *name = acq_graph_get_entity_name(graph, e);
        assert_int_equal(acq_graph_find_entity(graph, name, strlen(name)), e);
    }
}

static void check_good(char *const *columns)
{
    acq_graph *graph = NULL;
    acq_read_report report;
    acq_error error = {0};
    if (read_one("good", columns, true, &graph, &report, &error) != ACQ_OK)
        fail_msg("%s: %zu:%zu: %s", columns[0], error.line, error.column, error.message);
    check_whole(columns[0], graph);
    expect_number(columns[0], "entities", acq_graph_get_n_entities(graph), columns[2]);
    expect_number(columns[0], "relation ids", acq_graph_get_n_relations(graph), columns[3]);
    expect_number(columns[0], "facts", acq_graph_get_n_facts(graph), columns[4]);
    expect_number(columns[0], "lines", report.lines, columns[5]);
    expect_number(columns[0], "duplicates", report.duplicates, columns[6]);
    expect_number(columns[0], "completed", report.completed, columns[7]);
    assert_int_equal(report.bad, 0);
    acq_graph_free(graph);
}

/* Full text of an error as the table has it, relative to the folder of bad files. */
static void write_error(const acq_error *error, char *out, size_t room)
{
    const char *file = error->file;
    if (strncmp(file, DATA "bad/", strlen(DATA "bad/")) == 0)
        file += strlen(DATA "bad/");
    snprintf(out, room, "%s:%zu:%zu: %s", file, error->line, error->column, error->message);
}

static void check_bad(char *const *columns)
{
    acq_graph *graph = NULL;
    acq_read_report report;
    acq_error error = {0};
    char text[LINE];
    acq_status status = read_one("bad", columns, true, &graph, &report, &error);
    if (status == ACQ_OK)
        fail_msg("%s: was read without complaint", columns[0]);
    write_error(&error, text, sizeof text);
    assert_null(graph);
    assert_int_equal(error.code, status);
    if (strcmp(acq_status_name(status), columns[2]) != 0 ||
        strncmp(text, columns[3], strlen(columns[3])) != 0)
        fail_msg("%s: %s: %s", columns[0], acq_status_name(status), text);
}

/* A bad line alone never stops the reading: either a graph comes out, or no line was good, or the
 * file as a whole cannot be read, which is what the table says. */
static void check_tolerant(char *const *columns)
{
    acq_graph *graph = NULL;
    acq_read_report report;
    acq_error error = {0};
    acq_status status = read_one("bad", columns, false, &graph, &report, &error);
    bool is_turtle = strstr(columns[3], "not valid T") != NULL;
    if (status == ACQ_OK) {
        assert_true(report.bad > 0 && !is_turtle);
        check_whole(columns[0], graph);
        acq_graph_free(graph);
    } else if (strstr(error.message, "no fact could be read,") != NULL) {
        assert_int_equal(status, ACQ_ERR_INPUT);
        assert_string_equal(columns[2], "parse");
    } else {
        assert_string_equal(acq_status_name(status), columns[2]);
        assert_true(status != ACQ_ERR_PARSE || is_turtle || strstr(columns[3], "JSON") != NULL ||
                    strstr(columns[0], ".ttl") != NULL);
    }
}

static void test_good_files_have_the_counts_of_their_table(void **state)
{
    (void)state;
    assert_true(each_row(DATA "good/expected.txt", 8, check_good) >= 54);
}

static void test_bad_files_give_the_message_of_their_table(void **state)
{
    (void)state;
    assert_true(each_row(DATA "bad/expected.txt", 4, check_bad) >= 270);
}

static void test_tolerant_reading_leaves_out_bad_lines_only(void **state)
{
    (void)state;
    each_row(DATA "bad/expected.txt", 4, check_tolerant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files_have_the_counts_of_their_table),
        cmocka_unit_test(test_bad_files_give_the_message_of_their_table),
        cmocka_unit_test(test_tolerant_reading_leaves_out_bad_lines_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
