/* import_output.c - what may be in the place of the output: a store gives way, in one piece, if
 * nothing was changed in it or --replace is given; everything else stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "store/format.h"
#include "store/store.h"
#include "unit/import_case.h"

static const char *const OLD = "old.tsv", *const NEW = "new.tsv";

static acq_graph *open_graph(const char *path)
{
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_graph_open_path(path, NULL, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%s: %s", error.file, error.message);
    return graph;
}

/* Is the store the graph of the source? */
static void check_holds(const char *store, const char *source)
{
    acq_graph *want = open_graph(source), *got = open_graph(store);
    import_case_compare(want, got);
    acq_graph_free(want);
    acq_graph_free(got);
}

static void check_refused(const char *output, const acq_import_params *params, const char *message)
{
    acq_error error = {0};
    acq_status status = acq_import(&NEW, 1, output, params, NULL, &error);
    assert_int_not_equal(status, ACQ_OK);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s is not in: %s", message, error.message);
    assert_int_equal(error.code, status);
    assert_false(import_case_exists("out/graph.partial"));
}

static void change_fact(const char *store, const char *head, bool is_added)
{
    acq_store_writer *writer = NULL;
    acq_error error = {0};
    acq_store_fact fact = {.head = head, .relation = "relation 0", .tail = "entity 1"};
    if (acq_store_writer_open(store, &writer, &error) != ACQ_OK ||
        (is_added ? acq_store_add : acq_store_remove)(writer, &fact, 1, NULL, NULL, &error) !=
            ACQ_OK)
        fail_msg("%s", error.message);
    acq_store_writer_free(writer);
}

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 22);
    *n = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void remove_output(void)
{
    assert_int_equal(unlink("out/graph"), 0);
    unlink("out/graph-wal");
    unlink("out/graph-shm");
    assert_int_equal(import_case_count_files("out"), 0);
}

static void test_a_store_without_changes_gives_way(void **state)
{
    (void)state;
    import_case_run(OLD, "out/graph", NULL);
    check_holds("out/graph", OLD);
    struct stat before, after;
    stat("out/graph", &before);
    acq_graph *reader = open_graph("out/graph"), *want = open_graph(OLD);
    import_case_run(NEW, "out/graph", NULL);
    stat("out/graph", &after);
    assert_int_equal(before.st_ino, after.st_ino);
    check_holds("out/graph", NEW);
    /* Links are loaded now, when the file has long been replaced. */
    import_case_compare(want, reader);
    acq_graph_free(reader);
    acq_graph_free(want);
    import_case_run(OLD, "out/graph", NULL);
    check_holds("out/graph", OLD);
    assert_int_equal(acq_store_verify("out/graph", NULL, NULL, NULL), ACQ_OK);
    remove_output();
}

static void test_a_store_with_changes_wants_to_be_asked(void **state)
{
    (void)state;
    acq_import_params replace = {.replace = true};
    import_case_run(OLD, "out/graph", NULL);
    change_fact("out/graph", "somebody new", true);
    check_refused("out/graph", NULL, "added to this store");
    acq_graph *graph = open_graph("out/graph");
    assert_int_not_equal(acq_graph_find_entity(graph, "somebody new", 12), ACQ_NO_ID);
    acq_graph_free(graph);
    import_case_run(NEW, "out/graph", &replace);
    check_holds("out/graph", NEW);
    /* A change that was taken back is none. */
    change_fact("out/graph", "entity 0", true);
    change_fact("out/graph", "entity 0", false);
    change_fact("out/graph", "entity 0", true);
    check_refused("out/graph", NULL, "added to this store");
    change_fact("out/graph", "entity 0", false);
    remove_output();
}

static void test_other_files_are_kept(void **state)
{
    (void)state;
    acq_import_params replace = {.replace = true};
    write_file("out/graph", "my notes", 8);
    check_refused("out/graph", &replace, "not a store");
    write_file("out/graph", "", 0);
    check_refused("out/graph", &replace, "not a store");
    unlink("out/graph");
    assert_int_equal(mkdir("out/graph", 0777), 0);
    check_refused("out/graph", &replace, "folder");
    assert_int_equal(rmdir("out/graph"), 0);
    check_refused("/dev/null", &replace, "not a regular file");
    run_sql("out/graph", "CREATE TABLE mine(a); INSERT INTO mine VALUES(1)");
    size_t n, m;
    char *before = read_file("out/graph", &n);
    check_refused("out/graph", &replace, "not a store");
    char *after = read_file("out/graph", &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
    remove_output();
}

static void test_broken_and_newer_stores_are_kept(void **state)
{
    (void)state;
    acq_import_params replace = {.replace = true};
    import_case_run(OLD, "out/graph", NULL);
    run_sql("out/graph", "PRAGMA user_version = 99");
    check_refused("out/graph", &replace, "newer");
    run_sql("out/graph", "PRAGMA user_version = 2; UPDATE meta SET value = 7 WHERE name = 'facts'");
    check_refused("out/graph", &replace,
                  "a store that cannot be read is in the way; move it, or name another file (the "
                  "store is damaged");
    remove_output();
}

static void test_the_log_of_a_deleted_store_is_not_applied(void **state)
{
    (void)state;
    size_t n;
    import_case_run(OLD, "out/graph", NULL);
    /* A log as a killed writer leaves it: another connection keeps it from being folded in. */
    acq_graph *reader = open_graph("out/graph");
    change_fact("out/graph", "somebody new", true);
    char *log = read_file("out/graph-wal", &n);
    assert_true(n > 0);
    acq_graph_free(reader);
    remove_output();
    write_file("out/graph-wal", log, n);
    import_case_run(OLD, "out/graph", NULL);
    assert_false(import_case_exists("out/graph-wal"));
    check_holds("out/graph", OLD);
    free(log);
    remove_output();
}

/* Something that happens once, in the middle of an import. */
typedef struct event {
    const char *phase;
    void (*happen)(void);
    bool has_happened;
} event;

static bool let_happen(void *context, const acq_progress *now)
{
    event *e = context;
    if (!e->has_happened && strcmp(now->phase, e->phase) == 0) {
        e->has_happened = true;
        e->happen();
    }
    return true;
}

static acq_status import_with(event *e, acq_error *error)
{
    acq_import_params params = {.read = {.progress = let_happen, .context = e, .threads = 1}};
    acq_status status = acq_import(&NEW, 1, "out/graph", &params, NULL, error);
    assert_true(e->has_happened);
    return status;
}

static void import_too(void)
{
    acq_error error = {0};
    assert_int_equal(acq_import(&OLD, 1, "out/graph", NULL, NULL, &error), ACQ_ERR_IO);
    assert_non_null(strstr(error.message, "another import"));
    assert_true(import_case_exists("out/graph.partial"));
}

static void test_a_second_import_is_refused(void **state)
{
    (void)state;
    static const char *const phases[] = {"reading", "sorting", "links", "names"};
    for (size_t i = 0; i < 4; i++) {
        event e = {.phase = phases[i], .happen = import_too};
        assert_int_equal(import_with(&e, NULL), ACQ_OK);
        check_holds("out/graph", NEW);
        remove_output();
    }
}

static void create_output(void)
{
    write_file("out/graph", "theirs", 6);
}

static void test_an_output_that_appears_meanwhile_is_kept(void **state)
{
    (void)state;
    event e = {.phase = "links", .happen = create_output};
    acq_error error = {0};
    size_t n;
    assert_int_equal(import_with(&e, &error), ACQ_ERR_IO);
    assert_non_null(strstr(error.message, "appeared"));
    char *bytes = read_file("out/graph", &n);
    assert_memory_equal(bytes, "theirs", 6);
    free(bytes);
    remove_output();
}

static void add_fact(void)
{
    change_fact("out/graph", "somebody new", true);
}

static void test_a_change_that_comes_meanwhile_is_kept(void **state)
{
    (void)state;
    acq_error error = {0};
    event e = {.phase = "links", .happen = add_fact};
    import_case_run(OLD, "out/graph", NULL);
    assert_int_equal(import_with(&e, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "added to this store"));
    acq_graph *graph = open_graph("out/graph");
    assert_int_not_equal(acq_graph_find_entity(graph, "somebody new", 12), ACQ_NO_ID);
    acq_graph_free(graph);
    remove_output();
}

/* Counts open files that have lost their names in the folder of the output, and those that SQLite
 * has opened elsewhere. */
typedef struct nameless {
    size_t in_folder, elsewhere;
} nameless;

static bool look_for_nameless(void *context, const acq_progress *now)
{
    nameless *seen = context;
    char link[64], path[4096];
    (void)now;
    for (int file = 3; file < 64; file++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t n = readlink(link, path, sizeof path - 1);
        path[n < 0 ? 0 : n] = '\0';
        seen->in_folder += strstr(path, "/out/.anycq-") != NULL && strstr(path, " (deleted)");
        seen->elsewhere += strstr(path, "etilqs_") != NULL;
    }
    return true;
}

static void test_temporary_files_are_in_the_folder_of_the_output(void **state)
{
    (void)state;
    const char *source = "long.tsv";
    nameless seen = {0};
    acq_import_params params = {
        .read = {.progress = look_for_nameless, .context = &seen, .threads = 2}};
    FILE *file = fopen(source, "w");
    for (int i = 0; i < 50000; i++)
        fprintf(file, "%0500d\tr\t%0500d\n", i * 7919 % 50000, i);
    fclose(file);
    import_case_run(source, "out/graph", &params);
    assert_true(seen.in_folder > 0);
    assert_int_equal(seen.elsewhere, 0);
    check_holds("out/graph", source);
    unlink(source);
    remove_output();
}

static void test_anybody_can_look_inside(void **state)
{
    (void)state;
    import_case_run(OLD, "out/graph", NULL);
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    assert_int_equal(sqlite3_open("out/graph", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT (SELECT * FROM pragma_integrity_check), "
                                        "(SELECT * FROM pragma_journal_mode), "
                                        "(SELECT * FROM pragma_page_size), "
                                        "(SELECT * FROM pragma_application_id), "
                                        "(SELECT value FROM meta WHERE name = 'sources')",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(rows, 0), "ok");
    assert_string_equal(sqlite3_column_text(rows, 1), "wal");
    assert_int_equal(sqlite3_column_int(rows, 2), ACQ_STORE_PAGE);
    assert_int_equal(sqlite3_column_int(rows, 3), ACQ_STORE_APPLICATION);
    assert_string_equal(sqlite3_column_text(rows, 4), OLD);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    remove_output();
}

static int enter(void **state)
{
    (void)state;
    const import_shape old = {400, 60, 3}, new = {5000, 2000, 12};
    import_case_enter();
    import_case_write(OLD, &old, 1);
    import_case_write(NEW, &new, 2);
    return mkdir("out", 0777);
}

static int leave(void **state)
{
    (void)state;
    import_case_leave();
    return 0;
}

static void write_triples(const char *path, const char *first, const char *second)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\tlikes\t%s\n", first, second);
    fclose(file);
}

/* The same names, in another order: each row has a right checksum, but of another import. */
static void test_a_row_of_another_import_is_damage(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    acq_error error = {0};
    write_triples("one.tsv", "Ann", "Bob");
    write_triples("two.tsv", "Bob", "Ann");
    import_case_run("one.tsv", "one.acq", NULL);
    import_case_run("two.tsv", "two.acq", NULL);
    assert_int_equal(sqlite3_open("one.acq", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "ATTACH 'two.acq' AS two; BEGIN; DELETE FROM entity;"
                                  "INSERT INTO entity SELECT * FROM two.entity; COMMIT",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    acq_graph *graph = open_graph("one.acq");
    (void)acq_graph_get_entity_name(graph, 0);
    assert_int_equal(acq_graph_get_failure(graph, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "an entity does not match its checksum"));
    acq_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_store_without_changes_gives_way),
        cmocka_unit_test(test_a_store_with_changes_wants_to_be_asked),
        cmocka_unit_test(test_a_row_of_another_import_is_damage),
        cmocka_unit_test(test_other_files_are_kept),
        cmocka_unit_test(test_broken_and_newer_stores_are_kept),
        cmocka_unit_test(test_the_log_of_a_deleted_store_is_not_applied),
        cmocka_unit_test(test_a_second_import_is_refused),
        cmocka_unit_test(test_an_output_that_appears_meanwhile_is_kept),
        cmocka_unit_test(test_a_change_that_comes_meanwhile_is_kept),
        cmocka_unit_test(test_temporary_files_are_in_the_folder_of_the_output),
        cmocka_unit_test(test_anybody_can_look_inside),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
