/* interrupt.c - see interrupt.h. A signal handler can only reach globals: these are the only
 * ones of the command. They are lock-free, and the handler calls nothing but poll, unlink,
 * alarm and _exit, so it may come at any moment in any thread. */
#include "cli/interrupt.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"

enum { GRACE_SECONDS = 1 };

static atomic_bool is_held, is_asked;
static atomic_int asked_by; /* the signal */
static atomic_uint grace_seconds = GRACE_SECONDS;
static const char *_Atomic held_paths[ACQ_MOST_HELD];

static void take_away(void)
{
    acq_new_file_stop_all(); /* or a thread could name a file behind us */
    for (size_t i = 0; i < ACQ_MOST_HELD; i++) {
        const char *path = held_paths[i];
        if (path != NULL)
            (void)unlink(path);
    }
}

void acq_interrupt_end(int code)
{
    take_away();
    _exit(code);
}

static void leave(int number)
{
    (void)number;
    acq_interrupt_end(ACQ_EXIT_INTERRUPTED);
}

static void handle(int number)
{
    if (!is_held || is_asked)
        leave(number);
    asked_by = number;
    is_asked = true;
    (void)alarm(grace_seconds);
}

/* nohup wants the loss of the terminal ignored. */
static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void acq_interrupt_init(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!is_ignored(SIGHUP))
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = leave;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = SIG_IGN; /* too large a file is an error to report, not a death */
    sigaction(SIGXFSZ, &action, NULL);
}

/* 0.2 s, or 3 % of the time: what is printed last needs some, and so does the end of a process. */
static double get_patience(double seconds)
{
    return seconds * .03 > .2 ? seconds * .03 : .2;
}

static void end_late(int number)
{
    static const char message[] = "anycq: the time ran out; give more with --time\n";
    (void)number;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    take_away();
    _exit(ACQ_EXIT_UNDECIDED);
}

/* The command is ended some time after so many seconds, as by a second interrupt, with the exit
 * code of an undecided question: what should have ended by itself has not. */
static void end_after(double seconds)
{
    struct sigaction action = {.sa_handler = end_late, .sa_flags = SA_RESTART};
    double late = seconds + get_patience(seconds);
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)late, .tv_nsec = (long)((late - floor(late)) * 1e9)}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    timer_t timer;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    if (seconds > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        (void)timer_settime(timer, 0, &when, NULL);
}

void acq_interrupt_hold(const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n && i < ACQ_MOST_HELD; i++)
        held_paths[i] = paths[i];
    grace_seconds = GRACE_SECONDS;
    is_asked = false;
    is_held = true;
}

void acq_interrupt_set_grace(unsigned seconds)
{
    grace_seconds = seconds;
}

void acq_interrupt_release(void)
{
    (void)alarm(0);
    is_held = false;
    for (size_t i = 0; i < ACQ_MOST_HELD; i++)
        held_paths[i] = NULL;
}

bool acq_interrupt_is_asked(void)
{
    return is_asked;
}

int acq_interrupt_get_number(void)
{
    return is_asked ? asked_by : 0;
}

/* ---- limits ---- */

/* What is in memory besides private data: code, and files that are mapped. Below LEAST_MB, which
 * the command needs to say anything, only searches keep the limit. */
enum { OTHER_MB = 8, LEAST_MB = 24, LEAST_SEARCH_MB = 1 };

uint64_t acq_limits_get_memory(const acq_options *options)
{
    if (acq_options_has(options, memory))
        return options->memory;
    return acq_options_has(options, import_memory) ? options->import_memory : options->whole_memory;
}

/* In pages; 0: the system does not say. */
static uint64_t count_data_pages(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %*s %*s %*s %*s %llu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages;
}

size_t acq_limits_get_memory_left(const acq_options *options)
{
    uint64_t all = acq_limits_get_memory(options) << 20, least = LEAST_SEARCH_MB << 20;
    uint64_t used = count_data_pages() * (uint64_t)sysconf(_SC_PAGESIZE) + (OTHER_MB << 20);
    if (all == 0)
        return SIZE_MAX;
    return all > used + least ? all - used : least;
}

/* A sanitizer's shadow memory counts too, and is larger than any limit. */
static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

static void limit_memory(uint64_t mb)
{
    struct rlimit limit;
    if (mb == 0 || is_sanitized() || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    rlim_t bytes = (rlim_t)(mb > LEAST_MB + OTHER_MB ? mb - OTHER_MB : LEAST_MB) << 20;
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    (void)setrlimit(RLIMIT_DATA, &limit);
}

void acq_limits_set(const acq_options *options)
{
    double seconds = acq_options_get_seconds_left(options);
    limit_memory(acq_limits_get_memory(options));
    if (!isinf(seconds))
        end_after(seconds);
}
