/* child.c - one command timed: wall clock, processor time and peak memory, as a line of JSON.
 *
 *   bench_child NAME COMMAND ARGUMENT...
 *
 * What the command prints goes to standard error. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"

static double to_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int state;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_child NAME COMMAND ARGUMENT...\n");
        return 2;
    }
    int64_t begin = acq_clock_ns();
    pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) < 0) {
        perror(argv[2]);
        return 1;
    }
    double seconds = (double)(acq_clock_ns() - begin) * 1e-9;
    printf("{\"kind\": \"command\", \"name\": \"%s\", \"seconds\": %.2f, \"cpu_seconds\": %.2f, "
           "\"peak_mb\": %.0f, \"exit\": %d}\n",
           argv[1], seconds, to_seconds(usage.ru_utime) + to_seconds(usage.ru_stime),
           (double)usage.ru_maxrss / 1e3, WIFEXITED(state) ? WEXITSTATUS(state) : -1);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
