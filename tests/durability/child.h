/* child.h - work done in a process of its own, which may be killed and says how far it came. */
#ifndef TEST_DURABILITY_CHILD_H
#define TEST_DURABILITY_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/types.h"

typedef struct test_child {
    pid_t pid;
    int reports; /* read end of a pipe */
} test_child;

/* Runs work(context, reports) in a fork, which then ends as if nothing had happened. */
typedef void (*child_fn)(void *context, int reports);
test_child child_start(child_fn work, void *context);

/* In the child: one more piece of work is acknowledged. */
void child_acknowledge(int reports);

/* In the child: something is wrong that no mishap explains. */
_Noreturn void child_give_up(const char *what, const acq_error *error);

typedef enum child_end { CHILD_FINISHED, CHILD_KILLED, CHILD_WRONG } child_end;

/* Waits; *acknowledged: how often child_acknowledge was called. */
child_end child_wait(const test_child *child, size_t *acknowledged);

#endif
