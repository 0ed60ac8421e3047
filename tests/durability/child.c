/* child.c - see child.h. */
#include "durability/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_WRONG = 99 };

test_child child_start(child_fn work, void *context)
{
    int ends[2];
    fflush(NULL); /* or the child would print again what waits in our buffers */
    if (pipe(ends) != 0)
        abort();
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        close(ends[0]);
        work(context, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    return (test_child){.pid = pid, .reports = ends[0]};
}

void child_acknowledge(int reports)
{
    if (write(reports, "", 1) != 1)
        abort();
}

_Noreturn void child_give_up(const char *what, const acq_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error != NULL ? error->message : "");
    _exit(EXIT_WRONG);
}

child_end child_wait(const test_child *child, size_t *acknowledged)
{
    char buffer[256];
    ssize_t n;
    int status;
    *acknowledged = 0;
    while ((n = read(child->reports, buffer, sizeof buffer)) > 0)
        *acknowledged += (size_t)n;
    close(child->reports);
    if (waitpid(child->pid, &status, 0) != child->pid)
        abort();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return CHILD_KILLED;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CHILD_FINISHED : CHILD_WRONG;
}
