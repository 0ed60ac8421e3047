/* base_file.c - a file appears whole or not at all, whatever happens on the way. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"

static char folder[] = "anycq-new-file-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static void assert_content(const char *path, const char *wanted)
{
    char content[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(content, 1, sizeof content - 1, file), strlen(wanted));
    fclose(file);
    assert_string_equal(content, wanted);
}

static size_t count_files(void)
{
    size_t n = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(here);
    return n;
}

static acq_status write_file(const char *path, const char *content, acq_error *error)
{
    return acq_new_file_write(path, "the text", content, strlen(content), error);
}

static void test_content_appears_at_the_end(void **state)
{
    (void)state;
    acq_new_file file;
    assert_int_equal(write_file("x", "old", NULL), ACQ_OK);
    assert_int_equal(acq_new_file_init(&file, "x", "the text", NULL), ACQ_OK);
    assert_int_equal(acq_new_file_put(&file, "ew", 2, 1, NULL), ACQ_OK);
    assert_int_equal(acq_new_file_put(&file, "n", 1, 0, NULL), ACQ_OK);
    assert_content("x", "old");
    assert_int_equal(acq_new_file_finish(&file, NULL), ACQ_OK);
    acq_new_file_deinit(&file);
    assert_content("x", "new");
    assert_int_equal(count_files(), 1);
    unlink("x");
}

static void test_unfinished_file_goes_away(void **state)
{
    (void)state;
    acq_new_file file, zeroed = {0};
    assert_int_equal(acq_new_file_init(&file, "x", "the text", NULL), ACQ_OK);
    assert_int_equal(acq_new_file_put(&file, "half", 4, 0, NULL), ACQ_OK);
    acq_new_file_deinit(&file);
    acq_new_file_deinit(&zeroed);
    assert_int_equal(count_files(), 0);
}

static void test_link_stays_a_link(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(write_file("x", "old", NULL), ACQ_OK);
    assert_int_equal(symlink("x", "link"), 0);
    assert_int_equal(write_file("link", "new", NULL), ACQ_OK);
    assert_content("x", "new");
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink("link");
    unlink("x");
}

static void test_link_that_leads_nowhere_is_refused(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(write_file("link", "x", &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "this is a symbolic link to nothing; name another file");
    assert_string_equal(error.file, "link");
    unlink("link");
    assert_int_equal(count_files(), 0);
}

static mode_t get_mode(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void test_rights_stay(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0444, 0666};
    mode_t before = umask(027);
    assert_int_equal(write_file("x", "old", NULL), ACQ_OK);
    assert_int_equal(get_mode("x"), 0640);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct stat info;
        assert_int_equal(chmod("x", modes[i]), 0);
        int owns_all = chown("x", 12345, 54321);
        assert_int_equal(write_file("x", "new", NULL), ACQ_OK);
        assert_int_equal(get_mode("x"), modes[i]);
        assert_int_equal(stat("x", &info), 0);
        assert_true(owns_all != 0 || (info.st_uid == 12345 && info.st_gid == 54321));
    }
    umask(before);
    unlink("x");
}

/* A process that is killed while it writes: the folder is as it was. */
static void test_killed_writer_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(write_file("x", "old", NULL), ACQ_OK);
    pid_t child = fork();
    if (child == 0) {
        acq_new_file file;
        bool is_named = acq_new_file_init(&file, "x", "the text", NULL) != ACQ_OK ||
                        acq_new_file_put(&file, "new", 3, 0, NULL) != ACQ_OK || file.is_named;
        if (is_named) /* a file system that has no files without a name */
            _exit(1);
        raise(SIGKILL);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        skip();
    assert_content("x", "old");
    assert_int_equal(count_files(), 1);
    unlink("x");
}

/* Another process of this number may have left its file behind. */
static void test_taken_names_are_passed_over(void **state)
{
    (void)state;
    char *taken = acq_new_file_copy_temporary("x");
    assert_int_equal(write_file(taken, "other", NULL), ACQ_OK);
    assert_int_equal(write_file("x", "new", NULL), ACQ_OK);
    assert_content(taken, "other");
    assert_content("x", "new");
    unlink(taken);
    unlink("x");
    acq_free(taken);
    assert_int_equal(count_files(), 0);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    acq_error error = {0}, other = {0};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(write_file("pipe", "x", &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "this is not a regular file; name a file to be written");
    assert_int_equal(write_file("nowhere/x", "x", &other), ACQ_ERR_IO);
    assert_string_equal(other.message, "cannot create the text: No such file or directory");
    assert_string_equal(other.file, "nowhere/x");
    acq_error dangling = {0};
    assert_int_equal(symlink("nothing", "link"), 0);
    assert_int_equal(write_file("link", "x", &dangling), ACQ_ERR_USAGE);
    assert_string_equal(dangling.message, "this is a symbolic link to nothing; name another file");
    unlink("link");
    unlink("pipe");
    assert_int_equal(count_files(), 0);
}

#ifdef ACQ_FAULTS
static void test_failed_allocations_leave_the_old_content(void **state)
{
    (void)state;
    assert_int_equal(write_file("x", "old", NULL), ACQ_OK);
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < 20; n++) {
        assert_content("x", "old");
        acq_faults_fail_at(n);
        status = write_file("x", "new", NULL);
        acq_faults_fail_at(0);
        assert_int_equal(count_files(), 1);
    }
    assert_true(n > 2);
    assert_content("x", "new");
    unlink("x");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_appears_at_the_end),
        cmocka_unit_test(test_unfinished_file_goes_away),
        cmocka_unit_test(test_link_stays_a_link),
        cmocka_unit_test(test_link_that_leads_nowhere_is_refused),
        cmocka_unit_test(test_rights_stay),
        cmocka_unit_test(test_killed_writer_leaves_nothing),
        cmocka_unit_test(test_taken_names_are_passed_over),
        cmocka_unit_test(test_what_is_no_file_is_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocations_leave_the_old_content),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
