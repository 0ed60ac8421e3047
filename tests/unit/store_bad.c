/* store_bad.c - files that are no stores, or bad ones, each with the message it must get.
 *
 * tests/data/store/bad/NAME.sql tampers with a small good store (make_good below). Its first line
 * is a comment with a part of the message that reading and verifying everything must end with;
 * lines
 * `-- seal rows|parts|changes` make the checksums right again at the end (store_seal.h). */
#include "unit/store_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/store_seal.h"

#define BAD ACQ_SOURCE_DIR "/tests/data/store/bad"

static char path[1024];

/* Entities a b c d e f (0 to 5), d shown as "Dora"; likes: a b, a c, b c, f a; knows: c a, d d.
 * The last of each waits as a change. */
static void make_good(void)
{
    static const char *const facts[][3] = {
        {"a", "likes", "b"}, {"a", "likes", "c"}, {"b", "likes", "c"}, {"c", "knows", "a"}};
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_store_writer *writer = NULL;
    for (acq_ent id = 0; id < 6; id++)
        OK(acq_graph_builder_set_entity(builder, id, &"a\0b\0c\0d\0e\0f"[2 * id], 1, e));
    assert_int_equal(acq_dictionary_add_label(acq_graph_builder_get_dictionary(builder), "d", 1,
                                              "Dora", 4, ACQ_LABEL_PLAIN),
                     ACQ_OK);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        acq_rel relation;
        assert_int_equal(acq_graph_builder_add_relation(builder, facts[i][1], 5, &relation),
                         ACQ_OK);
        assert_int_equal(acq_graph_builder_add_fact(builder, (acq_ent)(facts[i][0][0] - 'a'),
                                                    relation, (acq_ent)(facts[i][2][0] - 'a')),
                         ACQ_OK);
    }
    OK(acq_graph_builder_finish(builder, &graph, e));
    acq_graph_builder_free(builder);
    case_write_store(graph, path);
    acq_graph_free(graph);
    acq_store_fact changes[] = {{.head = "f", .relation = "likes", .tail = "a"},
                                {.head = "d", .relation = "knows", .tail = "Dora"}};
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, changes, 2, NULL, NULL, e));
    acq_store_writer_free(writer);
}

static bool visit(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)context;
    (void)entity;
    (void)name;
    return length > 0;
}

/* Asks a graph for all it has; the first error, if any. */
static acq_status read_graph(const acq_graph *graph, acq_error *error)
{
    acq_status status = ACQ_OK;
    const acq_links *links = NULL;
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(graph); r++)
        status = acq_graph_open_links(graph, r, &links, error);
    for (acq_ent id = 0; status == ACQ_OK && id < acq_graph_get_n_entities(graph); id++) {
        const char *key = acq_graph_get_entity_key(graph, id);
        acq_graph_find_entity(graph, key, strlen(key));
        status = acq_graph_get_failure(graph, error);
    }
    if (status == ACQ_OK)
        status = acq_graph_each_name(graph, "", 0, visit, NULL, error);
    return status == ACQ_OK ? acq_graph_each_name(graph, "D", 1, visit, NULL, error) : status;
}

static acq_status read_all(acq_error *error)
{
    acq_graph *graph = NULL;
    acq_status status = acq_store_open(path, &graph, error);
    if (status == ACQ_OK)
        status = read_graph(graph, error);
    acq_graph_free(graph);
    return status == ACQ_OK ? acq_store_verify(path, NULL, NULL, error) : status;
}

static char *read_script(const char *name)
{
    char file[1024];
    snprintf(file, sizeof file, BAD "/%s", name);
    FILE *in = fopen(file, "rb");
    char *text = test_calloc(1, 8192);
    assert_non_null(in);
    assert_true(fread(text, 1, 8191, in) > 0);
    fclose(in);
    return text;
}

static void tamper(const char *name, const char *script)
{
    acq_db db;
    char *message = NULL;
    OK(acq_db_open(&db, path, ACQ_DB_WRITE, e));
    seal_add_functions(db.handle);
    if (sqlite3_exec(db.handle, script, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", name, message);
    if (strstr(script, "-- seal rows") != NULL)
        seal(&db, SEAL_ROWS);
    if (strstr(script, "-- seal parts") != NULL)
        seal(&db, SEAL_PARTS);
    if (strstr(script, "-- seal changes") != NULL)
        seal(&db, SEAL_CHANGES);
    acq_db_close(&db);
}

static void expect_message(const char *name, acq_status status, const acq_error *error,
                           const char *expected)
{
    if (status == ACQ_OK || strstr(error->message, expected) == NULL)
        fail_msg("%s: got \"%s\", expected \"%s\"", name, error->message, expected);
    assert_int_equal(error->code, status);
    assert_string_equal(error->file, path);
}

static void check_script(const char *name)
{
    char *script = read_script(name), expected[512] = "";
    acq_error error = {0};
    assert_int_equal(sscanf(script, "-- %511[^\n]", expected), 1);
    make_good();
    tamper(name, script);
    expect_message(name, read_all(&error), &error, expected);
    test_free(script);
}

static int is_script(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".sql") == 0;
}

static void test_tampered_stores_get_their_messages(void **state)
{
    (void)state;
    struct dirent **scripts = NULL;
    int n = scandir(BAD, &scripts, is_script, alphasort);
    assert_true(n >= 45);
    for (int i = 0; i < n; i++) {
        check_script(scripts[i]->d_name);
        free(scripts[i]);
    }
    free(scripts);
    print_message("%d bad stores\n", n);
}

static void test_the_good_store_is_good(void **state)
{
    (void)state;
    acq_error error = {0};
    make_good();
    tamper("nothing", "ANALYZE; VACUUM; -- seal changes");
    if (read_all(&error) != ACQ_OK)
        fail_msg("%s", error.message);
}

static void write_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* The same message from everything that opens a store. */
static void expect_refused(acq_status code, const char *message)
{
    acq_error errors[4] = {{0}};
    acq_graph *graph = NULL;
    acq_store_writer *writer = NULL;
    acq_store_info info;
    assert_int_equal(acq_store_open(path, &graph, &errors[0]), code);
    assert_int_equal(acq_store_writer_open(path, &writer, &errors[1]), code);
    assert_int_equal(acq_store_read_info(path, &info, &errors[2]), code);
    assert_int_equal(acq_store_verify(path, NULL, NULL, &errors[3]), code);
    for (int i = 0; i < 4; i++)
        expect_message("file", code, &errors[i], message);
    assert_null(graph);
    assert_null(writer);
}

static void test_files_that_are_no_stores(void **state)
{
    (void)state;
    unlink(path);
    expect_refused(ACQ_ERR_IO, "cannot open the store: No such file or directory");
    write_bytes("", 0);
    expect_refused(ACQ_ERR_INPUT, "the file is empty; name the file that anycq import made");
    write_bytes("a\tb\tc\n", 6);
    expect_refused(ACQ_ERR_INPUT, "this is not an anycq store; make one with anycq import");
    write_bytes("SQLite format 3", 16);
    expect_refused(ACQ_ERR_INPUT, "the store is cut off");
    char zeros[70000] = "SQLite format 3";
    write_bytes(zeros, sizeof zeros);
    expect_refused(ACQ_ERR_INPUT, "this is an SQLite database, but not an anycq store");
    memcpy(zeros + 68, "acqg", 4);
    write_bytes(zeros, sizeof zeros);
    expect_refused(ACQ_ERR_INPUT, "the store is damaged: file is not a database; restore it from "
                                  "a copy, or import its sources again");
    unlink(path);
    case_run_sql(path, "CREATE TABLE something(x); INSERT INTO something VALUES(1)");
    expect_refused(ACQ_ERR_INPUT, "this is an SQLite database, but not an anycq store; make one "
                                  "with anycq import");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refused(ACQ_ERR_INPUT, "this is not a file; name the file that anycq import made");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refused(ACQ_ERR_INPUT, "this is not a file; name the file that anycq import made");
    assert_int_equal(unlink(path), 0);
}

static void test_a_foreign_database_is_left_as_it_is(void **state)
{
    (void)state;
    acq_store_writer *writer = NULL;
    char before[32768] = {0}, after[32768] = {0};
    unlink(path);
    case_run_sql(path, "CREATE TABLE something(x); INSERT INTO something VALUES(1)");
    FILE *file = fopen(path, "rb");
    size_t n = fread(before, 1, sizeof before, file);
    fclose(file);
    assert_int_equal(acq_store_writer_open(path, &writer, NULL), ACQ_ERR_INPUT);
    file = fopen(path, "rb");
    assert_int_equal(fread(after, 1, sizeof after, file), n);
    fclose(file);
    assert_memory_equal(before, after, n);
}

static void test_a_file_that_may_not_be_read_or_written(void **state)
{
    (void)state;
    acq_error error = {0};
    acq_store_writer *writer = NULL;
    acq_graph *graph = NULL;
    if (geteuid() == 0) {
        print_message("skipped: root may do anything\n");
        return;
    }
    make_good();
    assert_int_equal(chmod(path, 0), 0);
    expect_refused(ACQ_ERR_IO, "cannot read the store: Permission denied");
    assert_int_equal(chmod(path, 0400), 0);
    OK(acq_store_open(path, &graph, e));
    acq_graph_free(graph);
    assert_int_equal(acq_store_writer_open(path, &writer, &error), ACQ_ERR_IO);
    expect_message("read-only", ACQ_ERR_IO, &error,
                   "the store cannot be written; check the permissions of the file and of its "
                   "folder");
    assert_int_equal(chmod(path, 0600), 0);
}

/* SQLite keeps its files beside the store, not beside a link to it. */
static void test_the_log_is_beside_the_store_that_a_link_leads_to(void **state)
{
    (void)state;
    acq_store_fact fact = {.head = "e", .relation = "likes", .tail = "e"};
    acq_store_writer *writer = NULL;
    acq_store_info direct, linked;
    make_good();
    assert_int_equal(symlink(path, case_path("link.acq")), 0);
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_read_info(path, &direct, e));
    OK(acq_store_read_info(case_path("link.acq"), &linked, e));
    acq_store_writer_free(writer);
    assert_true(direct.wal_bytes > 0);
    assert_true(linked.wal_bytes == direct.wal_bytes);
    assert_int_equal(unlink(case_path("link.acq")), 0);
}

/* As on a medium that cannot be written, there or through a link from elsewhere. */
static void test_a_store_in_a_folder_that_may_not_be_written(void **state)
{
    (void)state;
    acq_graph *graph = NULL;
    acq_error error = {0};
    char folder[1024], name[64], elsewhere[] = "/tmp/store-link-XXXXXX";
    if (geteuid() == 0) {
        print_message("skipped: root may do anything\n");
        return;
    }
    make_good();
    snprintf(folder, sizeof folder, "%s", case_path(""));
    assert_int_equal(chmod(folder, 0500), 0);
    acq_status opened = acq_store_open(path, &graph, &error);
    acq_status read = opened == ACQ_OK ? read_graph(graph, &error) : opened;
    assert_non_null(mkdtemp(elsewhere));
    snprintf(name, sizeof name, "%s/link.acq", elsewhere);
    assert_int_equal(symlink(path, name), 0);
    acq_status verified = acq_store_verify(name, NULL, NULL, &error);
    unlink(name);
    rmdir(elsewhere);
    assert_int_equal(chmod(folder, 0700), 0);
    if (read != ACQ_OK || verified != ACQ_OK)
        fail_msg("%s", error.message);
    acq_graph_free(graph);
}

enum { NOBODY = 65534 };

/* Who may only read: somebody else, or the owner of a folder that may not be written. */
static void become_reader(const char *folder)
{
    assert_int_equal(chmod(folder, geteuid() == 0 ? 0755 : 0500), 0);
    if (geteuid() == 0)
        assert_int_equal(setresuid(NOBODY, NOBODY, 0), 0);
}

static void become_owner(const char *folder, uid_t owner)
{
    if (owner == 0)
        assert_int_equal(setresuid(0, 0, 0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
}

static acq_status load_links(acq_graph *graph, acq_error *error)
{
    const acq_links *links = NULL;
    return acq_graph_open_links(graph, 0, &links, error);
}

static void test_a_log_beside_a_store_in_a_folder_that_may_not_be_written(void **state)
{
    (void)state;
    acq_store_fact fact = {.head = "e", .relation = "likes", .tail = "e"};
    acq_store_writer *writer = NULL;
    acq_graph *graph = NULL;
    acq_error error = {0};
    char folder[1024], copy[1100], command[8192];
    uid_t owner = geteuid();
    make_good();
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    /* As a copy of both files on a medium, without the -shm file. */
    snprintf(folder, sizeof folder, "%s", case_path("readonly"));
    snprintf(copy, sizeof copy, "%s/copy.acq", folder);
    snprintf(command, sizeof command,
             "mkdir '%s' && cp '%s' '%s' && cp '%s-wal' '%s-wal' && chmod 644 '%s'*", folder, path,
             copy, path, copy, copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(case_path(""), 0755), 0);
    become_reader(folder);
    acq_status status = acq_store_open(copy, &graph, &error);
    become_owner(folder, owner);
    acq_store_writer_free(writer);
    assert_int_equal(status, ACQ_ERR_IO);
    assert_non_null(strstr(error.message, "changes wait in its -wal file"));
}

/* There are no locks where nothing can be written beside the file. */
static void test_a_store_that_its_owner_changes_while_it_is_read_without_locks(void **state)
{
    (void)state;
    static const char changed[] = "the store was changed while it was read without locks";
    acq_store_fact fact = {.head = "e", .relation = "likes", .tail = "e"};
    acq_store_writer *writer = NULL;
    acq_graph *graphs[4] = {NULL};
    acq_error error = {0};
    char folder[1024];
    uid_t owner = geteuid();
    make_good();
    assert_int_equal(chmod(path, 0644), 0);
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}}; /* clocks are coarse */
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    snprintf(folder, sizeof folder, "%s", case_path(""));
    become_reader(folder);
    acq_status opened = ACQ_OK;
    for (int i = 0; opened == ACQ_OK && i < 4; i++)
        opened = acq_store_open(path, &graphs[i], &error);
    acq_status loaded = opened == ACQ_OK ? load_links(graphs[0], &error) : opened;
    become_owner(folder, owner);
    if (loaded != ACQ_OK)
        fail_msg("%s", error.message);
    OK(acq_store_writer_open(path, &writer, e));
    OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_compact(writer, NULL, e));
    acq_store_writer_free(writer);
    OK(load_links(graphs[0], e)); /* it has them already */
    expect_message("links", load_links(graphs[1], &error), &error, changed);
    error = (acq_error){0};
    assert_string_equal(acq_graph_get_entity_name(graphs[2], 0), "(unreadable)");
    expect_message("names", acq_graph_get_failure(graphs[2], &error), &error, changed);
    error = (acq_error){0};
    assert_int_equal(acq_graph_find_entity(graphs[3], "e", 1), ACQ_NO_ID);
    expect_message("look-ups", acq_graph_get_failure(graphs[3], &error), &error, changed);
    for (int i = 0; i < 4; i++)
        acq_graph_free(graphs[i]);
}

static int set_up(void **state)
{
    if (case_make_folder(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s", case_path("bad.acq"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_good_store_is_good),
        cmocka_unit_test(test_tampered_stores_get_their_messages),
        cmocka_unit_test(test_files_that_are_no_stores),
        cmocka_unit_test(test_a_foreign_database_is_left_as_it_is),
        cmocka_unit_test(test_a_file_that_may_not_be_read_or_written),
        cmocka_unit_test(test_the_log_is_beside_the_store_that_a_link_leads_to),
        cmocka_unit_test(test_a_store_in_a_folder_that_may_not_be_written),
        cmocka_unit_test(test_a_log_beside_a_store_in_a_folder_that_may_not_be_written),
        cmocka_unit_test(test_a_store_that_its_owner_changes_while_it_is_read_without_locks),
    };
    return cmocka_run_group_tests(tests, set_up, case_remove_folder);
}
