/* cli_interrupt.c - a second interrupt while another thread puts a file in place, at the one moment
 * that matters: the handler has looked for the half-written file, and then the file gets its name.
 *
 * linkat and unlink are this program's own, which call the system's. A writer that is about to name
 * its file interrupts the first thread and lets the handler look for the file; the handler, where it
 * gets so far, lets the file have its name before it ends the process. What is left in the folder is
 * judged by the parent. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

enum { WAIT_MS = 200 };

static char folder[] = "/tmp/anycq-interrupt-XXXXXX";
static char output[64];
static pthread_t first_thread;
static atomic_bool is_injecting, was_looked_for, has_name;

static void wait_for(const atomic_bool *flag)
{
    for (int ms = 0; !*flag && ms < WAIT_MS; ms++)
        usleep(1000);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (is_injecting) {
        pthread_kill(first_thread, SIGINT);
        wait_for(&was_looked_for);
    }
    int result = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    has_name = is_injecting;
    if (is_injecting && was_looked_for) /* the end of the process comes first */
        usleep(1000 * WAIT_MS);
    return result;
}

int unlink(const char *path)
{
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    was_looked_for = true;
    if (is_injecting)
        wait_for(&has_name);
    return result;
}

static void *write_file(void *unused)
{
    (void)acq_new_file_write(output, "the checkpoint", "new", 3, NULL);
    return unused;
}

/* Interrupted once already; the second interrupt comes from linkat. */
static void be_interrupted(void)
{
    char *half = acq_new_file_copy_temporary(output);
    pthread_t writer;
    acq_interrupt_init();
    acq_interrupt_hold((const char *const *)&half, half != NULL);
    raise(SIGINT);
    first_thread = pthread_self();
    is_injecting = true;
    if (half == NULL || pthread_create(&writer, NULL, write_file, NULL) != 0)
        _exit(1);
    pthread_join(writer, NULL);
    sleep(5);
    _exit(1);
}

static void test_no_file_is_named_behind_the_handler(void **state)
{
    int code;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/checkpoint", folder);
    assert_int_equal(acq_new_file_write(output, "the checkpoint", "old", 3, NULL), ACQ_OK);
    pid_t child = fork();
    if (child == 0)
        be_interrupted();
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), ACQ_EXIT_INTERRUPTED);

    char *content = NULL;
    size_t length = 0;
    assert_int_equal(acq_file_read(output, &content, &length, NULL), ACQ_OK);
    assert_int_equal(length, 3); /* the old one or the new one, whole */
    acq_free(content);
    unlink(output);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_file_is_named_behind_the_handler)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
