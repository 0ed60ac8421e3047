/* command.h - the command as a process, with what it says kept in memory. */
#ifndef TEST_DURABILITY_COMMAND_H
#define TEST_DURABILITY_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

typedef struct command {
    pid_t pid;
    int out, err; /* files in memory */
    int code;     /* of its exit, or minus the signal that ended it */
    char *said;   /* standard output and error, NUL-terminated; freed by command_deinit */
    char *complained;
} command;

/* arguments end in NULL, the first is the program's path. */
void command_start(command *c, const char *const *arguments);

/* Waits for its end and sets what was said. */
void command_wait(command *c);
void command_deinit(command *c);

#endif
