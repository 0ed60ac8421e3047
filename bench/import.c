/* import.c - how fast triples become a store, and what it takes.
 *
 *   bench_import FACTS STORE [THREADS]
 *
 * Prints one JSON line. The import runs in a process of its own, so that its memory peak is its
 * own; STORE must not be there yet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

#include "store/import/import.h"

_Noreturn static void run_import(const char *facts, const char *store, unsigned threads, int out)
{
    acq_import_params params = {.read = {.strict = true, .threads = threads}};
    acq_import_report report;
    acq_error error = {0};
    bench_need(acq_import(&facts, 1, store, &params, &report, &error), &error);
    _exit(write(out, &report, sizeof report) == (ssize_t)sizeof report ? 0 : 1);
}

int main(int argc, char **argv)
{
    int ends[2], state;
    struct rusage usage;
    acq_import_report report;
    if (argc != 3 && argc != 4)
        bench_die("bench_import FACTS STORE [THREADS]");
    unsigned threads = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (pipe(ends) != 0)
        bench_die("no pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0)
        bench_die("no process: %s", strerror(errno));
    if (child == 0)
        run_import(argv[1], argv[2], threads, ends[1]);
    close(ends[1]);
    bool is_read = read(ends[0], &report, sizeof report) == (ssize_t)sizeof report;
    if (wait4(child, &state, 0, &usage) != child || state != 0 || !is_read)
        bench_die("the import failed");
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    bench_print_line(json_pack(
        "{s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "kind", "import", "entities",
        (json_int_t)report.n_entities, "relations", (json_int_t)report.n_relations, "facts",
        (json_int_t)report.n_facts, "seconds", report.seconds, "cpu_seconds", cpu, "peak_mb",
        (double)usage.ru_maxrss / 1e3, "file_mb", (double)report.file_bytes / 1e6));
    return 0;
}
