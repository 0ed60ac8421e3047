/* store_upgrade.c - stores of format 1: read as they are, upgraded by the first change, and then
 * the same as new ones. The fixture is SQL text, so that it stays what it is. */
#include "unit/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

static char path[1024];

static void make_first(void)
{
    static char sql[16384];
    FILE *file = fopen(ACQ_SOURCE_DIR "/tests/data/store/format1.sql", "rb");
    assert_non_null(file);
    size_t n = fread(sql, 1, sizeof sql - 1, file);
    fclose(file);
    sql[n] = '\0';
    snprintf(path, sizeof path, "%s", case_path("first.acq"));
    unlink(path);
    case_run_sql(path, sql);
}

static void add(acq_graph_builder *builder, const char *head, const char *relation,
                const char *tail)
{
    acq_ent h, t;
    acq_rel r;
    assert_int_equal(acq_graph_builder_add_entity(builder, head, strlen(head), &h), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, relation, strlen(relation), &r),
                     ACQ_OK);
    assert_int_equal(acq_graph_builder_add_entity(builder, tail, strlen(tail), &t), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
}

/* What the fixture holds, and one more fact if it was added. */
static acq_graph *make_expected(bool has_more)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_ent ignored;
    add(builder, "Paris", "capital_of", "France");
    add(builder, "Berlin", "capital_of", "Germany");
    assert_int_equal(acq_graph_builder_add_entity(builder, "Lyon", 4, &ignored), ACQ_OK);
    add(builder, "Paris", "city_in", "France");
    add(builder, "Berlin", "city_in", "Germany");
    add(builder, "Hamburg", "city_in", "Germany");
    add(builder, "Bonn", "city_in", "Germany");
    if (has_more)
        add(builder, "Rome", "capital_of", "Italy");
    OK(acq_graph_builder_finish(builder, &graph, e));
    acq_graph_builder_free(builder);
    return graph;
}

static void expect(bool has_more, uint32_t format)
{
    acq_graph *expected = make_expected(has_more);
    acq_store_info info;
    case_expect_store(path, expected);
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.format, format);
    acq_graph_free(expected);
}

static void test_format_1_is_read_as_it_is(void **state)
{
    (void)state;
    make_first();
    expect(false, 1);
    acq_graph *graph = NULL;
    OK(acq_store_open(path, &graph, e));
    assert_string_equal(acq_graph_suggest_entity(graph, "Pariss", 6), "Paris");
    acq_graph_free(graph);
}

static void test_a_change_upgrades(void **state)
{
    (void)state;
    acq_store_writer *writer = NULL;
    acq_store_fact fact = {.head = "Rome", .relation = "capital_of", .tail = "Italy"};
    make_first();
    OK(acq_store_writer_open(path, &writer, e));
    expect(false, 1); /* not before */
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    expect(true, ACQ_STORE_FORMAT);
    OK(acq_store_compact(writer, NULL, e));
    expect(true, ACQ_STORE_FORMAT);
    acq_store_writer_free(writer);
}

static void test_a_compaction_upgrades(void **state)
{
    (void)state;
    acq_store_writer *writer = NULL;
    uint64_t n_folded = 0;
    make_first();
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_compact(writer, &n_folded, e));
    assert_int_equal(n_folded, 2);
    acq_store_writer_free(writer);
    expect(false, ACQ_STORE_FORMAT);
}

static void test_a_change_that_fails_does_not_upgrade(void **state)
{
    (void)state;
    acq_store_writer *writer = NULL;
    acq_store_fact bad = {.head = "Rome", .relation = "capital_of", .tail = ""};
    acq_store_fact good = {.head = "Rome", .relation = "capital_of", .tail = "Italy"};
    make_first();
    OK(acq_store_writer_open(path, &writer, e));
    assert_int_equal(acq_store_add(writer, &bad, 1, NULL, NULL, NULL), ACQ_ERR_USAGE);
    expect(false, 1);
    OK(acq_store_add(writer, &good, 1, NULL, NULL, e));
    expect(true, ACQ_STORE_FORMAT);
    acq_store_writer_free(writer);
}

static void test_a_reader_of_format_1_keeps_reading(void **state)
{
    (void)state;
    acq_store_writer *writer = NULL;
    acq_graph *reader = NULL, *expected = make_expected(false);
    acq_store_fact fact = {.head = "Rome", .relation = "capital_of", .tail = "Italy"};
    make_first();
    OK(acq_store_open(path, &reader, e));
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    case_expect_same(reader, expected);
    acq_graph_free(reader);
    acq_graph_free(expected);
    acq_store_writer_free(writer);
}

/* The schema of a file as one text. */
static void read_schema(const char *file, char *out, size_t room)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    size_t used = 0;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT type, name, tbl_name, sql FROM sqlite_schema "
                                        "ORDER BY name",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < 4; i++)
            used += (size_t)snprintf(out + used, room - used, "%s|",
                                     (const char *)sqlite3_column_text(rows, i));
    }
    assert_true(used < room);
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

static void test_an_upgraded_store_has_the_schema_of_a_new_one(void **state)
{
    (void)state;
    static char upgraded[8192], made[8192];
    acq_store_writer *writer = NULL;
    acq_graph *graph = make_expected(false);
    make_first();
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, NULL, 0, NULL, NULL, e));
    acq_store_writer_free(writer);
    read_schema(path, upgraded, sizeof upgraded);
    case_write_store(graph, case_path("new.acq"));
    acq_graph_free(graph);
    read_schema(case_path("new.acq"), made, sizeof made);
    assert_string_equal(upgraded, made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_1_is_read_as_it_is),
        cmocka_unit_test(test_a_change_upgrades),
        cmocka_unit_test(test_a_compaction_upgrades),
        cmocka_unit_test(test_a_change_that_fails_does_not_upgrade),
        cmocka_unit_test(test_a_reader_of_format_1_keeps_reading),
        cmocka_unit_test(test_an_upgraded_store_has_the_schema_of_a_new_one),
    };
    return cmocka_run_group_tests(tests, case_make_folder, case_remove_folder);
}
