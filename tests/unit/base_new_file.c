/* base_new_file.c - a file appears whole or not at all, whatever happens on the way. */
#include <dirent.h>
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

#include "base/memory.h"
#include "base/new_file.h"

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
        cmocka_unit_test(test_what_is_no_file_is_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocations_leave_the_old_content),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
