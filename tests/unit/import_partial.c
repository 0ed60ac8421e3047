/* import_partial.c - OUTPUT.partial: who may write, what is in the way, what is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/import/import.h"

static char folder[] = "/tmp/anycq-partial-XXXXXX";

static void write_file(const char *name, const char *bytes, size_t n)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static bool exists(const char *name)
{
    struct stat info;
    return lstat(name, &info) == 0;
}

static void check_content(const char *name, const char *want)
{
    char bytes[64] = "";
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, want);
}

/* As an import does: a file that is written and gets its name. */
static void put(const char *output, const char *bytes)
{
    acq_partial partial;
    acq_error error = {0};
    if (acq_partial_init(&partial, output, &error) != ACQ_OK)
        fail_msg("%s: %s", error.file, error.message);
    write_file(partial.path, bytes, strlen(bytes));
    assert_int_equal(acq_partial_finish(&partial, NULL), ACQ_OK);
    assert_false(exists(partial.path));
    acq_partial_deinit(&partial);
    check_content(output, bytes);
}

static void check_refused(const char *output, acq_status code, const char *message)
{
    acq_partial partial;
    acq_error error = {0};
    assert_int_equal(acq_partial_init(&partial, output, &error), code);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s is not in: %s", message, error.message);
    acq_partial_deinit(&partial);
}

static void test_a_new_output_gets_its_name_when_it_is_finished(void **state)
{
    (void)state;
    put("new", "content");
    assert_int_equal(unlink("new"), 0);
    mkdir("sub", 0777);
    put("sub/new", "content");
    assert_int_equal(unlink("sub/new"), 0);
    assert_int_equal(rmdir("sub"), 0);
}

static void test_an_unfinished_output_leaves_nothing(void **state)
{
    (void)state;
    acq_partial partial;
    assert_int_equal(acq_partial_init(&partial, "gone", NULL), ACQ_OK);
    write_file("gone.partial", "half", 4);
    write_file("gone.partial-wal", "\x37\x7f\x06\x82half", 8);
    acq_partial_deinit(&partial);
    assert_false(exists("gone.partial"));
    assert_false(exists("gone.partial-wal"));
    assert_false(exists("gone"));
    acq_partial zeroed = {0};
    acq_partial_deinit(&zeroed);
    assert_true(fcntl(0, F_GETFD) != -1);
}

static void test_two_imports_refuse_each_other(void **state)
{
    (void)state;
    acq_partial first;
    assert_int_equal(acq_partial_init(&first, "both", NULL), ACQ_OK);
    check_refused("both", ACQ_ERR_IO, "another import is writing");
    assert_true(exists("both.partial"));
    acq_partial_deinit(&first);
    put("both", "content");
    assert_int_equal(unlink("both"), 0);
}

/* The head of a database with the mark of a store. */
static void make_head(char head[72])
{
    memset(head, 0, 72);
    memcpy(head, "SQLite format 3", 15);
    memcpy(head + 68, "acqg", 4);
}

static void test_what_a_killed_import_left_is_taken_over(void **state)
{
    (void)state;
    char head[72];
    make_head(head);
    write_file("taken.partial", head, sizeof head);
    write_file("taken.partial-wal", "\x37\x7f\x06\x83half", 8);
    put("taken", "content");
    assert_false(exists("taken.partial-wal"));
    /* Killed between the two steps of a rename, where that takes two: the output stays whole. */
    write_file("taken", head, sizeof head);
    assert_int_equal(link("taken", "taken.partial"), 0);
    acq_partial partial;
    assert_int_equal(acq_partial_init(&partial, "taken", NULL), ACQ_OK);
    assert_true(partial.has_output);
    acq_partial_deinit(&partial);
    check_content("taken", "SQLite format 3");
    assert_int_equal(unlink("taken"), 0);
}

/* Its owner and mode would become the output's. */
static void test_an_empty_file_is_not_adopted(void **state)
{
    (void)state;
    struct stat info;
    write_file("made.partial", "", 0);
    assert_int_equal(chmod("made.partial", 0777), 0);
    put("made", "content");
    assert_int_equal(stat("made", &info), 0);
    assert_int_equal(info.st_mode & 0111, 0);
    assert_int_equal(unlink("made"), 0);
}

static void test_files_of_others_are_left_alone(void **state)
{
    (void)state;
    write_file("other.partial", "mine", 4);
    check_refused("other", ACQ_ERR_USAGE, "in the way");
    check_content("other.partial", "mine");
    unlink("other.partial");
    assert_int_equal(mkdir("other.partial", 0777), 0);
    check_refused("other", ACQ_ERR_IO, "directory");
    rmdir("other.partial");
    assert_int_equal(symlink("elsewhere", "other.partial"), 0);
    check_refused("other", ACQ_ERR_IO, "symbolic links");
    assert_false(exists("elsewhere"));
    unlink("other.partial");
    assert_int_equal(mkfifo("other.partial", 0666), 0);
    check_refused("other", ACQ_ERR_USAGE, "in the way");
    unlink("other.partial");
}

static void test_what_cannot_be_a_graph_is_refused(void **state)
{
    (void)state;
    mkdir("a", 0777);
    check_refused("a", ACQ_ERR_USAGE, "folder");
    check_refused("a/", ACQ_ERR_USAGE, "folder");
    check_refused("a/b/", ACQ_ERR_USAGE, "folder");
    check_refused("", ACQ_ERR_USAGE, "folder");
    check_refused("b/c", ACQ_ERR_IO, "No such file");
    check_refused("/dev/null", ACQ_ERR_USAGE, "not a regular file");
    check_refused("-", ACQ_ERR_USAGE, "not a regular file");
    assert_int_equal(symlink("nothing", "c"), 0);
    check_refused("c", ACQ_ERR_USAGE, "symbolic link to nothing");
    unlink("c");
    rmdir("a");
}

static void test_a_symbolic_link_is_followed(void **state)
{
    (void)state;
    acq_partial partial;
    mkdir("real", 0777);
    write_file("real/graph", "old", 3);
    assert_int_equal(symlink("real/graph", "short"), 0);
    assert_int_equal(acq_partial_init(&partial, "short", NULL), ACQ_OK);
    assert_true(partial.has_output);
    assert_non_null(strstr(partial.output, "/real/graph"));
    assert_true(exists("real/graph.partial"));
    acq_partial_deinit(&partial);
    check_content("short", "old");
    unlink("short");
    unlink("real/graph");
    assert_int_equal(rmdir("real"), 0);
}

static void test_a_file_that_appeared_meanwhile_is_kept(void **state)
{
    (void)state;
    acq_partial partial;
    acq_error error = {0};
    assert_int_equal(acq_partial_init(&partial, "late", NULL), ACQ_OK);
    write_file("late", "theirs", 6);
    write_file("late-wal", "theirs", 6);
    assert_int_equal(acq_partial_finish(&partial, &error), ACQ_ERR_IO);
    assert_non_null(strstr(error.message, "appeared"));
    acq_partial_deinit(&partial);
    check_content("late", "theirs");
    check_content("late-wal", "theirs");
    assert_false(exists("late.partial"));
    unlink("late");
    unlink("late-wal");
}

static void test_the_log_of_a_deleted_store_is_not_taken_over(void **state)
{
    (void)state;
    char *index = calloc(2, 32768);
    assert_non_null(index);
    memcpy(index, &(uint32_t){3007000}, sizeof(uint32_t));
    write_file("again-wal", "\x37\x7f\x06\x82 and more", 12);
    write_file("again-shm", index, (size_t)2 * 32768);
    write_file("again-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more", 16);
    free(index);
    put("again", "content");
    assert_false(exists("again-wal"));
    assert_false(exists("again-shm"));
    assert_false(exists("again-journal"));
    unlink("again");
}

static void check_in_the_way(const char *name, const char *bytes)
{
    acq_partial partial;
    acq_error error = {0};
    write_file(name, bytes, strlen(bytes));
    assert_int_equal(acq_partial_init(&partial, "mine", &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "not SQLite's"));
    assert_non_null(strstr(error.file, name));
    acq_partial_deinit(&partial);
    check_content(name, bytes);
    assert_int_equal(unlink(name), 0);
    assert_false(exists("mine.partial"));
}

static void test_files_of_others_beside_the_output_are_left_alone(void **state)
{
    (void)state;
    acq_partial partial;
    acq_error error = {0};
    check_in_the_way("mine-wal", "a wall of text");
    check_in_the_way("mine-wal", "wal");
    check_in_the_way("mine-shm", "a shm of somebody");
    check_in_the_way("mine-journal", "Dear journal");
    check_in_the_way("mine.partial-journal", "Dear journal");
    write_file("mine-wal", "", 0);
    put("mine", "content");
    assert_false(exists("mine-wal"));
    unlink("mine");
    assert_int_equal(mkdir("mine-wal", 0777), 0);
    check_refused("mine", ACQ_ERR_USAGE, "not SQLite's");
    rmdir("mine-wal");
    assert_int_equal(acq_partial_init(&partial, "mine", NULL), ACQ_OK);
    write_file("mine-journal", "Dear journal", 12);
    assert_int_equal(acq_partial_finish(&partial, &error), ACQ_ERR_USAGE);
    acq_partial_deinit(&partial);
    check_content("mine-journal", "Dear journal");
    unlink("mine-journal");
}

#ifdef ACQ_FAULTS
static void test_failed_allocations_leave_nothing(void **state)
{
    (void)state;
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK; n++) {
        acq_partial partial;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_partial_init(&partial, "fault", &error);
        if (status == ACQ_OK)
            status = acq_partial_finish(&partial, &error);
        acq_faults_fail_at(0);
        acq_partial_deinit(&partial);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(exists("fault"), status == ACQ_OK);
        assert_false(exists("fault.partial"));
    }
    unlink("fault");
}
#endif

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

/* Fails when something was left behind. */
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_output_gets_its_name_when_it_is_finished),
        cmocka_unit_test(test_an_unfinished_output_leaves_nothing),
        cmocka_unit_test(test_two_imports_refuse_each_other),
        cmocka_unit_test(test_what_a_killed_import_left_is_taken_over),
        cmocka_unit_test(test_an_empty_file_is_not_adopted),
        cmocka_unit_test(test_files_of_others_are_left_alone),
        cmocka_unit_test(test_what_cannot_be_a_graph_is_refused),
        cmocka_unit_test(test_a_symbolic_link_is_followed),
        cmocka_unit_test(test_a_file_that_appeared_meanwhile_is_kept),
        cmocka_unit_test(test_the_log_of_a_deleted_store_is_not_taken_over),
        cmocka_unit_test(test_files_of_others_beside_the_output_are_left_alone),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocations_leave_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
