/* command.c - see command.h. */
#include "durability/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_memory(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0)
        abort();
    return file;
}

static char *take_text(int file)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        abort();
    char *text = malloc((size_t)info.st_size + 1);
    if (text == NULL || pread(file, text, (size_t)info.st_size, 0) != info.st_size)
        abort();
    text[info.st_size] = '\0';
    close(file);
    return text;
}

void command_start(command *c, const char *const *arguments)
{
    *c = (command){.out = open_memory("out"), .err = open_memory("err")};
    fflush(NULL);
    c->pid = fork();
    if (c->pid < 0)
        abort();
    if (c->pid == 0) {
        if (dup2(c->out, STDOUT_FILENO) >= 0 && dup2(c->err, STDERR_FILENO) >= 0)
            execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
}

void command_wait(command *c)
{
    int status;
    if (waitpid(c->pid, &status, 0) != c->pid)
        abort();
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    c->said = take_text(c->out);
    c->complained = take_text(c->err);
}

void command_deinit(command *c)
{
    free(c->said);
    free(c->complained);
}
